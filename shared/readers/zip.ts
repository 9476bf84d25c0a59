// Opens ZIP containers (docx, xlsx, pptx, odf, epub), and protects their readers from decompression bombs, hostile names and encryption.
import { promisify } from 'node:util';
import { createInflateRaw, inflateRawSync } from 'node:zlib';
import yauzl from 'yauzl';
import { ParseError } from '../contract/errors.ts';
import { DOCUMENT_LIMITS } from '../contract/limits.ts';
import { decodeStream, decodeText } from './charset.ts';

const STORED = 0;
const DEFLATED = 8;
const LOCAL_HEADER_BYTES = 30;
const LOCAL_HEADER_SIGNATURE = 0x04034b50;
/** Bytes of an entry that are inflated at once where the entry is not kept. */
const CHUNK_BYTES = 256 * 1024;

interface StoredEntry {
  headerOffset: number;
  compressedSize: number;
  method: number;
  encrypted: boolean;
  /** Its inflated size is part of the total of the container. */
  counted: boolean;
}

const fromBuffer = promisify<Buffer, yauzl.Options, yauzl.ZipFile>(yauzl.fromBuffer);

function corrupt(what: string, cause?: unknown): ParseError {
  return new ParseError('DOCUMENT_CORRUPT', `The document is corrupt: ${what}`, { cause });
}

function tooComplex(what: string): ParseError {
  return new ParseError('DOCUMENT_TOO_COMPLEX', `The document is refused as a possible decompression bomb: ${what}`);
}

/** A ZIP file in memory. Entries are looked up by name. No name is used as a path. */
export class ZipContainer {
  readonly #bytes: Buffer;
  readonly #entries: Map<string, StoredEntry>;
  readonly #lowerCase = new Map<string, string>();
  #inflated = 0;

  /** Use `openZip`. */
  constructor(bytes: Buffer, entries: Map<string, StoredEntry>) {
    this.#bytes = bytes;
    this.#entries = entries;
    for (const name of entries.keys()) {
      const lower = name.toLowerCase();
      if (!this.#lowerCase.has(lower)) this.#lowerCase.set(lower, name);
    }
  }

  /** Names of all entries, in the order of the central directory, with `/` between folders. */
  names(): string[] {
    return [...this.#entries.keys()];
  }

  /** Ignores case (ECMA-376-2, 6.2.2.3), but prefers an exact match. */
  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /**
   * The inflated bytes of one entry.
   * @param most the largest number of bytes to inflate
   * @throws ParseError DOCUMENT_CORRUPT if it is missing or damaged, DOCUMENT_ENCRYPTED, DOCUMENT_TOO_COMPLEX above a limit
   */
  read(name: string, most: number = DOCUMENT_LIMITS.zipEntryBytes): Uint8Array {
    const { entry, stored, limit } = this.#open(name, most);
    const content = entry.method === STORED ? stored : inflate(stored, limit);
    if (content.length > limit) throw tooComplex('its parts inflate to more than the limit');
    if (!entry.counted) this.#inflated += content.length;
    entry.counted = true;
    return content;
  }

  /** The text of one entry, decoded by its byte order mark or XML declaration. @throws ParseError as `read` */
  text(name: string): string {
    return decodeText(this.read(name), { markup: true }).text;
  }

  /** The inflated bytes of one entry in chunks, which need not be in memory at the same time. @throws ParseError as `read` */
  async *stream(name: string): AsyncGenerator<Buffer> {
    const { entry, stored, limit } = this.#open(name, DOCUMENT_LIMITS.zipEntryBytes);
    let size = 0;
    for await (const chunk of entry.method === STORED ? chunksOf(stored) : inflateChunks(stored)) {
      size += chunk.length;
      if (size > limit) throw tooComplex('a part inflates to far more than its size');
      if (!entry.counted) this.#inflated += chunk.length;
      yield chunk;
    }
    entry.counted = true;
  }

  /** The text of one entry in pieces, decoded as `text` decodes it. @throws ParseError as `read` */
  textStream(name: string): AsyncGenerator<string> {
    return decodeStream(this.stream(name), { markup: true });
  }

  /** The compressed bytes of an entry, and how many it may inflate to. */
  #open(name: string, most: number): { entry: StoredEntry; stored: Buffer; limit: number } {
    const entry = this.#find(name);
    if (!entry) throw corrupt('a part that it needs is missing');
    if (entry.encrypted)
      throw new ParseError('DOCUMENT_ENCRYPTED', 'The document is encrypted: remove its password and send it again');
    const stored = this.#storedBytes(entry);
    const limit = Math.min(
      most,
      DOCUMENT_LIMITS.zipTotalBytes - (entry.counted ? 0 : this.#inflated),
      Math.max(DOCUMENT_LIMITS.zipRatioFloorBytes, stored.length * DOCUMENT_LIMITS.zipRatio),
    );
    if (limit <= 0) throw tooComplex('its parts together inflate to more than the limit');
    return { entry, stored, limit };
  }

  #find(name: string): StoredEntry | undefined {
    const exact = this.#entries.get(name);
    if (exact) return exact;
    const actual = this.#lowerCase.get(name.toLowerCase());
    return actual === undefined ? undefined : this.#entries.get(actual);
  }

  #storedBytes(entry: StoredEntry): Buffer {
    const header = entry.headerOffset;
    if (header + LOCAL_HEADER_BYTES > this.#bytes.length || this.#bytes.readUInt32LE(header) !== LOCAL_HEADER_SIGNATURE)
      throw corrupt('its ZIP container is damaged');
    if (entry.method !== STORED && entry.method !== DEFLATED)
      throw corrupt(`a part is compressed with method ${entry.method}, which office documents do not use`);
    const start =
      header + LOCAL_HEADER_BYTES + this.#bytes.readUInt16LE(header + 26) + this.#bytes.readUInt16LE(header + 28);
    const end = start + entry.compressedSize;
    if (end > this.#bytes.length) throw corrupt('its ZIP container is cut short');
    return this.#bytes.subarray(start, end);
  }
}

function inflate(stored: Buffer, limit: number): Buffer {
  try {
    return inflateRawSync(stored, { maxOutputLength: limit });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw tooComplex('a part inflates to far more than its size');
    throw corrupt('a part of its ZIP container does not inflate', cause);
  }
}

function* chunksOf(stored: Buffer): Generator<Buffer> {
  for (let at = 0; at < stored.length; at += CHUNK_BYTES) yield stored.subarray(at, at + CHUNK_BYTES);
}

async function* inflateChunks(stored: Buffer): AsyncGenerator<Buffer> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  inflate.end(stored);
  try {
    for await (const chunk of inflate) yield chunk as Buffer;
  } catch (cause) {
    throw corrupt('a part of its ZIP container does not inflate', cause);
  }
}

/** Reads a name as UTF-8 if it is valid, else as Latin-1. `\` counts as `/`, because some programs write it. */
function decodeName(raw: Buffer): string {
  let name = raw.toString('utf8');
  if (name.includes('\uFFFD')) name = raw.toString('latin1');
  return name.replaceAll('\\', '/');
}

/**
 * Reads the central directory of a ZIP file. Nothing is inflated yet.
 * @throws ParseError DOCUMENT_CORRUPT, or DOCUMENT_TOO_COMPLEX for more than `DOCUMENT_LIMITS.zipEntries` entries
 */
export async function openZip(bytes: Uint8Array): Promise<ZipContainer> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let zip: yauzl.ZipFile;
  try {
    zip = await fromBuffer(buffer, {
      lazyEntries: true,
      decodeStrings: false,
      validateEntrySizes: false,
      autoClose: false,
    });
  } catch (cause) {
    throw corrupt('its ZIP container cannot be read', cause);
  }
  if (zip.entryCount > DOCUMENT_LIMITS.zipEntries) throw tooComplex('it has too many parts');
  const entries = new Map<string, StoredEntry>();
  await new Promise<void>((resolve, reject) => {
    zip.on('error', (cause: unknown) => reject(corrupt('its ZIP directory is damaged', cause)));
    zip.on('end', () => resolve());
    zip.on('entry', (entry: yauzl.Entry) => {
      // `decodeStrings: false` makes this a Buffer, although the types say string. It also disables the check of names in yauzl.
      const name = decodeName(entry.fileName as unknown as Buffer);
      if (!name.endsWith('/') && !entries.has(name))
        entries.set(name, {
          headerOffset: entry.relativeOffsetOfLocalHeader,
          compressedSize: entry.compressedSize,
          method: entry.compressionMethod,
          encrypted: (entry.generalPurposeBitFlag & 1) !== 0,
          counted: false,
        });
      zip.readEntry();
    });
    zip.readEntry();
  });
  if (entries.size === 0) throw corrupt('its ZIP container is empty');
  return new ZipContainer(buffer, entries);
}
