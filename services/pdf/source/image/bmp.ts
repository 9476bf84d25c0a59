// Decodes BMP files, which libvips does not read, to grey pixels.

/** Values of `biCompression` ([MS-WMF], 2.1.1.7). */
const RGB = 0;
const RLE8 = 1;
const RLE4 = 2;
const BIT_FIELDS = 3;
const ALPHA_BIT_FIELDS = 6;
const FILE_HEADER = 14;
/** Sizes of the headers: OS/2 1.x; OS/2 2.x; Windows 3; with masks; version 4 and 5. */
const CORE_HEADER = 12;
const HEADER_SIZES: readonly number[] = [CORE_HEADER, 16, 40, 52, 56, 64, 108, 124];
const INCHES_PER_METRE = 0.0254;

interface BmpHeader {
  width: number;
  height: number;
  /** Pixels per inch, 0 if not stated. */
  xDpi: number;
  yDpi: number;
  bits: number;
  compression: number;
  topDown: boolean;
  /** Offset of the pixels. */
  pixelsAt: number;
  /** Grey of each palette index; empty without a palette. */
  palette: Uint8Array;
  /** Red, green, blue and alpha bits of a pixel; 0 for none. */
  masks: readonly [number, number, number, number];
}

/** Greys as PDFium weighs them (FXRGB2GRAY in fx_dib.h), so that an image reads as it reads in a PDF. */
const greyOf = (red: number, green: number, blue: number): number => (red * 30 + green * 59 + blue * 11) / 100;

/** @returns undefined if the header is not one of a BMP file that can be read */
export function readBmpHeader(bytes: Uint8Array): BmpHeader | undefined {
  if (bytes.length < FILE_HEADER + CORE_HEADER || bytes[0] !== 0x42 || bytes[1] !== 0x4d) return undefined;
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = file.readUInt32LE(FILE_HEADER);
  if (!HEADER_SIZES.includes(size) || bytes.length < FILE_HEADER + size) return undefined;
  const core = size === CORE_HEADER;
  const u32 = (at: number) => (size >= at + 4 ? file.readUInt32LE(FILE_HEADER + at) : 0);
  const width = core ? file.readUInt16LE(FILE_HEADER + 4) : file.readInt32LE(FILE_HEADER + 4);
  const signedHeight = core ? file.readUInt16LE(FILE_HEADER + 6) : file.readInt32LE(FILE_HEADER + 8);
  const bits = file.readUInt16LE(FILE_HEADER + (core ? 10 : 14));
  const compression = u32(16);
  const height = Math.abs(signedHeight);
  if (width < 1 || height < 1 || !isKnown(bits, compression)) return undefined;
  const masksAt = FILE_HEADER + 40;
  const masked = compression === BIT_FIELDS || compression === ALPHA_BIT_FIELDS;
  // Windows 3 headers have their masks behind them, later headers inside.
  const maskBytes = masked && size === 40 ? (compression === ALPHA_BIT_FIELDS ? 16 : 12) : 0;
  const mask = (n: number, usual: number) => {
    const alpha = n === 3 && size < 56 && compression !== ALPHA_BIT_FIELDS;
    const at = masksAt + n * 4;
    return masked && !alpha && at + 4 <= file.length ? file.readUInt32LE(at) : usual;
  };
  const [red, green, blue] = bits === 16 ? [0x7c00, 0x3e0, 0x1f] : [0xff0000, 0xff00, 0xff];
  return {
    width,
    height,
    xDpi: Math.max(0, (u32(24) | 0) * INCHES_PER_METRE),
    yDpi: Math.max(0, (u32(28) | 0) * INCHES_PER_METRE),
    bits,
    compression,
    topDown: signedHeight < 0,
    pixelsAt: file.readUInt32LE(10),
    palette:
      bits > 8 ? new Uint8Array(0) : readPalette(file, FILE_HEADER + size + maskBytes, core ? 3 : 4, bits, u32(32)),
    masks: [mask(0, red), mask(1, green), mask(2, blue), mask(3, 0)],
  };
}

function isKnown(bits: number, compression: number): boolean {
  if (compression === RGB) return [1, 2, 4, 8, 16, 24, 32].includes(bits);
  if (compression === RLE8) return bits === 8;
  if (compression === RLE4) return bits === 4;
  return (compression === BIT_FIELDS || compression === ALPHA_BIT_FIELDS) && (bits === 16 || bits === 32);
}

function readPalette(file: Buffer, at: number, entryBytes: 3 | 4, bits: number, used: number): Uint8Array {
  const greys = new Uint8Array(256);
  const count = Math.min(used > 0 ? used : 256, 2 ** bits);
  for (let n = 0; n < count; n++) {
    const entry = at + n * entryBytes;
    greys[n] = greyOf(file[entry + 2] ?? 0, file[entry + 1] ?? 0, file[entry] ?? 0);
  }
  return greys;
}

interface BmpPixels {
  /** Grey, row by row from the top, `width * height` bytes. What the file does not have is white. */
  pixels: Uint8Array;
  /** The file ends before its last pixel. */
  damaged: boolean;
}

/** Decodes the pixels. The caller checks the size first. */
export function decodeBmp(bytes: Uint8Array, header: BmpHeader): BmpPixels {
  const pixels = new Uint8Array(header.width * header.height).fill(255);
  const data = bytes.subarray(Math.min(header.pixelsAt, bytes.length));
  const damaged =
    header.compression === RLE8 || header.compression === RLE4
      ? decodeRuns(data, header, pixels)
      : decodeRows(data, header, pixels);
  return { pixels, damaged };
}

/** Start of a row in the output; rows are stored from the bottom unless the height is negative. */
const rowStart = ({ width, height, topDown }: BmpHeader, row: number): number =>
  (topDown ? row : height - 1 - row) * width;

/** @returns whether rows are missing */
function decodeRows(data: Uint8Array, header: BmpHeader, pixels: Uint8Array): boolean {
  const { width, height, bits } = header;
  const stride = Math.ceil((width * bits) / 32) * 4;
  // The padding of the last row may be missing.
  const needed = Math.ceil((width * bits) / 8);
  const readRow = bits <= 8 ? paletteRow(header) : bits === 24 ? trueColourRow(header) : maskedRow(header);
  for (let row = 0; row < height; row++) {
    const start = row * stride;
    if (start + needed > data.length) return true;
    const target = rowStart(header, row);
    readRow(data, start, pixels.subarray(target, target + width));
  }
  return false;
}

type RowReader = (data: Uint8Array, start: number, target: Uint8Array) => void;

function paletteRow({ bits, palette }: BmpHeader): RowReader {
  const perByte = 8 / bits;
  const mask = 2 ** bits - 1;
  return (data, start, target) => {
    for (let x = 0; x < target.length; x++) {
      const byte = data[start + Math.floor(x / perByte)] ?? 0;
      target[x] = palette[(byte >> (8 - bits * ((x % perByte) + 1))) & mask] ?? 0;
    }
  };
}

function trueColourRow(_header: BmpHeader): RowReader {
  return (data, start, target) => {
    for (let x = 0, at = start; x < target.length; x++, at += 3)
      target[x] = greyOf(data[at + 2] ?? 0, data[at + 1] ?? 0, data[at] ?? 0);
  };
}

/** 16 or 32 bits with masks. Transparent pixels show white. */
function maskedRow({ bits, masks }: BmpHeader): RowReader {
  const [red, green, blue, alpha] = masks.map(channelOf) as [Channel, Channel, Channel, Channel];
  const bytes = bits / 8;
  return (data, start, target) => {
    for (let x = 0, at = start; x < target.length; x++, at += bytes) {
      const low = (data[at] ?? 0) | ((data[at + 1] ?? 0) << 8);
      const value = bits === 16 ? low : (low | ((data[at + 2] ?? 0) << 16) | ((data[at + 3] ?? 0) << 24)) >>> 0;
      const grey = greyOf(red(value), green(value), blue(value));
      target[x] = masks[3] === 0 ? grey : 255 - ((255 - grey) * alpha(value)) / 255;
    }
  };
}

type Channel = (value: number) => number;

/** Reads the bits of a mask as 0 to 255. */
function channelOf(mask: number): Channel {
  if (mask === 0) return () => 0;
  const shift = 31 - Math.clz32(mask & -mask);
  const most = mask >>> shift;
  return (value) => (((value & mask) >>> shift) * 255) / most;
}

/** Run-length encoding ([MS-WMF], 3.1.6). @returns whether the end mark is missing while rows are */
function decodeRuns(data: Uint8Array, header: BmpHeader, pixels: Uint8Array): boolean {
  const { width, height, palette } = header;
  const nibbles = header.compression === RLE4;
  let [x, row, at] = [0, 0, 0];
  // Pixels right of the image cost nothing, so that a file of them takes no longer than its bytes.
  const putRun = (count: number, indexAt: (n: number) => number) => {
    const start = rowStart(header, row) + x;
    for (let n = 0; n < Math.min(count, width - x); n++) pixels[start + n] = palette[indexAt(n)] ?? 0;
    x += count;
  };
  while (at + 1 < data.length && row < height) {
    const count = data[at] ?? 0;
    const value = data[at + 1] ?? 0;
    at += 2;
    if (count > 0) {
      putRun(count, (n) => (nibbles ? (n % 2 === 0 ? value >> 4 : value & 15) : value));
    } else if (value === 0) {
      x = 0;
      row++;
    } else if (value === 1) return false;
    else if (value === 2) {
      x += data[at] ?? 0;
      row += data[at + 1] ?? 0;
      at += 2;
    } else {
      const from = at;
      putRun(value, (n) => {
        const byte = data[from + (nibbles ? n >> 1 : n)] ?? 0;
        return nibbles ? (n % 2 === 0 ? byte >> 4 : byte & 15) : byte;
      });
      // Literal runs are padded to 16 bits.
      at += Math.ceil((nibbles ? Math.ceil(value / 2) : value) / 2) * 2;
    }
  }
  return row < height;
}
