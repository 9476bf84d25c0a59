// Reads the table of shared strings of an xlsx (ECMA-376-1, 18.4), which its cells refer to by index.
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { localName, readXmlStream } from '#shared/readers/xml.ts';
import type { OpcPackage } from '../opc.ts';
import { BytePages, NumberList } from './byte-pages.ts';

/** Lengths of 0 mark strings that show nothing. */
const HEADER_BYTES = 4;

/** The strings in UTF-8, because a workbook may have a million of them. */
export class SharedStrings {
  readonly #pages = new BytePages();
  readonly #addresses = new NumberList();
  #record = Buffer.allocUnsafe(1024);

  /** @throws ParseError DOCUMENT_TOO_COMPLEX for more strings than `DOCUMENT_LIMITS.sheetCells` */
  add(text: string): void {
    if (this.#addresses.length >= DOCUMENT_LIMITS.sheetCells)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The workbook has more than ${DOCUMENT_LIMITS.sheetCells} shared strings; split it into several files`,
      );
    const most = HEADER_BYTES + text.length * 3;
    if (most > this.#record.length) this.#record = Buffer.allocUnsafe(most * 2);
    const length = text.trim() === '' ? 0 : this.#record.write(text, HEADER_BYTES);
    this.#record.writeUInt32LE(length);
    this.#addresses.push(this.#pages.add(this.#record.subarray(0, HEADER_BYTES + length)));
  }

  /** The string at an index; '' if there is none, or if it shows nothing. */
  at(index: number): string {
    if (!(index >= 0 && index < this.#addresses.length)) return '';
    const bytes = this.#pages.from(this.#addresses.at(Math.floor(index)));
    return bytes.toString('utf8', HEADER_BYTES, HEADER_BYTES + bytes.readUInt32LE());
  }

  /** Bytes of the string at an index, which are at least as many as its characters. */
  size(index: number): number {
    if (!(index >= 0 && index < this.#addresses.length)) return 0;
    return this.#pages.from(this.#addresses.at(Math.floor(index))).readUInt32LE();
  }
}

/** The shared strings in order, without phonetic hints (`rPh`), which cells do not show. @throws ParseError DOCUMENT_TOO_COMPLEX */
export async function readSharedStrings(opc: OpcPackage, part: string | undefined): Promise<SharedStrings> {
  const strings = new SharedStrings();
  if (part === undefined || !opc.zip.has(part)) return strings;
  let text = '';
  let inText = false;
  let hidden = 0;
  await readXmlStream(opc.zip.textStream(part), {
    open(name) {
      const local = localName(name);
      if (local === 'si') text = '';
      else if (local === 't') inText = true;
      else if (local === 'rPh') hidden++;
    },
    text(chunk) {
      if (inText && hidden === 0) text += chunk;
    },
    close(name) {
      const local = localName(name);
      if (local === 'si') strings.add(decodeControls(text));
      else if (local === 't') inText = false;
      else if (local === 'rPh') hidden--;
    },
  });
  return strings;
}

/** Decodes `_x000A_`, which stands for a character that XML does not allow (ECMA-376-1, 22.4.2.4). */
export function decodeControls(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return character === '\r' ? '' : character;
  });
}
