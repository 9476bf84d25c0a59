// Checks that the picture of a figure has the bytes or the colors of its image, for each kind of image.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { degrees, PDFName, PDFRawStream } from 'pdf-lib';
import sharp from 'sharp';
import type { EmbeddedPicture } from '#shared/contract/response.ts';
import {
  assertQuarters,
  at,
  bytesOf,
  convert,
  GLASS,
  JPEG,
  PNG,
  pdfOf,
  pixelsOf,
  QUARTERS,
  quarter,
  quarters,
  raw,
  SIDE,
  xObject,
} from '../testing/pictures.ts';
import { openWithPdfium } from './pdfium-source.ts';
import { openWithPdfjs } from './pdfjs-source.ts';

describe('the bytes of a picture', () => {
  test('a JPEG file is passed on unchanged, with its page and place', async () => {
    const bytes = await pdfOf(
      () => undefined,
      async (page, document) => page.drawImage(await document.embedJpg(JPEG), at),
    );
    const { pictures, markdown } = await convert(bytes);
    assert.equal(markdown, '![](image-1.jpg)');
    const [picture] = pictures;
    assert.ok(picture && bytesOf(picture).equals(JPEG));
    assert.deepEqual(
      [picture.mimeType, picture.width, picture.height, picture.page, picture.bbox],
      ['image/jpeg', SIDE, SIDE, 2, [0.25, 0.2, 0.55, 0.5]],
    );
  });

  test('pixels are passed on as they are stored, with their soft mask as transparency', async () => {
    const bytes = await pdfOf(async (page, document) => page.drawImage(await document.embedPng(GLASS), at));
    const { pictures } = await convert(bytes);
    const [picture] = pictures;
    assert.ok(picture);
    const { data, info } = await sharp(bytesOf(picture)).raw().toBuffer({ resolveWithObject: true });
    assert.deepEqual([info.width, info.height, info.channels], [SIDE, SIDE, 4]);
    assert.deepEqual([...data.subarray(0, 4)], [220, 20, 20, 255]);
    assert.equal(data[SIDE * 4 - 1], 0);
  });

  test('a JPEG file with a soft mask is not passed on without it', async () => {
    const bytes = await pdfOf(async (page, document) => {
      const mask = document.context.flateStream(
        pixelsOf((x) => [x < SIDE / 2 ? 255 : 0]),
        { Type: 'XObject', Subtype: 'Image', Width: SIDE, Height: SIDE, BitsPerComponent: 8, ColorSpace: 'DeviceGray' },
      );
      const image = await document.embedJpg(JPEG);
      await image.embed();
      const stream = document.context.lookup(image.ref);
      assert.ok(stream instanceof PDFRawStream);
      stream.dict.set(PDFName.of('SMask'), document.context.register(mask));
      page.drawImage(image, at);
    });
    const { pictures } = await convert(bytes);
    assert.equal(pictures[0]?.mimeType, 'image/png');
    await assertQuarters(pictures[0], [QUARTERS[0], [255, 255, 255], QUARTERS[2], [255, 255, 255]], 12);
  });

  const bits = (set: (x: number, y: number) => boolean): Uint8Array => {
    const stride = Math.ceil(SIDE / 8);
    const data = new Uint8Array(stride * SIDE);
    for (let y = 0; y < SIDE; y++)
      for (let x = 0; x < SIDE; x++) if (set(x, y)) data[y * stride + (x >> 3)]! |= 0x80 >> (x & 7);
    return data;
  };
  const WHITE_RED = [
    [255, 0, 0],
    [0, 0, 255],
    [255, 0, 0],
    [0, 0, 255],
  ] as const;
  const GREYS = [
    [40, 40, 40],
    [200, 200, 200],
    [40, 40, 40],
    [200, 200, 200],
  ] as const;
  const isRight = (x: number): boolean => x >= SIDE / 2;
  const grey = pixelsOf((x) => [isRight(x) ? 200 : 40]);
  const small = Array.from({ length: 16 }, (_, n) => quarter(((n % 4) * SIDE) / 4, (Math.floor(n / 4) * SIDE) / 4));
  const inline = `q 120 0 0 120 100 200 cm BI /W 4 /H 4 /CS /RGB /BPC 8 /F /AHx ID ${Buffer.from(small.flat()).toString('hex')}> EI Q`;

  for (const [name, draw, expected] of [
    ['grey', xObject({ ColorSpace: 'DeviceGray' }, grey), GREYS],
    [
      'grey with Decode',
      xObject(
        { ColorSpace: 'DeviceGray', Decode: [1, 0] },
        pixelsOf((x) => [isRight(x) ? 55 : 215]),
      ),
      GREYS,
    ],
    ['RGB', xObject({ ColorSpace: 'DeviceRGB' }, pixelsOf(quarter)), QUARTERS],
    ['inline', xObject({ ColorSpace: 'DeviceGray' }, grey, inline), QUARTERS],
    [
      'mirrored and turned',
      xObject({ ColorSpace: 'DeviceRGB' }, pixelsOf(quarter), 'q 0 120 120 0 100 200 cm /Picture Do Q'),
      // The matrix swaps the axes of the image, which starts at its lower left corner.
      [QUARTERS[3], QUARTERS[1], QUARTERS[2], QUARTERS[0]],
    ],
    [
      'with a stencil mask',
      xObject(
        { ImageMask: true, BitsPerComponent: 1 },
        bits(isRight),
        'q 1 0 0 rg 120 0 0 120 100 200 cm /Picture Do Q',
      ),
      [
        [255, 0, 0],
        [255, 255, 255],
        [255, 0, 0],
        [255, 255, 255],
      ],
    ],
  ] as const)
    test(`an image (${name}) shows its colors`, async () => {
      const { pictures } = await convert(await pdfOf(draw));
      assert.equal(pictures.length, 1);
      await assertQuarters(pictures[0], expected);
    });

  test('indexed images of 1 and 8 bits show the colors of their palette', async () => {
    for (const [depth, data] of [
      [1, bits(isRight)],
      [8, pixelsOf((x) => [isRight(x) ? 1 : 0])],
    ] as const) {
      const bytes = await pdfOf((page, document) => {
        const { context: objects } = document;
        const stream = objects.flateStream(data, {
          Type: 'XObject',
          Subtype: 'Image',
          Width: SIDE,
          Height: SIDE,
          BitsPerComponent: depth,
        });
        const palette = objects.register(objects.flateStream(Uint8Array.from([255, 0, 0, 0, 0, 255])));
        stream.dict.set(PDFName.of('ColorSpace'), objects.obj(['Indexed', 'DeviceRGB', 1, palette]));
        page.node.setXObject(PDFName.of('Picture'), objects.register(stream));
        page.node.set(
          PDFName.of('Contents'),
          objects.register(objects.stream('q 120 0 0 120 100 200 cm /Picture Do Q')),
        );
      });
      await assertQuarters((await convert(bytes)).pictures[0], WHITE_RED);
    }
  });

  test('a CMYK JPEG file becomes a PNG with its colors', async () => {
    const cmyk = await sharp(pixelsOf(quarter), raw(3)).toColorspace('cmyk').jpeg({ quality: 95 }).toBuffer();
    const bytes = await pdfOf((page, { context: objects }) => {
      const stream = objects.stream(cmyk, {
        Type: 'XObject',
        Subtype: 'Image',
        Width: SIDE,
        Height: SIDE,
        BitsPerComponent: 8,
        ColorSpace: 'DeviceCMYK',
        Filter: 'DCTDecode',
        Decode: [1, 0, 1, 0, 1, 0, 1, 0],
      });
      page.node.setXObject(PDFName.of('Picture'), objects.register(stream));
      page.node.set(PDFName.of('Contents'), objects.register(objects.stream('q 120 0 0 120 100 200 cm /Picture Do Q')));
    });
    const { pictures } = await convert(bytes);
    assert.equal(pictures[0]?.mimeType, 'image/png');
    const [red = []] = await quarters(pictures[0] as EmbeddedPicture);
    assert.ok((red[0] ?? 0) > 120 && (red[1] ?? 255) < 100, `red is ${red}`);
  });

  test('a CCITT fax image shows its lines', async () => {
    const tiff = await sharp(
      pixelsOf((x) => [isRight(x) ? 255 : 0]),
      raw(1),
    )
      .toColorspace('b-w')
      .tiff({ compression: 'ccittfax4', bitdepth: 1 })
      .toBuffer();
    const { data, white } = faxStrip(tiff);
    const bytes = await pdfOf((page, { context: objects }) => {
      const stream = objects.stream(data, {
        Type: 'XObject',
        Subtype: 'Image',
        Width: SIDE,
        Height: SIDE,
        BitsPerComponent: 1,
        ColorSpace: 'DeviceGray',
        Filter: 'CCITTFaxDecode',
        DecodeParms: { K: -1, Columns: SIDE, Rows: SIDE, BlackIs1: white },
      });
      page.node.setXObject(PDFName.of('Picture'), objects.register(stream));
      page.node.set(PDFName.of('Contents'), objects.register(objects.stream('q 120 0 0 120 100 200 cm /Picture Do Q')));
    });
    await assertQuarters((await convert(bytes)).pictures[0], [
      [0, 0, 0],
      [255, 255, 255],
      [0, 0, 0],
      [255, 255, 255],
    ]);
  });

  test('a page that is turned shows its picture upright', async () => {
    const bytes = await pdfOf(async (page, document) => {
      page.drawImage(await document.embedPng(PNG), at);
      page.setRotation(degrees(90));
    });
    const { pictures } = await convert(bytes);
    await assertQuarters(pictures[0], [QUARTERS[2], QUARTERS[0], QUARTERS[3], QUARTERS[1]]);
    assert.deepEqual(pictures[0]?.bbox, [0.5, 0.25, 0.8, 0.55]);
  });

  test('strips of one picture are one picture', async () => {
    const bytes = await pdfOf(async (page, document) => {
      for (let strip = 0; strip < 4; strip++) {
        const part = await sharp(PNG)
          .extract({ left: 0, top: strip * 15, width: SIDE, height: 15 })
          .png()
          .toBuffer();
        page.drawImage(await document.embedPng(part), { x: 100, y: 290 - strip * 30, width: 120, height: 30 });
      }
    });
    const { pictures } = await convert(bytes);
    assert.equal(pictures.length, 1);
    await assertQuarters(pictures[0], QUARTERS, 30);
  });

  test('both engines draw the same picture', async () => {
    const bytes = await pdfOf(async (page, document) => page.drawImage(await document.embedPng(PNG), at));
    const box = { x0: 100, y0: 80, x1: 220, y1: 200 };
    for (const open of [openWithPdfium, openWithPdfjs]) {
      const source = await open(bytes, undefined);
      try {
        const picture = await source.readPicture?.(0, box);
        assert.ok(typeof picture === 'object' && picture.kind === 'pixels', source.engine);
        const { width, height, channels, pixels } = picture;
        const png = await sharp(pixels, { raw: { width, height, channels } }).png().toBuffer();
        await assertQuarters({ id: '', mimeType: '', base64: png.toString('base64') });
      } finally {
        await source.close();
      }
    }
  });
});

/** The compressed data of a TIFF with one strip, and whether its zeros are white (TIFF 6.0, tags 262, 273 and 279). */
function faxStrip(tiff: Buffer): { data: Buffer; white: boolean } {
  const directory = tiff.readUInt32LE(4);
  const tags = new Map<number, number>();
  for (let n = 0; n < tiff.readUInt16LE(directory); n++) {
    const entry = directory + 2 + n * 12;
    const short = tiff.readUInt16LE(entry + 2) === 3;
    tags.set(tiff.readUInt16LE(entry), short ? tiff.readUInt16LE(entry + 8) : tiff.readUInt32LE(entry + 8));
  }
  const start = tags.get(273) ?? 0;
  return { data: tiff.subarray(start, start + (tags.get(279) ?? 0)), white: tags.get(262) === 1 };
}
