// Reads compound files (MS-CFB), the containers of binary Office documents and Outlook messages, with bounds on their chains.
import { ParseError } from '../contract/errors.ts';

const END_OF_CHAIN = 0xfffffffe;
const MAX_REGULAR_SECTOR = 0xfffffffa;
const HEADER_BYTES = 512;
const DIRECTORY_ENTRY_BYTES = 128;
/** Smaller streams are in the mini stream (MS-CFB, 2.2). */
const MINI_STREAM_CUTOFF = 4096;
const MINI_SECTOR_BYTES = 64;

interface StreamEntry {
  start: number;
  /** In bytes. */
  size: number;
}

/** A folder of a compound file. */
export interface Storage {
  streams: Map<string, StreamEntry>;
  storages: Map<string, Storage>;
}

/** Levels of storages that are read. */
const STORAGE_DEPTH = 64;

interface DirectoryEntry extends StreamEntry {
  name: string;
  /** 1: storage, 2: stream, 5: root. */
  type: number;
  left: number;
  right: number;
  child: number;
}

/** A compound file in memory. `has` and `read` ignore which storage a stream is in; they use the first stream of a name. */
export class CompoundFile {
  readonly #bytes: Buffer;
  readonly #sectorBytes: number;
  readonly #fat: number[] = [];
  readonly #miniFat: number[];
  readonly #mini: Buffer;
  readonly #streams = new Map<string, StreamEntry>();
  readonly #storages = new Set<string>();
  readonly #entries: DirectoryEntry[] = [];

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
      this.#entries.push({
        ...entry,
        name,
        type: type ?? 0,
        left: directory.readUInt32LE(at + 68),
        right: directory.readUInt32LE(at + 72),
        child: directory.readUInt32LE(at + 76),
      });
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
    return entry ? this.readStream(entry, limit) : Buffer.alloc(0);
  }

  /** The first bytes of a stream, at most `limit`; fewer if its chain is broken. */
  readStream(entry: StreamEntry, limit: number): Buffer {
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

  /** The tree of the storages. Each directory entry is read once, so a loop in a damaged file ends. */
  tree(): Storage {
    const seen = new Set<number>();
    const root: Storage = { streams: new Map(), storages: new Map() };
    const start = this.#entries.findIndex((entry) => entry.type === 5);
    const waiting = [{ index: this.#entries[start]?.child ?? -1, storage: root, depth: 0 }];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const entry = this.#entries[next.index];
      if (!entry || seen.has(next.index)) continue;
      seen.add(next.index);
      const { storage, depth } = next;
      waiting.push({ index: entry.left, storage, depth }, { index: entry.right, storage, depth });
      if (entry.type === 2) storage.streams.set(entry.name, { start: entry.start, size: entry.size });
      if (entry.type !== 1 || depth >= STORAGE_DEPTH) continue;
      const inner: Storage = { streams: new Map(), storages: new Map() };
      storage.storages.set(entry.name, inner);
      waiting.push({ index: entry.child, storage: inner, depth: depth + 1 });
    }
    return root;
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
  return new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: its compound file container cannot be read');
}
