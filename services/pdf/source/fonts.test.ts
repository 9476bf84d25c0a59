// Holds what the name of a face says about it, and when its descriptor counts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PDFDocument, PDFName } from 'pdf-lib';
import { hasFixedPitch, readFontFace } from './fonts.ts';
import { openWithPdfium } from './pdfium-source.ts';

/** What PDFium computes from the stems of a regular face with serifs, as Chromium measures them. */
const WIDE_STEMS = 704;
const SERIF_FLAGS = 6;

test('a stated style is believed, wide stems are not; without a stated style they count', () => {
  const bold = (name: string, weight = WIDE_STEMS, flags = SERIF_FLAGS) => readFontFace(name, flags, weight).bold;
  assert.equal(bold('AAAAAA+NotoSerif-Regular'), false);
  assert.equal(bold('AAAAAA+NotoSerif-Italic'), false);
  assert.equal(bold('Georgia,Italic'), false);
  assert.equal(bold('NotoSerif-Bold'), true);
  assert.equal(bold('NotoSerif-BoldItalic'), true);
  assert.equal(bold('F1'), true);
  assert.equal(bold('F1', 400), false);
  assert.equal(bold('NotoSerif-Light'), false);
  assert.equal(bold('Any-Regular', 400, 0x40000), true, 'forced by its descriptor');
});

test('a pitch is fixed if narrow and wide characters are equally wide, and the face has both', () => {
  const widths = (table: Record<string, number>, other = 0) => hasFixedPitch((character) => table[character] ?? other);
  assert.equal(widths({}, 600), true);
  assert.equal(widths({ i: 600, m: 601 }), true, 'rounded');
  assert.equal(widths({ i: 278, m: 833 }, 500), false);
  assert.equal(widths({ m: 600, W: 600 }), false, 'capitals and wide letters alone');
  assert.equal(widths({}), false, 'no Latin letters');
});

test('a font of one width is monospaced whatever its name', async () => {
  const styleOf = async (widths: number[], word = 'milk') => {
    const document = await PDFDocument.create();
    const page = document.addPage([300, 200]);
    const { context } = document;
    const font = context.obj({
      Type: 'Font',
      Subtype: 'TrueType',
      BaseFont: 'NimbusMonL-Regu',
      Encoding: 'WinAnsiEncoding',
      FirstChar: 105,
      LastChar: 109,
      Widths: widths,
    });
    page.node.setFontDictionary(PDFName.of('F0'), context.register(font));
    const content = `BT /F0 12 Tf 40 100 Td (${word}) Tj ET`;
    page.node.set(PDFName.of('Contents'), context.register(context.stream(content)));
    const source = await openWithPdfium(await document.save(), undefined);
    const { words } = await source.readPage(0);
    await source.close();
    assert.deepEqual(
      words.map((word) => word.text),
      [word],
    );
    return words[0]?.style.monospace;
  };
  // PDFium itself knows a font whose whole table has one width, so a letter that is not shown has another here.
  assert.equal(await styleOf([600, 700, 600, 600, 600]), true);
  assert.equal(await styleOf([600, 700, 600, 600, 600], 'ill'), false, 'a wide letter that is not shown has no width');
  assert.equal(await styleOf([278, 278, 556, 278, 833]), false);
});
