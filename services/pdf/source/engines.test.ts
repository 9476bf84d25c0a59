// One contract for both engines: the same words in the same places, the same drawing, from our fixtures.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { degrees, PDFDocument, StandardFonts } from 'pdf-lib';
import type { Mark, PageContent } from './page-model.ts';
import type { EngineOpener } from './page-source.ts';
import { openWithPdfium } from './pdfium-source.ts';
import { openWithPdfjs } from './pdfjs-source.ts';

const FIXTURES = [
  'headings.pdf',
  'two-columns-furniture.pdf',
  'lists-nested-ordered.pdf',
  'drawn-bullets.pdf',
  'tables-ruled-booktabs-bare.pdf',
  'rotated-cropped-linked-overprinted-empty.pdf',
  'scan-then-text.pdf',
];

async function readAll(open: EngineOpener, name: string): Promise<PageContent[]> {
  const source = await open(await readFile(new URL(`../../../fixtures/pdf/${name}`, import.meta.url)), undefined);
  try {
    const pages: PageContent[] = [];
    for (let index = 0; index < source.pageCount; index++) pages.push(await source.readPage(index));
    return pages;
  } finally {
    await source.close();
  }
}

for (const name of FIXTURES)
  test(`${name}: PDFium and pdf.js read the same`, async () => {
    const [ours, theirs] = await Promise.all([readAll(openWithPdfium, name), readAll(openWithPdfjs, name)]);
    assert.equal(ours.length, theirs.length);
    ours.forEach((page, index) => {
      const other = theirs[index] as PageContent;
      assert.ok(Math.abs(page.width - other.width) < 0.1 && Math.abs(page.height - other.height) < 0.1);
      const words = (content: PageContent) =>
        content.words.filter((word) => word.box.x0 < content.width && word.box.y1 > 0 && word.box.y0 < content.height);
      assert.deepEqual(
        words(page).map((word) => word.text),
        words(other).map((word) => word.text),
      );
      words(page).forEach((word, n) => {
        const twin = words(other)[n];
        assert.ok(
          twin && Math.abs(twin.box.x0 - word.box.x0) < word.style.size && Math.abs(twin.box.y1 - word.box.y1) < 1,
          word.text,
        );
        assert.equal(twin.link, word.link);
      });
      assert.equal(page.rulings.length, other.rulings.length);
      assert.equal(page.images.length, other.images.length);
      assert.equal(page.marks?.length, other.marks?.length);
      page.marks?.forEach(({ box, ...look }, n) => {
        const { box: twin, ...theirLook } = (other.marks ?? [])[n] as Mark;
        assert.deepEqual(look, theirLook);
        assert.ok((['x0', 'y0', 'x1', 'y1'] as const).every((edge) => Math.abs(box[edge] - twin[edge]) < 0.1));
      });
    });
  });

test('both engines tell a drawn bullet that is tagged as a label of a list', async () => {
  for (const open of [openWithPdfium, openWithPdfjs]) {
    const marks = (await readAll(open, 'sample.pdf')).map((page) => page.marks ?? []);
    const looks = marks.map((page) => page.map(({ shape, label }) => `${shape} ${label}`));
    assert.deepEqual(looks, [['disc true', 'disc true', 'disc true'], []], open.name);
    const untagged = (await readAll(open, 'drawn-bullets.pdf')).flatMap((page) => page.marks ?? []);
    assert.ok(untagged.length > 0 && untagged.every(({ label }) => !label), open.name);
  }
});

for (const open of [openWithPdfium, openWithPdfjs])
  test(`${open.name}: grey pixels at the asked resolution, dark where the ink is`, async () => {
    const source = await open(
      await readFile(new URL('../../../fixtures/pdf/headings.pdf', import.meta.url)),
      undefined,
    );
    const image = await source.renderGrey(0, 72);
    assert.deepEqual([image.width, image.height, image.pixels.length], [595, 842, 595 * 842]);
    const dark = (y0: number, y1: number) =>
      image.pixels.subarray(y0 * 595, y1 * 595).filter((grey) => grey < 100).length;
    assert.ok(dark(50, 80) > 100, 'the title');
    assert.equal(dark(700, 842), 0, 'the empty foot');
    await source.close();
  });

for (const open of [openWithPdfium, openWithPdfjs])
  test(`${open.name}: refuses what it cannot open, and says why`, async () => {
    await assert.rejects(open(new Uint8Array([1, 2, 3]), undefined), { name: 'OpenRefusedError', reason: 'corrupt' });
    const encrypted = await readFile(new URL('../../../fixtures/pdf/encrypted-river.pdf', import.meta.url));
    await assert.rejects(open(encrypted, 'wrong'), { name: 'OpenRefusedError', reason: 'password' });
  });

for (const open of [openWithPdfium, openWithPdfjs])
  test(`${open.name}: letters that are printed twice to look bold are read once, those that repeat twice`, async () => {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.TimesRoman);
    const page = document.addPage([400, 300]);
    const write = (text: string, y: number, shift: number, kerning: number) => {
      let x = 40;
      for (const letter of text) {
        for (const from of shift > 0 ? [x, x + shift] : [x])
          if (letter !== ' ') page.drawText(letter, { x: from, y, size: 12, font });
        x += font.widthOfTextAtSize(letter, 12) + kerning;
      }
    };
    write('gulls and illicit moons', 250, 0.3, 0);
    write('gulls and illicit moons', 230, 0.8, 0);
    write('gulls and illicit moons', 210, 0, -0.8);
    const source = await open(await document.save(), undefined);
    const { words } = await source.readPage(0);
    await source.close();
    const lines = new Map<number, string>();
    for (const { text, baseline } of words) {
      const line = Math.round(baseline);
      lines.set(line, (lines.get(line) ?? '') + text);
    }
    assert.deepEqual([...lines.values()], Array(3).fill('gullsandillicitmoons'));
  });

test('slanted letters that are printed twice are read once', async () => {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  const page = document.addPage([400, 300]);
  const slope = (40 * Math.PI) / 180;
  let along = 0;
  for (const letter of 'gulls') {
    const x = 40 + along * Math.cos(slope);
    const y = 100 + along * Math.sin(slope);
    for (const from of [x, x + 0.9]) page.drawText(letter, { x: from, y, size: 12, font, rotate: degrees(40) });
    along += font.widthOfTextAtSize(letter, 12);
  }
  const source = await openWithPdfium(await document.save(), undefined);
  const { words } = await source.readPage(0);
  await source.close();
  assert.deepEqual(
    words.map((word) => word.text),
    ['gulls'],
  );
});
