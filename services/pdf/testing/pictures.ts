// Makes PDF files with images of four colors, and converts them with their pictures, for the tests of the pdf service.
import assert from 'node:assert/strict';
import { PDFDocument, PDFName, type PDFPage } from 'pdf-lib';
import sharp from 'sharp';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import type { EmbeddedPicture } from '#shared/contract/response.ts';
import { renderRecord } from '#shared/document/render.ts';
import { convertPdf } from '../convert.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown', 'images', 'blocks'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: true,
  blockAds: true,
  removeBase64Images: true,
  embeddedImages: true,
  pdf: { mode: 'fast', pages: false, blocks: true, pageMarkers: false },
};
const context: JobContext = {
  signal: new AbortController().signal,
  deadline: Number.MAX_SAFE_INTEGER,
  requestId: 'request-1',
  volatile: false,
  call: () => Promise.reject(new Error('mode fast calls no other service')),
  progress: () => undefined,
};

export const SIDE = 60;
type Color = readonly [number, number, number];
/** Four quarters: red, green, blue, black. */
export const QUARTERS: readonly [Color, Color, Color, Color] = [
  [220, 20, 20],
  [20, 200, 20],
  [20, 20, 220],
  [0, 0, 0],
];
export const quarter = (x: number, y: number) => QUARTERS[(y < SIDE / 2 ? 0 : 2) + (x < SIDE / 2 ? 0 : 1)] ?? [0, 0, 0];
export const pixelsOf = (channels: (x: number, y: number) => readonly number[]): Buffer =>
  Buffer.from(Array.from({ length: SIDE * SIDE }, (_, n) => channels(n % SIDE, Math.floor(n / SIDE))).flat());
export const raw = (channels: 1 | 3 | 4) => ({ raw: { width: SIDE, height: SIDE, channels } });
export const PNG = await sharp(pixelsOf(quarter), raw(3)).png().toBuffer();
export const JPEG = await sharp(pixelsOf(quarter), raw(3)).jpeg({ quality: 95, chromaSubsampling: '4:4:4' }).toBuffer();
export const GLASS = await sharp(
  pixelsOf((x, y) => [...quarter(x, y), x < SIDE / 2 ? 255 : 0]),
  raw(4),
)
  .png()
  .toBuffer();

interface Converted {
  markdown: string;
  pictures: EmbeddedPicture[];
  blocks: { content: string; type: string; span: readonly number[] | null }[];
  warning: string;
}

export async function convert(bytes: Uint8Array, more: Partial<RenderOptions> = {}): Promise<Converted> {
  const options = { ...OPTIONS, ...more };
  const document = await convertPdf({ bytes, fileName: 'a.pdf', extension: '.pdf' }, options, context);
  const { fields, warnings } = renderRecord(document, options);
  return {
    markdown: fields.markdown ?? '',
    pictures: (fields.images ?? []).filter((one) => typeof one === 'object' && 'id' in one),
    blocks: (fields.blocks ?? []).flatMap(({ items }) =>
      items.map(({ content, type, markdownSpan }) => ({ content, type, span: markdownSpan })),
    ),
    warning: warnings.join(' '),
  };
}

/** One page for each function that draws it. */
export async function pdfOf(
  ...draw: ((page: PDFPage, document: PDFDocument) => void | Promise<void>)[]
): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (const one of draw) await one(document.addPage([400, 400]), document);
  return document.save();
}

/** A page with an image XObject, or with content of its own. */
export const xObject =
  (dictionary: Record<string, string | number | number[] | boolean>, data: Uint8Array, content = '') =>
  (page: PDFPage, { context: objects }: PDFDocument): void => {
    const stream = objects.flateStream(data, {
      Type: 'XObject',
      Subtype: 'Image',
      Width: SIDE,
      Height: SIDE,
      BitsPerComponent: 8,
      ...dictionary,
    });
    page.node.setXObject(PDFName.of('Picture'), objects.register(stream));
    const text = content || 'q 120 0 0 120 100 200 cm /Picture Do Q';
    page.node.set(PDFName.of('Contents'), objects.register(objects.stream(text)));
  };

export const at = { x: 100, y: 200, width: 120, height: 120 };
export const bytesOf = ({ base64 }: EmbeddedPicture): Buffer => Buffer.from(base64, 'base64');

/** The color in the middle of each quarter of a picture, with transparency shown as white. */
export async function quarters(picture: EmbeddedPicture): Promise<number[][]> {
  const { data, info } = await sharp(bytesOf(picture))
    .flatten({ background: '#ffffff' })
    .toColorspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [
    [0.25, 0.25],
    [0.75, 0.25],
    [0.25, 0.75],
    [0.75, 0.75],
  ].map(([x = 0, y = 0]) => {
    const pixel = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
    return [...data.subarray(pixel, pixel + 3)];
  });
}

export async function assertQuarters(
  picture: EmbeddedPicture | undefined,
  expected: readonly (readonly number[])[] = QUARTERS,
  most = 6,
): Promise<void> {
  assert.ok(picture, 'a picture is expected');
  const found = await quarters(picture);
  for (const [index, color] of expected.entries())
    for (const [channel, value] of color.entries())
      assert.ok(
        Math.abs((found[index]?.[channel] ?? -1) - value) <= most,
        `quarter ${index}: ${found[index]} is not ${color}`,
      );
}
