// DECISIONS on Markdown: tables, sheets, slides, and what of an office document is text.
import assert from 'node:assert/strict';
import { hiddenSheetXlsx, notedPptx, reviewedDocx, sample } from '../harness/documents.ts';
import { page, parsed, type Row } from './row.ts';

const reviewed = { file: reviewedDocx(), fileName: 'reviewed.docx' };

export const rows: Row[] = [
  {
    name: 'DECISIONS a table is a pipe table',
    run: async (product) =>
      assert.match(
        (
          await parsed(
            product,
            page('<main><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2 | 3</td></tr></table></main>'),
          )
        ).markdown ?? '',
        /\| *A *\| *B *\|\n\| *-+ *\| *-+ *\|\n\| *1 *\| *2 \\\| 3 *\|/,
      ),
  },
  {
    name: 'DECISIONS an HTML table only where cells span',
    run: async (product) => {
      const text =
        (
          await parsed(
            product,
            page('<main><table><tr><th colspan="2">Both</th></tr><tr><td>1</td><td>2</td></tr></table></main>'),
          )
        ).markdown ?? '';
      assert.match(text, /<table[\s\S]*colspan="2"[\s\S]*Both[\s\S]*<\/table>/);
    },
  },
  {
    name: 'DECISIONS sheets are `## Sheet name` and a table',
    run: async (product) => {
      const { bytes, fileName } = await sample('.xlsx');
      assert.match((await parsed(product, { file: bytes, fileName })).markdown ?? '', /^## Boats\n\n\|/m);
    },
  },
  {
    name: 'DECISIONS slides are `<!-- Slide N -->` and `## Title`',
    run: async (product) => {
      const { bytes, fileName } = await sample('.pptx');
      assert.match(
        (await parsed(product, { file: bytes, fileName })).markdown ?? '',
        /<!-- Slide 1 -->\s+## Harbour report/,
      );
    },
  },
  {
    name: 'DECISIONS GitHub-flavoured: lists, code, emphasis, links, strikethrough, a fenced block',
    run: async (product) => {
      const text =
        (
          await parsed(
            product,
            page(
              '<main><ul><li>one</li><li>two</li></ul><ol><li>first</li></ol><p><b>bold</b> <i>slant</i> <code>x = 1</code> <del>gone</del> <a href="https://example.com/">there</a></p><pre><code>line 1\nline 2</code></pre><blockquote><p>said</p></blockquote></main>',
            ),
          )
        ).markdown ?? '';
      for (const pattern of [
        /^[-*] +one$/m,
        /^1\. +first$/m,
        /\*\*bold\*\*/,
        /[_*]slant[_*]/,
        /`x = 1`/,
        /~~?gone~~?/,
        /\[there\]\(https:\/\/example\.com\/\)/,
        /```\nline 1\nline 2\n```/,
        /^> said$/m,
      ])
        assert.match(text, pattern);
    },
  },
  {
    name: 'DECISIONS an HTML table where cells hold blocks that a pipe table cannot say',
    run: async (product) => {
      const text =
        (
          await parsed(
            product,
            page(
              '<main><table><tr><th>Boat</th><th>Crew</th></tr><tr><td>Petrel</td><td><ul><li>Ana</li><li>Ben</li></ul></td></tr></table></main>',
            ),
          )
        ).markdown ?? '';
      assert.match(text, /<table[\s\S]*<li>\s*Ana\s*<\/li>[\s\S]*<\/table>/);
    },
  },
  {
    name: 'DECISIONS docx headers and footers are part of the text, at the start and the end',
    run: async (product) => {
      const text = (await parsed(product, { ...reviewed, options: { onlyMainContent: false } })).markdown ?? '';
      assert.match(text, /Header words[\s\S]*Opening paragraph[\s\S]*Footer words/);
    },
  },
  {
    name: 'DECISIONS footnotes are `[^1]`',
    run: async (product) =>
      assert.match(
        (await parsed(product, reviewed)).markdown ?? '',
        /Opening paragraph\[\^1\] goes on\.[\s\S]*\[\^1\]: *Footnote words\./,
      ),
  },
  {
    name: 'DECISIONS tracked changes are read as accepted',
    run: async (product) => {
      const text = (await parsed(product, reviewed)).markdown ?? '';
      assert.match(text, /Kept inserted words\./);
      assert.doesNotMatch(text, /deleted/);
    },
  },
  {
    name: 'DECISIONS comments are left out',
    run: async (product) => {
      const text = (await parsed(product, { ...reviewed, options: { onlyMainContent: false } })).markdown ?? '';
      assert.match(text, /Commented sentence\./);
      assert.doesNotMatch(text, /Comment words/);
    },
  },
  {
    name: 'DECISIONS hidden sheets are left out',
    run: async (product) => {
      const text = (await parsed(product, { file: hiddenSheetXlsx(), fileName: 'sheets.xlsx' })).markdown ?? '';
      assert.match(text, /## Shown\n\n\|[\s\S]*Shown cell/);
      assert.doesNotMatch(text, /Tucked|Buried/);
    },
  },
  {
    name: 'DECISIONS hidden slides are left out, notes are a quote',
    run: async (product) => {
      const text = (await parsed(product, { file: notedPptx(), fileName: 'slides.pptx' })).markdown ?? '';
      assert.match(
        text,
        /## First slide[\s\S]*First slide body\.[\s\S]*^> .*Speaker notes words\.[\s\S]*## Last slide/m,
      );
      assert.doesNotMatch(text, /Hidden slide/);
      assert.match(text, /<!-- Slide 1 -->/);
    },
  },
];
