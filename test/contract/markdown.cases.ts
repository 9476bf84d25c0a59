// Checks docs/api.md, "Markdown": tables, sheets, slides, and which parts of an office document are included.
import assert from 'node:assert/strict';
import { hiddenSheetXlsx, notedPptx, reviewedDocx, sample } from '../harness/documents.ts';
import { type ContractCase, expectSuccess, htmlPage } from './contract-case.ts';

const reviewed = { file: reviewedDocx(), fileName: 'reviewed.docx' };

export const cases: ContractCase[] = [
  {
    name: 'a table becomes a pipe table',
    run: async (product) =>
      assert.match(
        (
          await expectSuccess(
            product,
            htmlPage('<main><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2 | 3</td></tr></table></main>'),
          )
        ).markdown ?? '',
        /\| *A *\| *B *\|\n\| *-+ *\| *-+ *\|\n\| *1 *\| *2 \\\| 3 *\|/,
      ),
  },
  {
    name: 'a table with a spanning cell becomes an HTML table',
    run: async (product) => {
      const text =
        (
          await expectSuccess(
            product,
            htmlPage('<main><table><tr><th colspan="2">Both</th></tr><tr><td>1</td><td>2</td></tr></table></main>'),
          )
        ).markdown ?? '';
      assert.match(text, /<table[\s\S]*colspan="2"[\s\S]*Both[\s\S]*<\/table>/);
    },
  },
  {
    name: 'a sheet becomes the heading `## Sheet name` and a table',
    run: async (product) => {
      const { bytes, fileName } = await sample('.xlsx');
      assert.match((await expectSuccess(product, { file: bytes, fileName })).markdown ?? '', /^## Boats\n\n\|/m);
    },
  },
  {
    name: 'a slide becomes `<!-- Slide N -->` and the heading `## Title`',
    run: async (product) => {
      const { bytes, fileName } = await sample('.pptx');
      assert.match(
        (await expectSuccess(product, { file: bytes, fileName })).markdown ?? '',
        /<!-- Slide 1 -->\s+## Harbour report/,
      );
    },
  },
  {
    name: 'lists, emphasis, code, strikethrough, links, fenced code and quotes become GitHub Flavored Markdown',
    run: async (product) => {
      const text =
        (
          await expectSuccess(
            product,
            htmlPage(
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
    name: 'a table with a list in a cell becomes an HTML table',
    run: async (product) => {
      const text =
        (
          await expectSuccess(
            product,
            htmlPage(
              '<main><table><tr><th>Boat</th><th>Crew</th></tr><tr><td>Petrel</td><td><ul><li>Ana</li><li>Ben</li></ul></td></tr></table></main>',
            ),
          )
        ).markdown ?? '';
      assert.match(text, /<table[\s\S]*<li>\s*Ana\s*<\/li>[\s\S]*<\/table>/);
    },
  },
  {
    name: 'headers and footers of a .docx are at the start and the end with `onlyMainContent: false`',
    run: async (product) => {
      const text = (await expectSuccess(product, { ...reviewed, options: { onlyMainContent: false } })).markdown ?? '';
      assert.match(text, /Header words[\s\S]*Opening paragraph[\s\S]*Footer words/);
    },
  },
  {
    name: 'footnotes of a .docx become `[^1]`',
    run: async (product) =>
      assert.match(
        (await expectSuccess(product, reviewed)).markdown ?? '',
        /Opening paragraph\[\^1\] goes on\.[\s\S]*\[\^1\]: *Footnote words\./,
      ),
  },
  {
    name: 'tracked changes of a .docx are read as accepted',
    run: async (product) => {
      const text = (await expectSuccess(product, reviewed)).markdown ?? '';
      assert.match(text, /Kept inserted words\./);
      assert.doesNotMatch(text, /deleted/);
    },
  },
  {
    name: 'comments of a .docx are omitted',
    run: async (product) => {
      const text = (await expectSuccess(product, { ...reviewed, options: { onlyMainContent: false } })).markdown ?? '';
      assert.match(text, /Commented sentence\./);
      assert.doesNotMatch(text, /Comment words/);
    },
  },
  {
    name: 'hidden sheets are omitted',
    run: async (product) => {
      const text = (await expectSuccess(product, { file: hiddenSheetXlsx(), fileName: 'sheets.xlsx' })).markdown ?? '';
      assert.match(text, /## Shown\n\n\|[\s\S]*Shown cell/);
      assert.doesNotMatch(text, /Tucked|Buried/);
    },
  },
  {
    name: 'hidden slides are omitted and speaker notes become a block quote',
    run: async (product) => {
      const text = (await expectSuccess(product, { file: notedPptx(), fileName: 'slides.pptx' })).markdown ?? '';
      assert.match(
        text,
        /## First slide[\s\S]*First slide body\.[\s\S]*^> .*Speaker notes words\.[\s\S]*## Last slide/m,
      );
      assert.doesNotMatch(text, /Hidden slide/);
      assert.match(text, /<!-- Slide 1 -->/);
    },
  },
];
