// Looks for one word in whatever form bytes may keep it, in folders, files and texts, while they change and afterwards.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The letters that a base64 text holds of a word, wherever in its three-byte steps the word begins. */
function base64Forms(bytes: Buffer): Buffer[] {
  return [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes, Buffer.alloc(3)]).toString('base64');
    const first = Math.ceil((shift * 8) / 6) + (shift === 0 ? 0 : 1);
    const whole = Math.floor(((shift + bytes.length) * 8) / 6);
    return Buffer.from(text.slice(first, whole));
  });
}

/** One word and the forms in which it is looked for: UTF-8, UTF-16 in both orders, hexadecimal, and base64 of the first two. */
export class Canary {
  readonly word: string;
  readonly #forms: readonly (readonly [name: string, bytes: Buffer])[];

  constructor(word: string) {
    this.word = word;
    this.#forms = [word, word.toUpperCase(), `${word.charAt(0).toUpperCase()}${word.slice(1)}`].flatMap((text) => {
      const utf8 = Buffer.from(text);
      const little = Buffer.from(text, 'utf16le');
      return [
        ['UTF-8', utf8],
        ['UTF-16LE', little],
        ['UTF-16BE', Buffer.from(little).swap16()],
        ['hexadecimal', Buffer.from(utf8.toString('hex'))],
        ...base64Forms(utf8).map((form) => ['base64', form] as const),
        ...base64Forms(little).map((form) => ['base64 of UTF-16', form] as const),
      ] as const;
    });
  }

  /** The form in which the bytes hold the word, or undefined. */
  in(bytes: Uint8Array | string): string | undefined {
    const all = Buffer.from(bytes);
    return this.#forms.find(([, form]) => all.includes(form))?.[0];
  }

  /** `path: form` for each file below the folders whose name or bytes hold the word. */
  async inFolders(folders: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const folder of folders) {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const path = join(entry.parentPath, entry.name);
        if (this.in(entry.name)) found.push(`${path}: name`);
        if (!entry.isFile()) continue;
        // What goes while it is looked at was there for a moment only; the next look may meet its like.
        const form = this.in(await readFile(path).catch(() => Buffer.alloc(0)));
        if (form) found.push(`${path}: ${form}`);
      }
    }
    return found;
  }

  /** Looks into the folders again and again until `work` is done, and once more. @returns all that was ever seen */
  async inFoldersDuring(folders: readonly string[], work: Promise<unknown>): Promise<Set<string>> {
    const seen = new Set<string>();
    let done = false;
    const end = (): void => {
      done = true;
    };
    work.then(end, end);
    do {
      for (const one of await this.inFolders(folders)) seen.add(one);
      await sleep(10);
    } while (!done);
    for (const one of await this.inFolders(folders)) seen.add(one);
    return seen;
  }
}
