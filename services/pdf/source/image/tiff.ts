// Reads the directories of a TIFF file: they name the pages, and Exif data is stored in the same way. libtiff decodes the pixels.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';

/** Tags of TIFF 6.0, section 8, and of Exif 3.0, 4.6. */
export const TAG = {
  newSubfileType: 254,
  subfileType: 255,
  width: 256,
  height: 257,
  bitsPerSample: 258,
  photometric: 262,
  documentName: 269,
  imageDescription: 270,
  orientation: 274,
  samplesPerPixel: 277,
  xResolution: 282,
  yResolution: 283,
  resolutionUnit: 296,
  artist: 315,
  xmp: 700,
  windowsTitle: 0x9c9b,
} as const;

/** Bytes of one value by field type (TIFF 6.0, section 2; BigTIFF adds 16 to 18). */
const TYPE_BYTES: Readonly<Record<number, number>> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  16: 8,
  17: 8,
  18: 8,
};
const RATIONAL = 5;
/** Entries of one directory. Real ones have fewer than 100. */
const MOST_ENTRIES = 512;

interface Field {
  type: number;
  count: number;
  /** Offset of the first value. */
  at: number;
}

/** One image file directory (IFD). */
export interface TiffDirectory {
  offset: number;
  /** Where the offset of the next directory is stored. */
  nextAt: number;
  fields: ReadonlyMap<number, Field>;
}

interface TiffDirectories {
  list: TiffDirectory[];
  /** `cut`: the chain of directories leads out of the file or back. `long`: it has more than DOCUMENT_LIMITS.tiffDirectories. */
  end: 'complete' | 'cut' | 'long';
}

export class TiffFile {
  readonly #bytes: Buffer;
  readonly #little: boolean;
  /** BigTIFF has offsets of 8 bytes. */
  readonly #big: boolean;

  private constructor(bytes: Buffer, little: boolean, big: boolean) {
    this.#bytes = bytes;
    this.#little = little;
    this.#big = big;
  }

  /** @returns undefined if the bytes do not start with a TIFF header. It keeps the bytes and does not copy them. */
  static open(bytes: Uint8Array): TiffFile | undefined {
    if (bytes.length < 8) return undefined;
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const order = file.toString('latin1', 0, 2);
    if (order !== 'II' && order !== 'MM') return undefined;
    const little = order === 'II';
    const version = little ? file.readUInt16LE(2) : file.readUInt16BE(2);
    if (version !== 42 && (version !== 43 || bytes.length < 16)) return undefined;
    return new TiffFile(file, little, version === 43);
  }

  #u16(at: number): number {
    if (at < 0 || at + 2 > this.#bytes.length) return 0;
    return this.#little ? this.#bytes.readUInt16LE(at) : this.#bytes.readUInt16BE(at);
  }

  #u32(at: number): number {
    if (at < 0 || at + 4 > this.#bytes.length) return 0;
    return this.#little ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at);
  }

  /** An offset or a count: 4 bytes, or 8 in BigTIFF. */
  #offset(at: number): number {
    if (!this.#big) return this.#u32(at);
    const [low, high] = this.#little ? [this.#u32(at), this.#u32(at + 4)] : [this.#u32(at + 4), this.#u32(at)];
    return high * 2 ** 32 + low;
  }

  get #headerAt(): number {
    return this.#big ? 8 : 4;
  }

  /** The directories of the main chain, in order. */
  directories(): TiffDirectories {
    const list: TiffDirectory[] = [];
    const seen = new Set<number>();
    let offset = this.#offset(this.#headerAt);
    while (offset !== 0) {
      if (list.length >= DOCUMENT_LIMITS.tiffDirectories) return { list, end: 'long' };
      const directory = seen.has(offset) ? undefined : this.#directory(offset);
      if (!directory) return { list, end: 'cut' };
      seen.add(offset);
      list.push(directory);
      offset = this.#offset(directory.nextAt);
    }
    return { list, end: 'complete' };
  }

  #directory(offset: number): TiffDirectory | undefined {
    const [countBytes, entryBytes, inlineBytes] = this.#big ? [8, 20, 8] : [2, 12, 4];
    const entries = this.#big ? this.#offset(offset) : this.#u16(offset);
    const nextAt = offset + countBytes + entries * entryBytes;
    if (entries < 1 || entries > MOST_ENTRIES || nextAt + inlineBytes > this.#bytes.length) return undefined;
    const fields = new Map<number, Field>();
    for (let n = 0; n < entries; n++) {
      const at = offset + countBytes + n * entryBytes;
      const type = this.#u16(at + 2);
      const count = this.#offset(at + 4);
      const size = (TYPE_BYTES[type] ?? 0) * count;
      const valueAt = at + entryBytes - inlineBytes;
      const start = size <= inlineBytes ? valueAt : this.#offset(valueAt);
      if (size > 0 && start + size <= this.#bytes.length) fields.set(this.#u16(at), { type, count, at: start });
    }
    return { offset, nextAt, fields };
  }

  /** The first value of a whole-number field. */
  number({ fields }: TiffDirectory, tag: number): number | undefined {
    const field = fields.get(tag);
    if (!field) return undefined;
    const bytes = TYPE_BYTES[field.type];
    if (bytes === 1) return this.#bytes[field.at];
    if (bytes === 2) return this.#u16(field.at);
    return bytes === 4 ? this.#u32(field.at) : this.#offset(field.at);
  }

  /** The first value of a field of unsigned rationals. */
  rational({ fields }: TiffDirectory, tag: number): number | undefined {
    const field = fields.get(tag);
    if (field?.type !== RATIONAL) return undefined;
    const value = this.#u32(field.at) / this.#u32(field.at + 4);
    return Number.isFinite(value) ? value : undefined;
  }

  /** The bytes of a field without trailing nulls, at most `limit`. */
  bytes({ fields }: TiffDirectory, tag: number, limit: number): Uint8Array | undefined {
    const field = fields.get(tag);
    if (!field) return undefined;
    const size = Math.min(limit, (TYPE_BYTES[field.type] ?? 0) * field.count);
    return this.#bytes.subarray(field.at, field.at + size);
  }

  /**
   * Runs `work` while the file has this directory only, so that a decoder needs no walk along a chain of thousands of directories.
   * One call at a time.
   */
  async withOnly<T>(directory: TiffDirectory, work: (file: Uint8Array) => Promise<T>): Promise<T> {
    const width = this.#big ? 8 : 4;
    const places = [this.#headerAt, directory.nextAt];
    const kept = places.map((at) => Buffer.from(this.#bytes.subarray(at, at + width)));
    this.#writeOffset(this.#headerAt, directory.offset);
    this.#writeOffset(directory.nextAt, 0);
    try {
      return await work(this.#bytes);
    } finally {
      places.forEach((at, n) => {
        this.#bytes.set(kept[n] as Buffer, at);
      });
    }
  }

  #writeOffset(at: number, value: number): void {
    const [low, high] = [value % 2 ** 32, Math.floor(value / 2 ** 32)];
    const write = (where: number, part: number) =>
      this.#little ? this.#bytes.writeUInt32LE(part, where) : this.#bytes.writeUInt32BE(part, where);
    if (!this.#big) write(at, low);
    else {
      write(at + (this.#little ? 0 : 4), low);
      write(at + (this.#little ? 4 : 0), high);
    }
  }
}
