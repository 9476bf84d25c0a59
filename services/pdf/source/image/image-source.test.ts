// Reads generated image files of every kind: the pixels that OCR receives, the size of the pages, and what damaged and hostile files give.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import sharp, { type Sharp } from 'sharp';
import {
  bmp,
  encodeImage,
  type ImageExtension,
  type Picture,
  png,
  pngChunk,
  tiff,
  toSharp,
} from '#test/harness/documents/images.ts';
import { ocrResolution } from '../../pages/ocr-page.ts';
import { openImageSource } from './image-source.ts';

/** A white page of 400 x 240 pixels, 2 x 1.2 inches, with a dark bar in its top left corner and a grey one at its foot. */
const PAGE = ((): Picture => {
  const [width, height] = [400, 240];
  const pixels = new Uint8Array(width * height).fill(255);
  for (let y = 20; y < 60; y++) pixels.fill(0, y * width + 20, y * width + 120);
  for (let y = 200; y < 220; y++) pixels.fill(128, y * width + 20, y * width + 380);
  return { width, height, pixels };
})();
const DPI = 200;
const COLOURS = { red: [255, 0, 0], green: [0, 255, 0], blue: [0, 0, 255] } as const;

async function read(bytes: Uint8Array, index = 0) {
  const source = await openImageSource(bytes);
  const page = await source.readPage(index);
  const { pixelWidth = 0 } = page.images[0] ?? {};
  const image = await source.renderGrey(index, (pixelWidth / page.width) * 72);
  return { source, page, image };
}

/** Grey of the middle of the dark bar, of the paper and of the grey bar. */
function greys({ width, pixels }: Picture) {
  const at = (x: number, y: number) => pixels[y * width + x] ?? -1;
  return [at(70, 40), at(300, 100), at(200, 210)] as const;
}

function assertPage(image: Picture, tolerance = 3): void {
  assert.deepEqual([image.width, image.height, image.pixels.length], [400, 240, 400 * 240]);
  greys(image).forEach((grey, n) => {
    const expected = [0, 255, 128][n] ?? 0;
    assert.ok(Math.abs(grey - expected) <= tolerance, `grey ${grey}, expected ${expected}`);
  });
}

const EXTENSIONS: readonly ImageExtension[] = ['.png', '.jpg', '.jpeg', '.tiff', '.webp', '.bmp', '.gif'];
for (const extension of EXTENSIONS)
  test(`${extension}: the pixels, and the page in points by the resolution of the file`, async () => {
    const { source, page, image } = await read(await encodeImage(extension, PAGE, DPI));
    assert.equal(source.pageCount, 1);
    assert.deepEqual(page.pixels, { width: 400, height: 240 });
    // WebP and GIF do not state a resolution without Exif data, and 400 pixels are a strip of a sheet then.
    if (extension !== '.gif' && extension !== '.webp')
      assert.deepEqual([Math.round(page.width), Math.round(page.height)], [144, 86]);
    assertPage(image);
    assert.equal(image.damaged, undefined);
  });

const colour = (space: (image: Sharp) => Sharp) =>
  space(sharp(Buffer.from(PAGE.pixels), { raw: { width: 400, height: 240, channels: 1 } }));
const encodings: readonly (readonly [name: string, make: () => Promise<Buffer> | Buffer])[] = [
  ['an interlaced PNG', () => toSharp(PAGE).png({ progressive: true }).toBuffer()],
  ['a PNG with a palette', () => toSharp(PAGE).png({ palette: true }).toBuffer()],
  ['a PNG with 16 bits', () => toSharp(PAGE).toColourspace('grey16').png().toBuffer()],
  [
    'a colour PNG with 16 bits',
    () =>
      colour((image) => image.toColourspace('rgb16'))
        .png()
        .toBuffer(),
  ],
  ['a progressive JPEG', () => toSharp(PAGE).jpeg({ progressive: true }).toBuffer()],
  [
    'a CMYK JPEG',
    () =>
      colour((image) => image.toColourspace('cmyk'))
        .jpeg({ quality: 95 })
        .toBuffer(),
  ],
  [
    'a CMYK TIFF',
    () =>
      colour((image) => image.toColourspace('cmyk'))
        .tiff({ compression: 'lzw' })
        .toBuffer(),
  ],
  [
    'a JPEG with an ICC profile',
    () =>
      colour((image) => image.withIccProfile('p3'))
        .jpeg({ quality: 95 })
        .toBuffer(),
  ],
  ['a lossless WebP', () => toSharp(PAGE).webp({ lossless: true }).toBuffer()],
  ['a TIFF with LZW', () => toSharp(PAGE).tiff({ compression: 'lzw', predictor: 'horizontal' }).toBuffer()],
  ['a TIFF with PackBits', () => toSharp(PAGE).tiff({ compression: 'packbits' }).toBuffer()],
  [
    'a TIFF with Deflate in tiles',
    () => toSharp(PAGE).tiff({ compression: 'deflate', tile: true, tileWidth: 64, tileHeight: 64 }).toBuffer(),
  ],
  [
    'a TIFF with JPEG in it',
    () =>
      colour((image) => image)
        .tiff({ compression: 'jpeg', quality: 95 })
        .toBuffer(),
  ],
  ['a TIFF with big-endian numbers', () => tiff([PAGE], { bigEndian: true })],
  ['a BigTIFF', () => tiff([PAGE], { bigTiff: true })],
  ['a big-endian BigTIFF', () => tiff([PAGE], { bigTiff: true, bigEndian: true })],
  ['a BigTIFF of libtiff', () => toSharp(PAGE).tiff({ bigtiff: true, compression: 'lzw' }).toBuffer()],
  [
    'a TIFF in which 0 is white',
    () => tiff([{ ...PAGE, pixels: PAGE.pixels.map((grey) => 255 - grey), photometric: 0 }]),
  ],
];
for (const [name, make] of encodings)
  test(`${name} gives the same pixels`, async () => {
    // A CMYK round trip keeps black and white only roughly.
    assertPage((await read(await make())).image, name.includes('CMYK') ? 40 : 4);
  });

for (const miniswhite of [false, true])
  test(`a bilevel TIFF in CCITT group 4, ${miniswhite ? '0 is white' : '0 is black'}`, async () => {
    const bytes = await toSharp(PAGE)
      .threshold(100)
      .tiff({ compression: 'ccittfax4', bitdepth: 1, miniswhite })
      .toBuffer();
    assert.deepEqual(greys((await read(bytes)).image), [0, 255, 255]);
  });

test('transparent pixels show white, also with grey and alpha', async () => {
  const alpha = PAGE.pixels.map((grey) => 255 - grey);
  for (const [channels, at] of [
    [2, 1],
    [4, 3],
  ] as const) {
    const raw = new Uint8Array(400 * 240 * channels);
    alpha.forEach((value, n) => {
      raw[n * channels + at] = value;
    });
    const bytes = await sharp(raw, { raw: { width: 400, height: 240, channels } })
      .png()
      .toBuffer();
    assertPage((await read(bytes)).image);
  }
});

test('colours weigh as in a PDF: red, green and blue', async () => {
  for (const [name, [r, g, b]] of Object.entries(COLOURS)) {
    const bytes = await sharp({ create: { width: 40, height: 40, channels: 3, background: { r, g, b } } })
      .png()
      .toBuffer();
    const { image } = await read(bytes);
    assert.ok(
      Math.abs((image.pixels[800] ?? 0) - (r * 0.3 + g * 0.59 + b * 0.11)) <= 1,
      `${name}: ${image.pixels[800]}`,
    );
  }
});

/** The page stored so that the orientation turns it upright. */
async function storedAs(orientation: number): Promise<Picture> {
  const image = toSharp(PAGE);
  const steps: Record<number, (one: Sharp) => Sharp> = {
    2: (one) => one.flop(),
    3: (one) => one.rotate(180),
    4: (one) => one.flip(),
    6: (one) => one.rotate(270),
    8: (one) => one.rotate(90),
  };
  const stored = async (one: Sharp) => {
    const { data, info } = await one.toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, pixels: data };
  };
  if (orientation === 5) return stored(toSharp(await stored(image.rotate(270))).flop());
  if (orientation === 7) return stored(toSharp(await stored(image.rotate(90))).flop());
  return stored(steps[orientation]?.(image) ?? image);
}

for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8])
  test(`orientation ${orientation} is applied, in a TIFF and in a JPEG`, async () => {
    const stored = await storedAs(orientation);
    const jpeg = await toSharp(stored).withMetadata({ orientation, density: DPI }).jpeg({ quality: 95 }).toBuffer();
    for (const bytes of [tiff([{ ...stored, orientation, dpi: { x: DPI, y: DPI } }]), jpeg]) {
      const { page, image } = await read(bytes);
      assertPage(image);
      assert.deepEqual([Math.round(page.width), Math.round(page.height)], [144, 86]);
      assert.deepEqual(page.pixels, { width: 400, height: 240 });
    }
  });

test('faxes in CCITT group 3: one with rows half as dense, and one with three pages and big-endian numbers', async () => {
  const fixture = (name: string) => readFile(new URL(`../../../../fixtures/tiff/${name}`, import.meta.url));
  const { page, image } = await read(await fixture('group3-204-by-98-dpi.tif'));
  assert.deepEqual([Math.round(page.width), Math.round(page.height)], [583, 331]);
  assert.ok(Math.abs(image.height / image.width - page.height / page.width) < 0.01);
  assert.ok(image.pixels.filter((grey) => grey < 128).length > 5_000, 'there is print');
  const source = await openImageSource(await fixture('three-pages-group3-2d-big-endian.tif'));
  assert.equal(source.pageCount, 3);
  const inks: number[] = [];
  for (const index of [0, 1, 2]) {
    const { pixels, damaged } = await source.renderGrey(index, 200);
    assert.equal(damaged, undefined);
    inks.push(pixels.filter((grey) => grey < 128).length);
  }
  assert.equal(new Set(inks).size, 3, 'each page has its own pixels');
});

test('each image of a TIFF is a page, without smaller copies and masks', async () => {
  const grey = (value: number): Picture => ({ width: 300, height: 200, pixels: new Uint8Array(60_000).fill(value) });
  const bytes = tiff([grey(10), { ...grey(99), subfileType: 1 }, grey(20), { ...grey(99), subfileType: 4 }, grey(30)]);
  const source = await openImageSource(bytes);
  assert.equal(source.pageCount, 3);
  const before = Buffer.from(bytes);
  const images = await Promise.all([2, 0, 1].map((index) => source.renderGrey(index, 200)));
  assert.deepEqual(
    images.map((image) => image.pixels[0]),
    [30, 10, 20],
  );
  assert.ok(before.equals(bytes), 'the file is not changed');
});

test('a fax with other resolutions across than down gets square pixels', async () => {
  const { page, image } = await read(
    tiff([{ width: 1728, height: 1078, pixels: new Uint8Array(1728 * 1078), dpi: { x: 204, y: 98 } }]),
  );
  assert.deepEqual([Math.round(page.width), Math.round(page.height)], [610, 792]);
  assert.ok(Math.abs(image.height / image.width - page.height / page.width) < 0.01);
  assert.deepEqual(page.pixels, { width: 1728, height: 1078 });
});

test('a resolution of which OCR could not read a page keeps all pixels', async () => {
  const page: Picture = { width: 1653, height: 2339, pixels: new Uint8Array(1653 * 2339).fill(255) };
  for (const stated of [600, 1000, 20_000]) {
    const source = await openImageSource(await encodeImage('.png', page, stated));
    const content = await source.readPage(0);
    assert.ok(content.width > 500 && content.width < 700, `${stated} dpi: ${content.width}`);
    assert.equal((await source.renderGrey(0, ocrResolution(content))).width, 1653);
  }
});

test('a resolution that says nothing about paper is replaced by that of a usual sheet', async () => {
  const photo = await sharp({ create: { width: 3000, height: 4000, channels: 3, background: '#fff' } })
    .withMetadata({ density: 72 })
    .jpeg()
    .toBuffer();
  const { page } = await read(photo);
  assert.ok(page.width > 500 && page.width < 700, `${page.width}`);
});

test('of an animation the first image is read, with a warning', async () => {
  const frames = [0, 255].map((value) => new Uint8Array(100 * 100).fill(value));
  const raw = { width: 100, height: 200, channels: 1, pageHeight: 100 } as const;
  for (const format of ['gif', 'webp'] as const) {
    const bytes = await sharp(Buffer.concat(frames), { raw })
      .toFormat(format, { delay: [100, 100] })
      .toBuffer();
    const source = await openImageSource(bytes);
    assert.deepEqual(
      [source.pageCount, source.warnings],
      [1, ['the image is an animation of 2 images: only the first was read']],
    );
    const image = await source.renderGrey(0, 72);
    assert.equal(image.width, image.height);
    assert.ok((image.pixels[100] ?? 255) < 5);
  }
});

test('the file may say title, description and author; never a place', async () => {
  const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">Tide table</rdf:li></rdf:Alt></dc:title><dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>moon</rdf:li></rdf:Bag></dc:subject></rdf:Description></rdf:RDF></x:xmpmeta>`;
  const bytes = await toSharp(PAGE)
    .withExif({
      IFD0: { ImageDescription: 'High and low water', Artist: 'A. Keeper' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 3230/100' },
    })
    .withXmp(xmp)
    .jpeg()
    .toBuffer();
  assert.deepEqual((await openImageSource(bytes)).info, {
    title: 'Tide table',
    keywords: 'sea, moon',
    author: 'A. Keeper',
    subject: 'High and low water',
  });
  assert.deepEqual((await openImageSource(tiff([{ ...PAGE, description: 'Scan of a log' }]))).info, {
    subject: 'Scan of a log',
  });
  const texts = png(1, 1, new Uint8Array(2), [pngChunk('tEXt', Buffer.from('Title\0Log book'))]);
  assert.deepEqual((await openImageSource(texts)).info, { title: 'Log book' });
});

const cut = (bytes: Buffer, share: number) => bytes.subarray(0, Math.floor(bytes.length * share));
/** Noise over the page, so that the file has as many bytes below as above. */
const NOISY: Picture = {
  ...PAGE,
  pixels: PAGE.pixels.map((grey, n) => grey ^ (Math.imul(n ^ (n >>> 7), 2654435761) >>> 29)),
};
for (const extension of ['.png', '.jpg', '.tiff', '.bmp', '.gif'] as const)
  test(`${extension}: of a truncated file the part that is there is read, and the rest is white`, async () => {
    const { image } = await read(cut(await encodeImage(extension, NOISY, DPI), 0.6));
    assert.equal(image.damaged, true);
    const [dark] = greys(image);
    // A BMP is stored from the bottom.
    if (extension === '.bmp') assert.deepEqual([dark, greys(image)[2] < 150], [255, true]);
    else assert.deepEqual([dark < 12, image.pixels.at(-1)], [true, 255]);
  });

test('a file of which no row can be decoded is an unreadable page', async () => {
  const source = await openImageSource(cut(await encodeImage('.png', PAGE, DPI), 0.4));
  await assert.rejects(source.renderGrey(0, 200), { name: 'PageUnreadableError' });
});

for (const [name, bytes] of [
  ['a header alone', png(0, 0)],
  ['no header', Buffer.from('\x89PNG\r\n\x1a\nrubbish', 'latin1')],
  ['a JPEG of two bytes', Buffer.from([0xff, 0xd8, 0xff])],
  ['a TIFF whose first directory is outside of the file', Buffer.from('II*\0\xff\xff\xff\x00', 'latin1')],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
] as const)
  test(`${name} is refused as corrupt`, async () => {
    await assert.rejects(openImageSource(bytes), { name: 'ParseError', code: 'DOCUMENT_CORRUPT' });
  });

test('dimensions beyond the limit are refused before anything is decoded', async () => {
  const header = bmp({ width: 1, height: 1, pixels: new Uint8Array(1) });
  header.writeInt32LE(100_000, 18);
  header.writeInt32LE(100_000, 22);
  const wide = tiff([{ width: 100_000, height: 100_000, pixels: new Uint8Array(10) }]);
  for (const bytes of [png(100_000, 100_000), header, wide]) {
    const source = await openImageSource(bytes);
    for (const work of [source.readPage(0), source.renderGrey(0, 200)])
      await assert.rejects(work, {
        name: 'ParseError',
        code: 'DOCUMENT_TOO_COMPLEX',
        message: /100000 x 100000 pixels/,
      });
  }
});

test('an image without pixels is an unreadable page', async () => {
  const source = await openImageSource(tiff([{ width: 0, height: 0, pixels: new Uint8Array(0) }]));
  await assert.rejects(source.readPage(0), { name: 'PageUnreadableError' });
});

test('a loop of TIFF directories ends at its first page, with a warning', async () => {
  const source = await openImageSource(tiff([PAGE, PAGE, PAGE], { loopTo: 1 }));
  assert.deepEqual(
    [source.pageCount, source.warnings],
    [3, ['the file is damaged after image 3: later pages are missing']],
  );
  assertPage(await source.renderGrey(2, 200));
});

test('10,000 TIFF directories are read one by one, and too many are refused', async () => {
  const dot: Picture = { width: 1, height: 1, pixels: new Uint8Array(1) };
  const source = await openImageSource(tiff(new Array(10_000).fill(dot)));
  assert.equal(source.pageCount, 10_000);
  assert.equal((await source.renderGrey(9_999, 72)).pixels[0], 0);
  await assert.rejects(openImageSource(tiff(new Array(20_001).fill(dot))), { code: 'DOCUMENT_TOO_COMPLEX' });
});

test('chunks that inflate to much, and chunks with a wrong checksum, do not keep the pixels from being read', async () => {
  const { deflateSync } = await import('node:zlib');
  const bomb = deflateSync(new Uint8Array(200_000_000));
  const rows = new Uint8Array(101 * 100).fill(7);
  const bad = pngChunk('tEXt', Buffer.from('Title\0Log book'));
  bad[bad.length - 1] = (bad.at(-1) ?? 0) ^ 1;
  const chunks = [
    pngChunk('iCCP', Buffer.concat([Buffer.from('x\0\0'), bomb])),
    pngChunk('zTXt', Buffer.concat([Buffer.from('Title\0\0'), bomb])),
    pngChunk('iTXt', Buffer.concat([Buffer.from('XML:com.adobe.xmp\0\x01\0\0\0'), bomb])),
    bad,
  ];
  for (let at = 0; at < rows.length; at += 101) rows[at] = 0;
  const before = process.memoryUsage().rss;
  const { image } = await read(png(100, 100, rows, chunks));
  assert.equal(image.pixels[0], 7);
  assert.ok(process.memoryUsage().rss - before < 300_000_000);
});
