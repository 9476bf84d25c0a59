// A page that is one picture gives the pixels that drawing it would give, and any other page is drawn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PDFDocument, PDFName } from 'pdf-lib';
import { copyIn, loadPdfium } from './pdfium-module.ts';
import { liftScan, mayMask } from './pdfium-scan.ts';
import { openWithPdfium } from './pdfium-source.ts';

const [WIDE, HIGH] = [40, 60];
const UPRIGHT = `q ${WIDE} 0 0 ${HIGH} 0 0 cm /Scan Do Q`;
const GREY = { ColorSpace: 'DeviceGray', BitsPerComponent: 8 };
const RGB = { ColorSpace: 'DeviceRGB', BitsPerComponent: 8 };

interface Kind {
  picture?: Record<string, string | number | boolean | number[]>;
  /** Bytes of a row. */
  stride?: number;
  content?: string;
  turn?: number;
  mask?: boolean;
  crop?: readonly [number, number, number, number];
  note?: boolean;
}

async function scan({ picture = GREY, stride = WIDE, turn = 0, ...more }: Kind, added = ''): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const { context } = document;
  const noise = Uint8Array.from({ length: stride * HIGH }, (_, n) => ((n * 2654435761) >>> 7) & 255);
  const mask = more.mask && context.register(context.flateStream(noise, { ...xObject(GREY) }));
  const image = context.flateStream(noise, { ...xObject(picture), ...(mask && { SMask: mask }) });
  const page = document.addPage([WIDE, HIGH]);
  page.node.setXObject(PDFName.of('Scan'), context.register(image));
  page.node.set(PDFName.of('Contents'), context.register(context.stream(`${more.content ?? UPRIGHT}\n${added}`)));
  page.node.setExtGState(PDFName.of('Pale'), context.obj({ ca: 0.5 }));
  page.node.set(PDFName.of('Rotate'), context.obj(turn));
  if (more.crop) page.setCropBox(...more.crop);
  if (more.note) {
    const look = context.register(
      context.stream('1 g 0 0 20 20 re f', { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 20, 20] }),
    );
    const square = { Type: 'Annot', Subtype: 'Square', Rect: [5, 5, 25, 25], F: 4, AP: { N: look } };
    page.node.set(PDFName.of('Annots'), context.obj([context.register(context.obj(square))]));
  }
  return document.save();
}

const xObject = (picture: NonNullable<Kind['picture']>) =>
  ({ Type: 'XObject', Subtype: 'Image', Width: WIDE, Height: HIGH, ...picture }) as const;

/** Pixels at a pixel a point, as the service gets them. */
async function shown(bytes: Uint8Array): Promise<Uint8Array> {
  const source = await openWithPdfium(bytes, undefined);
  try {
    return (await source.renderGrey(0, 72)).pixels;
  } finally {
    await source.close();
  }
}

async function isLifted(bytes: Uint8Array, size = { width: WIDE, height: HIGH }): Promise<boolean> {
  const pdfium = await loadPdfium();
  const [file, secret, scratch] = [copyIn(pdfium, bytes), copyIn(pdfium, new Uint8Array(1)), pdfium.malloc(128)];
  const document = pdfium.FPDF_LoadMemDocument(file, bytes.length, secret);
  const page = pdfium.FPDF_LoadPage(document, 0);
  const lifted = mayMask(bytes)
    ? undefined
    : liftScan(pdfium, page, { x0: 0, y0: 0, x1: WIDE, y1: HIGH }, size, scratch);
  pdfium.FPDF_ClosePage(page);
  pdfium.FPDF_CloseDocument(document);
  for (const memory of [file, secret, scratch]) pdfium.free(memory);
  return lifted !== undefined;
}

const LIFTED: Record<string, Kind> = {
  grey: {},
  colours: { picture: RGB, stride: WIDE * 3 },
  'black and white': { picture: { ColorSpace: 'DeviceGray', BitsPerComponent: 1 }, stride: WIDE / 8 },
  negative: { picture: { ...GREY, Decode: [1, 0] } },
};
const DRAWN: Record<string, Kind> = {
  'a turned page': { turn: 90 },
  'a mirrored picture': { content: `q ${-WIDE} 0 0 ${HIGH} ${WIDE} 0 cm /Scan Do Q` },
  'a smaller picture': { content: `q 30 0 0 ${HIGH} 0 0 cm /Scan Do Q` },
  'a picture beside its place': { content: `q ${WIDE} 0 0 ${HIGH} 9 0 cm /Scan Do Q` },
  'something over it': { content: `${UPRIGHT} 1 g 5 5 20 20 re f` },
  'a clipped picture': { content: `q 5 5 20 20 re W n ${UPRIGHT} Q` },
  'a picture that shines through': { mask: true },
  'a note over it': { note: true },
  'a faded picture': { content: `/Pale gs ${UPRIGHT}` },
  'pixels that paint': {
    content: `0.5 g ${UPRIGHT}`,
    picture: { ImageMask: true, BitsPerComponent: 1 },
    stride: WIDE / 8,
  },
};
/** Paints nothing that is seen, and is one more object. */
const OUTSIDE = '1 g -9 -9 2 2 re f';

for (const [name, kind] of Object.entries(LIFTED))
  test(`lifted: ${name}`, async () => {
    const bytes = await scan(kind);
    assert.ok(await isLifted(bytes));
    assert.ok(new Set(await shown(bytes)).size > 1);
    assert.deepEqual(await shown(bytes), await shown(await scan(kind, OUTSIDE)));
    assert.equal(await isLifted(bytes, { width: WIDE / 2, height: HIGH / 2 }), false, 'at half the size');
  });

for (const [name, kind] of Object.entries(DRAWN))
  test(`drawn: ${name}`, async () => {
    const bytes = await scan(kind);
    assert.equal(await isLifted(bytes), false);
    assert.notDeepEqual(await shown(bytes), await shown(await scan({ ...kind, ...plain(kind) })));
  });

/** The same picture on a page that shows nothing else. */
const plain = ({ picture }: Kind): Kind =>
  picture
    ? { picture: { ColorSpace: 'DeviceGray', BitsPerComponent: 1 } }
    : { content: UPRIGHT, turn: 0, mask: false, note: false };

test('a page of which a part is cut off shows that part', async () => {
  const bytes = await scan({ crop: [10, 10, 20, 30] });
  const pixels = await shown(bytes);
  assert.equal(pixels.length, 20 * 30);
  assert.deepEqual(pixels, await shown(await scan({ crop: [10, 10, 20, 30] }, OUTSIDE)));
});
