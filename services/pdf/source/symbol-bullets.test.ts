// Holds which glyphs of symbol fonts, that the file does not name, are read as bullets.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PDFDocument, PDFName, StandardFonts } from 'pdf-lib';
import { openWithPdfium } from './pdfium-source.ts';

/** The words of a page; `$` in a line is a glyph of a symbol font that stands for this code. */
async function read(code: string, ...lines: readonly string[]): Promise<string[]> {
  const document = await PDFDocument.create();
  const page = document.addPage([400, 300]);
  const { context } = document;
  const map = `/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange
1 beginbfchar <24> <${code}> endbfchar endcmap end`;
  const symbols = context.obj({
    Type: 'Font',
    Subtype: 'TrueType',
    BaseFont: 'Wingdings2',
    FirstChar: 36,
    LastChar: 36,
    Widths: [700],
    ToUnicode: context.register(context.stream(map)),
  });
  page.node.setFontDictionary(PDFName.of('F0'), context.register(symbols));
  page.node.setFontDictionary(PDFName.of('F1'), (await document.embedFont(StandardFonts.Helvetica)).ref);
  const show = (text: string) => text.replace(/[^$]+|\$/g, (run) => `/F${run === '$' ? 0 : 1} 12 Tf (${run}) Tj `);
  const content = lines.map((text, n) => `BT 40 ${250 - n * 20} Td ${show(text)}ET`).join('\n');
  page.node.set(PDFName.of('Contents'), context.register(context.stream(content)));
  const source = await openWithPdfium(await document.save(), undefined);
  const { words } = await source.readPage(0);
  await source.close();
  return words.map((word) => word.text);
}

test('a symbol without a name that begins a line before a space is a bullet, elsewhere it is no text', async () => {
  assert.deepEqual(await read('F097', 'Gulls', '$ Terns', '$ Waders'), ['Gulls', '•', 'Terns', '•', 'Waders']);
  assert.deepEqual(await read('F097', '$ Terns'), ['•', 'Terns'], 'on the first line');
  assert.deepEqual(await read('F097', 'Gulls $ terns'), ['Gulls', 'terns'], 'within a line');
  assert.deepEqual(await read('F097', '$Terns'), ['Terns'], 'without a space');
  assert.deepEqual(await read('E097', 'Gulls', '$ Terns'), ['Gulls', 'Terns'], 'of no symbol font');
  assert.deepEqual(await read('F0FC', '$ Terns'), ['✓', 'Terns'], 'a symbol that has a meaning');
});
