// Checks which drawings of a PDF page are figures, and that their pictures show them with their labels.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PDFPage, rgb } from 'pdf-lib';
import sharp from 'sharp';
import type { EmbeddedPicture } from '#shared/contract/response.ts';
import { bytesOf, convert, pdfOf } from '../testing/pictures.ts';

/** A chart with ten bars, two axes and a label under each bar. */
function drawChart(page: PDFPage, left: number, bottom: number): void {
  page.drawLine({ start: { x: left, y: bottom }, end: { x: left, y: bottom + 110 } });
  page.drawLine({ start: { x: left, y: bottom }, end: { x: left + 200, y: bottom } });
  for (let bar = 0; bar < 10; bar++) {
    const x = left + 5 + bar * 19;
    page.drawRectangle({ x, y: bottom, width: 15, height: 20 + bar * 8, color: rgb(0.8, 0.1, 0.1) });
    page.drawText(String(2010 + bar).slice(2), { x: x + 2, y: bottom - 10, size: 7 });
  }
}

/** Red pixels in the left and in the right half of a picture. */
async function redPixels(picture: EmbeddedPicture): Promise<number[]> {
  const { data, info } = await sharp(bytesOf(picture)).raw().toBuffer({ resolveWithObject: true });
  const counts = [0, 0];
  for (let at = 0, n = 0; at < data.length; at += info.channels, n++) {
    const half = n % info.width < info.width / 2 ? 0 : 1;
    if ((data[at] ?? 0) > 150 && (data[at + 1] ?? 255) < 100) counts[half] = (counts[half] ?? 0) + 1;
  }
  return counts;
}

const CAPTION = 'Figure 1: Boats in the harbour by year';

test('a drawn chart with a caption is a picture, and the text stays as it is', async () => {
  const bytes = await pdfOf((page) => {
    page.drawText('The harbour grows every year.', { x: 40, y: 370, size: 11 });
    drawChart(page, 60, 180);
    page.drawText(CAPTION, { x: 60, y: 150, size: 10 });
  });
  const { pictures, markdown } = await convert(bytes);
  const plain = await convert(bytes, { embeddedImages: false });
  assert.deepEqual(pictures.length, 1);
  assert.equal(markdown.replace('![](image-1.png)\n\n', ''), plain.markdown);
  const [picture] = pictures;
  assert.ok(picture?.bbox);
  const [x0, y0, x1, y1] = picture.bbox.map((value) => value * 400) as [number, number, number, number];
  assert.ok(x0 < 61 && x1 > 255 && y0 < 292 && y0 > 200 - 110 && y1 > 220 && y1 < 240, String(picture.bbox));
  // The years are no paragraph; they are found in the blocks.
  assert.doesNotMatch(markdown, /\b1[0-9] 1[0-9]\b/);
  assert.match((await convert(bytes, { onlyMainContent: false })).markdown, /10 11 12 13 14 15 16 17 18 19/);
  // The bars grow to the right.
  const [left = 0, right = 0] = await redPixels(picture);
  assert.ok(left > 100 && right > left * 1.5, `${left} ${right}`);
});

test('a drawn figure without a caption must consist of many drawings', async () => {
  const few = await convert(await pdfOf((page) => drawChart(page, 60, 180)));
  assert.deepEqual(few.pictures, []);
  const many = await convert(
    await pdfOf((page) => {
      drawChart(page, 60, 180);
      for (let spoke = 0; spoke < 20; spoke++)
        page.drawLine({ start: { x: 160, y: 240 }, end: { x: 70 + spoke * 9, y: 290 } });
    }),
  );
  assert.equal(many.pictures.length, 1);
});

test('a ruled table, a panel of text and the rules of a page are no figures', async () => {
  const { pictures } = await convert(
    await pdfOf((page) => {
      for (let row = 0; row < 5; row++)
        for (let column = 0; column < 3; column++) {
          const place = { x: 40 + column * 100, y: 330 - row * 20 };
          page.drawRectangle({ ...place, width: 100, height: 20, borderWidth: 1, borderColor: rgb(0, 0, 0) });
          page.drawText(`Cell ${row} ${column}`, { x: place.x + 5, y: place.y + 6, size: 10 });
        }
      page.drawText('Figure 2: none', { x: 40, y: 225, size: 10 });
      page.drawRectangle({ x: 40, y: 60, width: 300, height: 100, color: rgb(0.9, 0.9, 1) });
      for (let line = 0; line < 6; line++)
        page.drawText('A panel of text that fills it from side to side.', { x: 46, y: 145 - line * 15, size: 11 });
      for (let line = 0; line < 30; line++)
        page.drawLine({ start: { x: 10, y: 5 + line * 13 }, end: { x: 390, y: 5 + line * 13 }, thickness: 0.2 });
    }),
  );
  assert.deepEqual(pictures, []);
});
