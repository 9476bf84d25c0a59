// Generates image files: the page of the samples in every image format, and TIFF, BMP and PNG files with chosen features.
import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { openPageSource } from '#services/pdf/source/open-page-source.ts';
import type { Extension } from '#shared/contract/formats.ts';
import type { Content } from './ooxml.ts';
import { pdf } from './pdf.ts';

export interface Picture {
  width: number;
  height: number;
  /** Grey, row by row from the top, `width * height` bytes. */
  pixels: Uint8Array;
}

const DPI = 200;
/** Share of the A4 page that the content fills from the top. */
const TOP_SHARE = 0.4;

/** The content as printed on a sheet of paper at 200 dpi. */
export async function printedPage({ title, paragraphs, table }: Content): Promise<Picture> {
  const source = await openPageSource(await pdf([{ title, lines: paragraphs, table }]), undefined);
  const { width, height, pixels } = await source.renderGrey(0, DPI);
  await source.close();
  const rows = Math.round(height * TOP_SHARE);
  return { width, height: rows, pixels: pixels.slice(0, width * rows) };
}

export type ImageExtension = Extract<
  Extension,
  '.png' | '.jpg' | '.jpeg' | '.tif' | '.tiff' | '.webp' | '.bmp' | '.gif'
>;

/** sharp with the pixels of a picture, to be encoded. @param pageHeight of each image of an animation, which are below each other */
export function toSharp({ width, height, pixels }: Picture, pageHeight?: number): Sharp {
  const raw = { width, height, channels: 1, ...(pageHeight === undefined ? {} : { pageHeight }) } as const;
  return sharp(pixels, { raw }).toColourspace('b-w');
}

/** A picture in one image format. The files named `.tif` have a bilevel page in CCITT group 4, as fax machines and scanners write it. */
export async function encodeImage(extension: ImageExtension, picture: Picture, dpi = DPI): Promise<Buffer> {
  const image = toSharp(picture);
  const stated = () => image.withMetadata({ density: dpi });
  switch (extension) {
    case '.png':
      return stated().png().toBuffer();
    case '.jpg':
    case '.jpeg':
      return stated()
        .jpeg({ quality: 85, progressive: extension === '.jpeg' })
        .toBuffer();
    case '.tiff':
      return tiff([{ ...picture, dpi: { x: dpi, y: dpi } }]);
    case '.tif':
      return image
        .threshold(160)
        .tiff({ compression: 'ccittfax4', bitdepth: 1, xres: dpi / 25.4, yres: dpi / 25.4 })
        .toBuffer();
    case '.webp':
      return stated().webp({ quality: 85 }).toBuffer();
    case '.gif':
      return image.gif().toBuffer();
    case '.bmp':
      return bmp(picture, dpi);
  }
}

interface TiffPage extends Picture {
  dpi?: { x: number; y: number };
  orientation?: number;
  /** `NewSubfileType`: 1 for a smaller copy of another page, 4 for a mask. */
  subfileType?: number;
  /** 0: a sample of 0 is white; 1 (default): a sample of 0 is black. */
  photometric?: 0 | 1;
  description?: string;
  /** Pixels in one strip compressed with Deflate. */
  deflated?: Uint8Array;
}

interface TiffOptions {
  bigEndian?: boolean;
  /** Offsets of 8 bytes. */
  bigTiff?: boolean;
  /** Index of the page that follows the last one: a loop. */
  loopTo?: number;
}

/** An uncompressed TIFF file with one directory for each page, before its pixels. */
export function tiff(
  pages: readonly TiffPage[],
  { bigEndian = false, bigTiff = false, loopTo }: TiffOptions = {},
): Buffer {
  const [headerBytes, countBytes, entryBytes, offsetBytes] = bigTiff ? [16, 8, 20, 8] : [8, 2, 12, 4];
  const parts: Buffer[] = [];
  const put = (buffer: Buffer, at: number, value: number, bytes: number) => {
    if (bytes < 8) bigEndian ? buffer.writeUIntBE(value, at, bytes) : buffer.writeUIntLE(value, at, bytes);
    else bigEndian ? buffer.writeBigUInt64BE(BigInt(value), at) : buffer.writeBigUInt64LE(BigInt(value), at);
  };
  const header = Buffer.alloc(headerBytes);
  header.write(bigEndian ? 'MM' : 'II', 'latin1');
  put(header, 2, bigTiff ? 43 : 42, 2);
  if (bigTiff) put(header, 4, 8, 2);
  put(header, headerBytes - offsetBytes, headerBytes, offsetBytes);
  parts.push(header);
  let at = headerBytes;
  const starts: number[] = [];
  pages.forEach((page, index) => {
    starts.push(at);
    const data = page.deflated ?? page.pixels;
    const { dpi = { x: DPI, y: DPI }, photometric = 1, description = '' } = page;
    const text = Buffer.from(`${description}\0`);
    const fields: [tag: number, type: 2 | 3 | 4 | 5, value: number | { x: number } | Buffer][] = [
      [254, 4, page.subfileType ?? 0],
      [256, 4, page.width],
      [257, 4, page.height],
      [258, 3, 8],
      [259, 3, page.deflated ? 8 : 1],
      [262, 3, photometric],
      ...(description === '' ? [] : ([[270, 2, text]] as [number, 2, Buffer][])),
      [273, 4, 0],
      [274, 3, page.orientation ?? 1],
      [277, 3, 1],
      [278, 4, page.height],
      [279, 4, data.length],
      [282, 5, { x: dpi.x }],
      [283, 5, { x: dpi.y }],
      [296, 3, 2],
    ];
    const directory = Buffer.alloc(countBytes + fields.length * entryBytes + offsetBytes);
    const extra = Buffer.concat([Buffer.alloc(16), text]);
    const extraAt = at + directory.length;
    const pixelsAt = extraAt + extra.length;
    put(directory, 0, fields.length, countBytes);
    fields.forEach(([tag, type, value], n) => {
      const entry = countBytes + n * entryBytes;
      const valueAt = entry + entryBytes - offsetBytes;
      put(directory, entry, tag, 2);
      put(directory, entry + 2, type, 2);
      put(directory, entry + 4, Buffer.isBuffer(value) ? value.length : 1, offsetBytes);
      if (typeof value === 'number') put(directory, valueAt, tag === 273 ? pixelsAt : value, type === 3 ? 2 : 4);
      else if (Buffer.isBuffer(value)) {
        if (value.length > offsetBytes) put(directory, valueAt, extraAt + 16, offsetBytes);
        else value.copy(directory, valueAt);
      } else {
        const place = tag === 282 ? 0 : 8;
        put(extra, place, value.x, 4);
        put(extra, place + 4, 1, 4);
        if (bigTiff) extra.copy(directory, valueAt, place, place + 8);
        else put(directory, valueAt, extraAt + place, offsetBytes);
      }
    });
    const end = pixelsAt + data.length;
    const next = index + 1 < pages.length ? end + (end % 2) : loopTo === undefined ? 0 : (starts[loopTo] ?? 0);
    put(directory, directory.length - offsetBytes, next, offsetBytes);
    parts.push(directory, extra, Buffer.from(data), Buffer.alloc(end % 2));
    at = end + (end % 2);
  });
  return Buffer.concat(parts);
}

/** An 8-bit BMP file with a grey palette. */
export function bmp({ width, height, pixels }: Picture, dpi = DPI): Buffer {
  const stride = Math.ceil(width / 4) * 4;
  const pixelsAt = 54 + 1024;
  const file = Buffer.alloc(pixelsAt + stride * height);
  file.write('BM', 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(pixelsAt, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(8, 28);
  const perMetre = Math.round(dpi / 0.0254);
  file.writeUInt32LE(perMetre, 38);
  file.writeUInt32LE(perMetre, 42);
  for (let grey = 0; grey < 256; grey++) file.fill(grey, 54 + grey * 4, 54 + grey * 4 + 3);
  for (let row = 0; row < height; row++)
    file.set(pixels.subarray(row * width, (row + 1) * width), pixelsAt + (height - 1 - row) * stride);
  return file;
}

/** One chunk of a PNG file. */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  chunk.writeUInt32BE(data.length, 0);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, chunk.length - 4)), chunk.length - 4);
  return chunk;
}

/** A PNG file of 8-bit grey with chosen dimensions, extra chunks before the pixels, and any pixel data. */
export function png(
  width: number,
  height: number,
  rows: Uint8Array = new Uint8Array(0),
  extra: readonly Buffer[] = [],
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    ...extra,
    pngChunk('IDAT', deflateSync(rows)),
    pngChunk('IEND', new Uint8Array(0)),
  ]);
}
