// Searches folders, files and texts for a marker word in each encoding in which a program could store it.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** The characters that base64 text contains for these bytes, for each position of the bytes in a group of three. */
function base64Forms(bytes: Buffer): Buffer[] {
  return [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes, Buffer.alloc(3)]).toString('base64');
    const first = Math.ceil((shift * 8) / 6) + (shift === 0 ? 0 : 1);
    const end = Math.floor(((shift + bytes.length) * 8) / 6);
    return Buffer.from(text.slice(first, end));
  });
}

/** A word and its encodings: UTF-8, UTF-16 in both byte orders, hexadecimal, and base64 of UTF-8 and UTF-16LE. */
export class MarkerWord {
  readonly word: string;
  readonly #forms: readonly (readonly [name: string, bytes: Buffer])[];

  constructor(word: string) {
    this.word = word;
    this.#forms = [word, word.toUpperCase(), `${word.charAt(0).toUpperCase()}${word.slice(1)}`].flatMap((text) => {
      const utf8 = Buffer.from(text);
      const utf16 = Buffer.from(text, 'utf16le');
      return [
        ['UTF-8', utf8],
        ['UTF-16LE', utf16],
        ['UTF-16BE', Buffer.from(utf16).swap16()],
        ['hexadecimal', Buffer.from(utf8.toString('hex'))],
        ...base64Forms(utf8).map((form) => ['base64', form] as const),
        ...base64Forms(utf16).map((form) => ['base64 of UTF-16', form] as const),
      ] as const;
    });
  }

  /** The name of the encoding in which the bytes contain the word, or undefined. */
  findIn(bytes: Uint8Array | string): string | undefined {
    const buffer = Buffer.from(bytes);
    return this.#forms.find(([, form]) => buffer.includes(form))?.[0];
  }

  /** `path: encoding` for each file in the folders whose name or content contains the word. */
  async findInFolders(folders: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const folder of folders) {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const path = join(entry.parentPath, entry.name);
        if (this.findIn(entry.name)) found.push(`${path}: name`);
        if (!entry.isFile()) continue;
        // The file may have been removed since the folder was listed.
        const form = this.findIn(await readFile(path).catch(() => Buffer.alloc(0)));
        if (form) found.push(`${path}: ${form}`);
      }
    }
    return found;
  }

  /** Searches the folders repeatedly until `work` has ended, and once more. @returns everything that was found */
  async findInFoldersDuring(folders: readonly string[], work: Promise<unknown>): Promise<Set<string>> {
    const found = new Set<string>();
    let isDone = false;
    const end = (): void => {
      isDone = true;
    };
    work.then(end, end);
    do {
      for (const one of await this.findInFolders(folders)) found.add(one);
      await pause(10);
    } while (!isDone);
    for (const one of await this.findInFolders(folders)) found.add(one);
    return found;
  }
}
