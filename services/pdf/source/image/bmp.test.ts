// Decodes small BMP files of every header, depth and compression that the format documents.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeBmp, readBmpHeader } from './bmp.ts';

interface Bmp {
  headerSize?: number;
  width: number;
  height: number;
  bits: number;
  compression?: number;
  /** Red, green, blue, alpha masks. */
  masks?: readonly number[];
  /** Blue, green, red of each colour. */
  palette?: readonly (readonly [number, number, number])[];
  data: readonly number[];
}

function make({ headerSize = 40, width, height, bits, compression = 0, masks = [], palette = [], data }: Bmp): Buffer {
  const header = Buffer.alloc(Math.max(headerSize, 40 + masks.length * 4));
  const size = headerSize === 12 ? 12 : header.length;
  header.writeUInt32LE(headerSize, 0);
  if (headerSize === 12) {
    header.writeUInt16LE(width, 4);
    header.writeUInt16LE(height, 6);
    header.writeUInt16LE(1, 8);
    header.writeUInt16LE(bits, 10);
  } else {
    header.writeInt32LE(width, 4);
    header.writeInt32LE(height, 8);
    header.writeUInt16LE(1, 12);
    header.writeUInt16LE(bits, 14);
    header.writeUInt32LE(compression, 16);
    header.writeInt32LE(7874, 24);
    header.writeInt32LE(7874, 28);
    header.writeUInt32LE(palette.length, 32);
    for (const [n, mask] of masks.entries()) header.writeUInt32LE(mask >>> 0, 40 + n * 4);
  }
  const colours = Buffer.from(palette.flatMap((colour) => (headerSize === 12 ? [...colour] : [...colour, 0])));
  const start = Buffer.alloc(14);
  start.write('BM', 'latin1');
  start.writeUInt32LE(14 + size + colours.length, 10);
  return Buffer.concat([start, header.subarray(0, size), colours, Buffer.from(data)]);
}

const TWO = [
  [0, 0, 0],
  [255, 255, 255],
] as const;
const FOUR = [
  [0, 0, 0],
  [255, 255, 255],
  [100, 100, 100],
  [200, 200, 200],
] as const;

const files: readonly (readonly [name: string, bmp: Bmp, greys: readonly number[]])[] = [
  [
    '1 bit',
    { width: 3, height: 2, bits: 1, palette: TWO, data: [0b01000000, 0, 0, 0, 0b10100000, 0, 0, 0] },
    [255, 0, 255, 0, 255, 0],
  ],
  [
    '1 bit with an OS/2 header',
    { headerSize: 12, width: 3, height: 1, bits: 1, palette: TWO, data: [0b10100000, 0, 0, 0] },
    [255, 0, 255],
  ],
  ['2 bits', { width: 4, height: 1, bits: 2, palette: FOUR, data: [0b00011011, 0, 0, 0] }, [0, 255, 100, 200]],
  ['4 bits', { width: 3, height: 1, bits: 4, palette: FOUR, data: [0x12, 0x30, 0, 0] }, [255, 100, 200]],
  ['8 bits', { width: 2, height: 2, bits: 8, palette: FOUR, data: [0, 1, 0, 0, 2, 3, 0, 0] }, [100, 200, 0, 255]],
  [
    '8 bits from the top',
    { width: 2, height: -2, bits: 8, palette: FOUR, data: [0, 1, 0, 0, 2, 3, 0, 0] },
    [0, 255, 100, 200],
  ],
  ['24 bits', { width: 2, height: 1, bits: 24, data: [0, 0, 255, 255, 0, 0, 0, 0] }, [76, 28]],
  ['32 bits without alpha', { width: 2, height: 1, bits: 32, data: [255, 255, 255, 0, 0, 255, 0, 0] }, [255, 150]],
  ['16 bits, 5 for each colour', { width: 2, height: 1, bits: 16, data: [0xff, 0x7f, 0x00, 0x7c] }, [255, 76]],
  [
    '16 bits with masks of 5, 6 and 5',
    { width: 2, height: 1, bits: 16, compression: 3, masks: [0xf800, 0x7e0, 0x1f], data: [0xff, 0xff, 0xe0, 0x07] },
    [255, 150],
  ],
  [
    '32 bits with masks',
    { width: 1, height: 1, bits: 32, compression: 3, masks: [0xff, 0xff00, 0xff0000], data: [255, 0, 0, 0] },
    [76],
  ],
  [
    '32 bits with alpha',
    {
      headerSize: 108,
      width: 3,
      height: 1,
      bits: 32,
      compression: 3,
      masks: [0xff0000, 0xff00, 0xff, 0xff000000],
      data: [0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 128],
    },
    [255, 0, 127],
  ],
  [
    'RLE8',
    {
      width: 4,
      height: 2,
      bits: 8,
      compression: 1,
      palette: FOUR,
      data: [3, 2, 1, 1, 0, 0, 0, 3, 0, 1, 3, 0, 1, 0, 0, 1],
    },
    [0, 255, 200, 0, 100, 100, 100, 255],
  ],
  [
    'RLE8 with a jump',
    { width: 3, height: 2, bits: 8, compression: 1, palette: FOUR, data: [1, 0, 0, 2, 1, 1, 1, 0, 0, 1] },
    [255, 255, 0, 0, 255, 255],
  ],
  [
    'RLE4',
    { width: 5, height: 1, bits: 4, compression: 2, palette: FOUR, data: [2, 0x12, 0, 3, 0x32, 0x10, 0, 1] },
    [255, 100, 200, 100, 255],
  ],
];
for (const [name, bmp, greys] of files)
  test(`BMP with ${name}`, () => {
    const bytes = make(bmp);
    const header = readBmpHeader(bytes);
    assert.ok(header);
    const { pixels, damaged } = decodeBmp(bytes, header);
    assert.deepEqual([[...pixels], damaged], [greys, false]);
    if (bmp.headerSize !== 12) assert.equal(Math.round(header.xDpi), 200);
  });

for (const [name, bmp] of [
  ['no width', { width: 0, height: 4, bits: 8, data: [] }],
  ['a negative width', { width: -4, height: 4, bits: 8, data: [] }],
  ['3 bits', { width: 4, height: 4, bits: 3, data: [] }],
  ['RLE with 24 bits', { width: 4, height: 4, bits: 24, compression: 1, data: [] }],
  ['a JPEG in it', { width: 4, height: 4, bits: 0, compression: 4, data: [] }],
  ['an unknown header', { headerSize: 44, width: 4, height: 4, bits: 8, data: [] }],
] as const)
  test(`BMP with ${name} is not read`, () => {
    assert.equal(readBmpHeader(make(bmp)), undefined);
  });

test('runs beyond the edges of the image, and an end before its last row, leave white', () => {
  const file: Bmp = {
    width: 2,
    height: 2,
    bits: 8,
    compression: 1,
    palette: FOUR,
    data: [255, 0, 0, 2, 255, 255, 255, 0],
  };
  const bytes = make(file);
  const header = readBmpHeader(bytes);
  assert.ok(header);
  assert.deepEqual([...decodeBmp(bytes, header).pixels], [255, 255, 0, 0]);
  const short = make({ ...file, data: [2, 0, 0, 0] });
  assert.deepEqual(decodeBmp(short, header), { pixels: new Uint8Array([255, 255, 0, 0]), damaged: true });
});
