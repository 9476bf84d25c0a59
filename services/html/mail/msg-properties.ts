// Reads the properties of an Outlook message, recipient or attachment from the streams of its storage (MS-OXMSG, 2.1).
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { CompoundFile, Storage } from '#shared/readers/compound-file.ts';
import { decodeMailText } from './header-values.ts';
import { codepageCharset } from './rtf.ts';

/** Types of property values (MS-OXCDATA, 2.11.1). */
const LONG = 0x0003;
const TIME = 0x0040;
const PROPERTIES_STREAM = '__properties_version1.0';
const ENTRY_BYTES = 16;
/** Properties that can be in the property stream; more are ignored. */
const ENTRIES = 10_000;
/** 100-nanosecond steps from 1601 to 1970. */
const EPOCH = 116_444_736_000_000_000n;

export class MsgProperties {
  readonly storage: Storage;
  readonly #file: CompoundFile;
  readonly #fixed = new Map<number, Buffer>();

  /** @param headerBytes before the first entry of the property stream: 32 for a file, 24 for an embedded message, else 8 */
  constructor(file: CompoundFile, storage: Storage, headerBytes: 32 | 24 | 8) {
    this.#file = file;
    this.storage = storage;
    const stream = storage.streams.get(PROPERTIES_STREAM);
    if (!stream) return;
    const bytes = file.readStream(stream, headerBytes + ENTRIES * ENTRY_BYTES);
    for (let at = headerBytes; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES)
      this.#fixed.set(bytes.readUInt32LE(at), bytes.subarray(at + 8, at + 16));
  }

  /** Whether the storage is one of a message, a recipient or an attachment. */
  get exists(): boolean {
    return this.storage.streams.has(PROPERTIES_STREAM);
  }

  number(id: number): number | undefined {
    return this.#fixed.get(((id << 16) | LONG) >>> 0)?.readInt32LE(0);
  }

  /** In ISO 8601; undefined if it is not set. */
  time(id: number): string | undefined {
    const value = this.#fixed.get(((id << 16) | TIME) >>> 0)?.readBigUInt64LE(0);
    if (value === undefined || value === 0n) return undefined;
    const date = new Date(Number((value - EPOCH) / 10_000n));
    return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 ? undefined : date.toISOString();
  }

  /** @param charset of strings that are not Unicode. Empty without the property. */
  string(id: number, charset: string | undefined, limit: number = DOCUMENT_LIMITS.mailHeaderBytes): string {
    const unicode = this.#stream(id, '001F');
    if (unicode) return this.#file.readStream(unicode, limit).toString('utf16le').replace(/\0+$/, '');
    const bytes = this.#stream(id, '001E');
    return bytes ? decodeMailText(this.#file.readStream(bytes, limit), charset).replace(/\0+$/, '') : '';
  }

  binary(id: number): Buffer | undefined {
    const stream = this.#stream(id, '0102');
    return stream && this.#file.readStream(stream, stream.size);
  }

  binarySize(id: number): number {
    return this.#stream(id, '0102')?.size ?? 0;
  }

  /** The storage of an object, such as an embedded message. */
  object(id: number): Storage | undefined {
    return this.storage.storages.get(streamName(id, '000D'));
  }

  /** The charset of strings that are not Unicode (PidTagMessageCodepage, PidTagInternetCodepage). */
  charset(): string | undefined {
    const codepage = this.number(0x3ffd) ?? this.number(0x3fde);
    return codepage === undefined ? undefined : codepageCharset(codepage);
  }

  #stream(id: number, type: string) {
    return this.storage.streams.get(streamName(id, type));
  }
}

const streamName = (id: number, type: string): string =>
  `__substg1.0_${id.toString(16).toUpperCase().padStart(4, '0')}${type}`;
