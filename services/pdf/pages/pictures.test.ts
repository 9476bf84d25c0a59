// Checks which images of a PDF page are pictures, where they stand in the Markdown, and how often they are sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PDFDocument, type PDFImage, PDFName, type PDFPage, StandardFonts } from 'pdf-lib';
import { convert, PNG, pdfOf, xObject } from '../testing/pictures.ts';

const LINES = ['The ferry leaves at nine.', 'It carries forty passengers.', 'The crossing takes an hour.'];

async function drawLines(page: PDFPage, document: PDFDocument, top: number): Promise<void> {
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const [index, line] of LINES.entries()) page.drawText(line, { x: 40, y: top - index * 30, size: 11, font });
}

test('a picture stands between the paragraphs around it, and the text is the same as without pictures', async () => {
  const bytes = await pdfOf(async (page, document) => {
    await drawLines(page, document, 370);
    page.drawImage(await document.embedPng(PNG), { x: 40, y: 130, width: 160, height: 160 });
    await drawLines(page, document, 110);
  });
  const { markdown, blocks } = await convert(bytes);
  const parts = markdown.split('\n\n');
  assert.equal(parts[3], '![](image-1.png)');
  const plain = await convert(bytes, { embeddedImages: false });
  assert.equal(parts.filter((part) => !part.startsWith('![')).join('\n\n'), plain.markdown);
  for (const { content, span } of blocks) if (span) assert.equal(markdown.slice(span[0], span[1]), content);
});

test('a picture that is used twice is sent once', async () => {
  const bytes = await pdfOf(async (page, document) => {
    const image = await document.embedPng(PNG);
    page.drawImage(image, { x: 40, y: 250, width: 100, height: 100 });
    page.drawImage(image, { x: 240, y: 50, width: 100, height: 100 });
  });
  const { markdown, pictures } = await convert(bytes);
  assert.equal(markdown, '![](image-1.png)\n\n![](image-1.png)');
  assert.equal(pictures.length, 1);
});

test('a logo at the same place of three pages is furniture', async () => {
  let logo: PDFImage | undefined;
  const draw = async (page: PDFPage, document: PDFDocument) => {
    logo ??= await document.embedPng(PNG);
    page.drawImage(logo, { x: 40, y: 340, width: 40, height: 40 });
    await drawLines(page, document, 300);
  };
  const bytes = await pdfOf(draw, draw, draw);
  const main = await convert(bytes, { fields: ['markdown', 'images'] });
  assert.deepEqual([main.pictures, /image-/.test(main.markdown)], [[], false]);
  const all = await convert(bytes, { fields: ['markdown', 'images'], onlyMainContent: false });
  assert.equal(all.pictures.length, 1);
  assert.equal(all.markdown.match(/!\[\]\(image-1\.png\)/g)?.length, 3);
});

test('a picture with a label on it is a picture, and the label stays in the text', async () => {
  const bytes = await pdfOf(async (page, document) => {
    page.drawImage(await document.embedPng(PNG), { x: 40, y: 100, width: 200, height: 200 });
    page.drawText('Bow', { x: 60, y: 250, size: 11 });
  });
  assert.equal((await convert(bytes)).markdown, '![](image-1.png)\n\nBow');
});

test('ornaments and the background of a panel of text are no pictures', async () => {
  const bytes = await pdfOf(async (page, document) => {
    const image = await document.embedPng(PNG);
    page.drawImage(image, { x: 40, y: 380, width: 10, height: 10 });
    page.drawImage(image, { x: 30, y: 270, width: 190, height: 90 });
    for (let line = 0; line < 6; line++)
      page.drawText('A panel of text that fills it.', { x: 36, y: 345 - line * 14, size: 11 });
  });
  assert.deepEqual((await convert(bytes)).pictures, []);
});

test('the scan under hidden text is no picture, but a page without text is one', async () => {
  const scan = (hidden: boolean) => async (page: PDFPage, document: PDFDocument) => {
    page.drawImage(await document.embedPng(PNG), { x: 0, y: 0, width: 400, height: 400 });
    if (!hidden) return;
    page.node.setFontDictionary(
      PDFName.of('F'),
      document.context.register(document.context.obj({ Type: 'Font', Subtype: 'Type1', BaseFont: 'Helvetica' })),
    );
    const text = document.context.stream('BT 3 Tr /F 12 Tf 40 300 Td (The ferry leaves at nine.) Tj ET');
    page.node.addContentStream(document.context.register(text));
  };
  assert.deepEqual((await convert(await pdfOf(scan(true)))).pictures, []);
  assert.equal((await convert(await pdfOf(scan(false)))).pictures.length, 1);
});

test('an image with too many pixels is left out with a warning, and is not decoded', async () => {
  const huge = xObject({ ColorSpace: 'DeviceGray', Width: 100_000, Height: 100_000 }, Buffer.alloc(1000));
  const { pictures, warning } = await convert(await pdfOf(huge));
  assert.deepEqual(pictures, []);
  assert.match(warning, /1 picture inside the document was left out/);
});
