// Generates image files that try to exhaust the memory or the CPU time of a decoder, each with one kind of attack on its format.
import { deflateSync } from 'node:zlib';
import { type Picture, png, pngChunk, tiff } from './images.ts';

interface HostileImage {
  what: string;
  fileName: string;
  make: () => Uint8Array;
  options?: object;
}

const MiB = 1024 * 1024;
const DOT: Picture = { width: 1, height: 1, pixels: new Uint8Array(1) };
/** 22,000 x 22,000 grey pixels are just below the limit. */
const LARGEST_SIDE = 22_000;
const white = (bytes: number): Buffer => deflateSync(Buffer.alloc(bytes, 255));
const sizedTiff = (width: number, height: number): Buffer => tiff([{ width, height, pixels: new Uint8Array(64) }]);

/** A GIF with this canvas, and images of one pixel (GIF89a, sections 18 to 23). */
function gif(width: number, height: number, images: number): Buffer {
  const screen = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  screen.writeUInt16LE(width, 6);
  screen.writeUInt16LE(height, 8);
  const image = Buffer.from('\x21\xf9\x04\0\x0a\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0', 'latin1');
  return Buffer.concat([screen, ...new Array<Buffer>(images).fill(image), Buffer.from([0x3b])]);
}

/** A JPEG with this size in its frame header, and no data (ITU-T T.81, B.2.2). */
function jpeg(width: number, height: number, progressive: boolean): Buffer {
  const frame = Buffer.from([
    0xff,
    0xd8,
    0xff,
    progressive ? 0xc2 : 0xc0,
    0,
    17,
    8,
    0,
    0,
    0,
    0,
    3,
    1,
    0x11,
    0,
    2,
    0x11,
    0,
    3,
    0x11,
    0,
  ]);
  frame.writeUInt16BE(height, 7);
  frame.writeUInt16BE(width, 9);
  return Buffer.concat([frame, Buffer.from([0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 63, 0, 0xff, 0xd9])]);
}

/** A BMP with RLE8 compression in which each run lies right of the image, and no row ever ends. */
function endlessRow(): Buffer {
  const file = Buffer.alloc(20 * MiB);
  file.write('BM', 'latin1');
  file.writeUInt32LE(1078, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(1, 18);
  file.writeInt32LE(20_000, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(8, 28);
  file.writeUInt32LE(1, 30);
  return file.fill(255, 1078);
}

/** A BMP whose header states this size. */
function sizedBmp(width: number, height: number): Buffer {
  const file = endlessRow().subarray(0, 2_048);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  return file;
}

export const HOSTILE_IMAGES: readonly HostileImage[] = [
  { what: '100,000 x 100,000 pixels in a small file', fileName: 'a.png', make: () => png(100_000, 100_000, white(1)) },
  { what: '2,147,483,647 x 2,147,483,647 pixels', fileName: 'a.png', make: () => png(0x7fffffff, 0x7fffffff) },
  { what: 'no pixels', fileName: 'a.png', make: () => png(0, 0) },
  {
    what: 'the largest size, all of it white',
    fileName: 'a.png',
    make: () => png(LARGEST_SIDE, LARGEST_SIDE, Buffer.alloc((LARGEST_SIDE + 1) * LARGEST_SIDE)),
    options: { timeout: 20_000 },
  },
  {
    what: 'chunks that inflate to 200 MB',
    fileName: 'a.png',
    make: () => {
      const bomb = white(200 * MiB);
      const text = (type: string, head: string) => pngChunk(type, Buffer.concat([Buffer.from(head, 'latin1'), bomb]));
      const all = [text('iCCP', 'x\0\0'), text('zTXt', 'Title\0\0'), text('iTXt', 'XML:com.adobe.xmp\0\x01\0\0\0')];
      return png(100, 100, Buffer.alloc(101 * 100), all);
    },
  },
  {
    what: '100,000 text chunks',
    fileName: 'a.png',
    make: () =>
      png(
        100,
        100,
        Buffer.alloc(101 * 100),
        new Array<Buffer>(100_000).fill(pngChunk('tEXt', Buffer.from('Title\0x'))),
      ),
  },
  { what: '65,535 x 65,535 pixels without data', fileName: 'a.jpg', make: () => jpeg(65_535, 65_535, false) },
  {
    what: 'progressive, 9,000 x 9,000 pixels without data',
    fileName: 'a.jpg',
    make: () => jpeg(9_000, 9_000, true),
    options: { timeout: 20_000 },
  },
  { what: 'no size', fileName: 'a.jpg', make: () => jpeg(0, 0, false) },
  { what: '10,000 images', fileName: 'a.gif', make: () => gif(100, 100, 10_000) },
  { what: 'a canvas of 65,535 x 65,535 pixels', fileName: 'a.gif', make: () => gif(65_535, 65_535, 2) },
  {
    what: '10,000 images on a canvas of 11,000 x 11,000 pixels',
    fileName: 'a.gif',
    make: () => gif(11_000, 11_000, 10_000),
    options: { timeout: 20_000 },
  },
  {
    what: 'a size without data',
    fileName: 'a.webp',
    make: () => Buffer.from('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\xff\xff\xff\xff\x00\0\0\0\0\0\0\0\0', 'latin1'),
  },
  { what: '100,000 x 100,000 pixels', fileName: 'a.tiff', make: () => sizedTiff(100_000, 100_000) },
  { what: '4,294,967,295 x 1 pixels', fileName: 'a.tiff', make: () => sizedTiff(0xffffffff, 1) },
  {
    what: '22,000 x 22,000 pixels in one strip that inflates to 484 MB',
    fileName: 'a.tiff',
    make: () => tiff([{ ...DOT, width: LARGEST_SIDE, height: LARGEST_SIDE, deflated: white(LARGEST_SIDE ** 2) }]),
    options: { timeout: 20_000 },
  },
  {
    what: '10,000 images of one pixel',
    fileName: 'a.tiff',
    make: () => tiff(new Array<Picture>(10_000).fill(DOT)),
    options: { timeout: 20_000 },
  },
  { what: '100,000 images of one pixel', fileName: 'a.tiff', make: () => tiff(new Array<Picture>(100_000).fill(DOT)) },
  { what: 'a loop of images', fileName: 'a.tiff', make: () => tiff([DOT, DOT, DOT], { loopTo: 0 }) },
  {
    what: 'a loop of images of 8 bytes offsets',
    fileName: 'a.tiff',
    make: () => tiff([DOT, DOT], { loopTo: 1, bigTiff: true }),
  },
  { what: 'a row that never ends', fileName: 'a.bmp', make: endlessRow },
  { what: '100,000 x 100,000 pixels', fileName: 'a.bmp', make: () => sizedBmp(100_000, 100_000) },
  { what: '-2,147,483,648 rows', fileName: 'a.bmp', make: () => sizedBmp(1, -0x80000000) },
];
