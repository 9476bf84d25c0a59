// Reads binary Office containers (Compound File Binary, MS-CFB) only as far as needed to detect their format and encryption.
import { ParseError } from '#shared/contract/errors.ts';

const END_OF_CHAIN = 0xfffffffe;
const MAX_REGULAR_SECTOR = 0xfffffffa;
const HEADER_BYTES = 512;
const DIRECTORY_ENTRY_BYTES = 128;
/** Smaller streams are in the mini stream (MS-CFB, 2.2). */
const MINI_STREAM_CUTOFF = 4096;
const MINI_SECTOR_BYTES = 64;

interface StreamEntry {
  start: number;
  size: number;
}

/** The streams of a compound file by name. The reader ignores which storage a stream is in; the first stream of a name is used. */
class CompoundFile {
  readonly #bytes: Buffer;
  readonly #sectorBytes: number;
  readonly #fat: number[] = [];
  readonly #miniFat: number[];
  readonly #mini: Buffer;
  readonly #streams = new Map<string, StreamEntry>();
  readonly #storages = new Set<string>();

  /** @throws ParseError DOCUMENT_CORRUPT */
  constructor(input: Uint8Array) {
    this.#bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    if (this.#bytes.length < HEADER_BYTES) throw corrupt();
    const shift = this.#bytes.readUInt16LE(30);
    if (shift !== 9 && shift !== 12) throw corrupt();
    this.#sectorBytes = 1 << shift;
    this.#readFat();
    const directory = this.#chain(this.#bytes.readUInt32LE(48));
    let root: StreamEntry | undefined;
    for (let at = 0; at + DIRECTORY_ENTRY_BYTES <= directory.length; at += DIRECTORY_ENTRY_BYTES) {
      const type = directory[at + 66];
      const length = Math.max(0, Math.min(64, directory.readUInt16LE(at + 64)) - 2);
      const name = directory.toString('utf16le', at, at + length);
      const entry = { start: directory.readUInt32LE(at + 116), size: directory.readUInt32LE(at + 120) };
      if (type === 5) root ??= entry;
      if (type === 1) this.#storages.add(name);
      if (type === 2 && !this.#streams.has(name)) this.#streams.set(name, entry);
    }
    if (!root) throw corrupt();
    this.#mini = this.#chain(root.start);
    const miniFat = this.#chain(this.#bytes.readUInt32LE(60));
    this.#miniFat = Array.from({ length: miniFat.length >> 2 }, (_, i) => miniFat.readUInt32LE(i * 4));
  }

  has(name: string): boolean {
    return this.#streams.has(name) || this.#storages.has(name);
  }

  /** The first bytes of a stream, at most `limit`; empty if there is no such stream or its chain is broken. */
  read(name: string, limit: number): Buffer {
    const entry = this.#streams.get(name);
    if (!entry) return Buffer.alloc(0);
    const size = Math.min(entry.size, limit);
    if (entry.size >= MINI_STREAM_CUTOFF) return this.#chain(entry.start, size).subarray(0, size);
    const parts: Buffer[] = [];
    let length = 0;
    for (
      let sector = entry.start;
      sector < MAX_REGULAR_SECTOR && length < size;
      sector = this.#miniFat[sector] ?? END_OF_CHAIN
    ) {
      const part = this.#mini.subarray(sector * MINI_SECTOR_BYTES, (sector + 1) * MINI_SECTOR_BYTES);
      if (part.length === 0) break;
      parts.push(part);
      length += part.length;
    }
    return Buffer.concat(parts).subarray(0, size);
  }

  #readFat(): void {
    const sectors: number[] = [];
    for (let i = 0; i < 109; i++) sectors.push(this.#bytes.readUInt32LE(76 + i * 4));
    // Large files have a chain of further lists of FAT sectors (MS-CFB, 2.5). Each list is read only once, so a cycle does not loop forever.
    let next = this.#bytes.readUInt32LE(68);
    for (const seen = new Set<number>(); next < MAX_REGULAR_SECTOR && !seen.has(next); ) {
      seen.add(next);
      const list = this.#sector(next);
      if (list.length < this.#sectorBytes) break;
      for (let at = 0; at < this.#sectorBytes - 4; at += 4) sectors.push(list.readUInt32LE(at));
      next = list.readUInt32LE(this.#sectorBytes - 4);
    }
    for (const sector of new Set(sectors)) {
      if (sector >= MAX_REGULAR_SECTOR) continue;
      const fat = this.#sector(sector);
      for (let at = 0; at + 4 <= fat.length; at += 4) this.#fat.push(fat.readUInt32LE(at));
    }
  }

  #sector(index: number): Buffer {
    // The header fills the sector before sector 0.
    const start = (index + 1) * this.#sectorBytes;
    return this.#bytes.subarray(start, start + this.#sectorBytes);
  }

  /** The bytes of a chain of sectors, until `limit` is reached, and at most as many sectors as the file has. */
  #chain(start: number, limit = Number.POSITIVE_INFINITY): Buffer {
    const parts: Buffer[] = [];
    let left = Math.ceil(this.#bytes.length / this.#sectorBytes);
    let length = 0;
    for (let at = start; at < MAX_REGULAR_SECTOR && left > 0 && length < limit; at = this.#fat[at] ?? END_OF_CHAIN) {
      const part = this.#sector(at);
      if (part.length === 0) break;
      parts.push(part);
      length += part.length;
      left--;
    }
    return Buffer.concat(parts);
  }
}

function corrupt(): ParseError {
  return new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: its binary Office container cannot be read');
}

type BinaryKind = '.doc' | '.xls' | '.ppt' | 'encrypted';

/** Bit 8 of the flags at offset 10 is set in an encrypted Word document (MS-DOC, 2.5.2, FibBase). */
const FIB_FLAGS_OFFSET = 10;
const FIB_ENCRYPTED = 0x0100;
const RECORD_BOF = [0x0009, 0x0209, 0x0409, 0x0809];
const RECORD_FILEPASS = 0x002f;
const RECORD_EOF = 0x000a;
/** The FILEPASS record is searched only in this many bytes at the start of a workbook. */
const WORKBOOK_HEAD_BYTES = 16 * 1024;
const PPT_ENCRYPTED_TOKEN = 0xf3d1c4df;

/** Whether FILEPASS is among the first records of a workbook, as in an encrypted one (MS-XLS, 2.4.117). */
function workbookEncrypted(head: Buffer): boolean {
  if (!RECORD_BOF.includes(head.length >= 2 ? head.readUInt16LE(0) : 0)) return false;
  for (let at = 0; at + 4 <= head.length; ) {
    const type = head.readUInt16LE(at);
    if (type === RECORD_FILEPASS) return true;
    at += 4 + head.readUInt16LE(at + 2);
    // The global records end before the first sheet.
    if (type === RECORD_EOF) return false;
  }
  return false;
}

/**
 * The format of a binary container; undefined if it has no Word, Excel or PowerPoint document.
 * @throws ParseError DOCUMENT_CORRUPT if the container cannot be read
 */
export function binaryKind(bytes: Uint8Array): BinaryKind | undefined {
  const file = new CompoundFile(bytes);
  if (file.has('EncryptedPackage') || file.has('EncryptionInfo')) return 'encrypted';
  if (file.has('WordDocument')) {
    const fib = file.read('WordDocument', 32);
    const encrypted = fib.length > FIB_FLAGS_OFFSET + 1 && (fib.readUInt16LE(FIB_FLAGS_OFFSET) & FIB_ENCRYPTED) !== 0;
    return encrypted ? 'encrypted' : '.doc';
  }
  for (const name of ['Workbook', 'Book', 'WORKBOOK', 'BOOK'])
    if (file.has(name)) return workbookEncrypted(file.read(name, WORKBOOK_HEAD_BYTES)) ? 'encrypted' : '.xls';
  if (file.has('PowerPoint Document')) {
    const user = file.read('Current User', 32);
    const token = user.length >= 16 ? user.readUInt32LE(12) : 0;
    return token === PPT_ENCRYPTED_TOKEN || file.has('EncryptedSummary') ? 'encrypted' : '.ppt';
  }
  return undefined;
}
