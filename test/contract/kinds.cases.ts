// Checks docs/api.md, "Kinds of file": the rules for plain text, Markdown and TSV.
import assert from 'node:assert/strict';
import { type ContractCase, expectError, expectServing, expectSuccess } from './contract-case.ts';

const markdownOf =
  (fileName: string, file: string | Uint8Array, expected: string): ContractCase['run'] =>
  async (product) =>
    assert.equal((await expectSuccess(product, { file, fileName })).markdown, expected);

export const cases: ContractCase[] = [
  {
    name: 'plain text: signs of Markdown stay text, and lines stay lines',
    run: markdownOf('notes.txt', '# 5 is *no* heading\n1. x\n\n<b>', '\\# 5 is \\*no\\* heading\\\n1\\. x\n\n\\<b>'),
  },
  {
    name: 'plain text: columns and code keep their spaces, and lists are lists',
    run: markdownOf('notes.TXT', 'Name   Age\nAda    36\n\n- a\n- b\n', '```\nName   Age\nAda    36\n```\n\n- a\n- b'),
  },
  {
    name: 'plain text: any charset is read',
    run: markdownOf('notes.txt', Buffer.from('blåbær på øya', 'latin1'), 'blåbær på øya'),
  },
  {
    name: 'plain text: a text without content returns 200 with a warning',
    run: async (product) => {
      const data = await expectSuccess(product, { file: ' \n', fileName: 'empty.txt' });
      assert.deepEqual([data.markdown, data.warning], ['', 'The document contains no text']);
    },
  },
  {
    name: 'Markdown: GFM is read, raw HTML is cleaned, and front matter is metadata',
    run: async (product) => {
      const file =
        '---\ntitle: Tides\ntags: [sea]\n---\n# Low\n\n- [x] done <script>x</script>\n\n[a](b.md) https://x.example/\n';
      const data = await expectSuccess(product, {
        file,
        fileName: 'a.md',
        options: { formats: ['markdown', 'links'] },
      });
      assert.equal(data.markdown, '# Low\n\n- [x] done\n\n[a](b.md) [https://x.example/](https://x.example/)');
      assert.deepEqual(data.links, ['https://x.example/']);
      assert.deepEqual([data.metadata.title, data.metadata.keywords], ['Tides', ['sea']]);
    },
  },
  {
    name: 'Markdown: the text of front matter is redacted',
    run: async (product) => {
      const file =
        '---\ntitle: Mail ada.berg@harbour.example\nauthor: Ada Berg\nreviewer: Ada Berg\n---\nAda Berg wrote.\n';
      const data = await expectSuccess(product, { file, fileName: 'a.md', options: { redactPII: true } });
      assert.doesNotMatch(JSON.stringify(data), /Ada|Berg|harbour/);
    },
  },
  {
    name: 'Markdown: nesting above the limit returns 422',
    run: async (product) => {
      await expectError(product, { file: '>'.repeat(200), fileName: 'a.markdown' }, 422, 'DOCUMENT_TOO_COMPLEX');
      await expectServing(product);
    },
  },
  {
    name: 'TSV: tabs separate, also if commas are more frequent',
    run: markdownOf('a.tsv', 'a,1,2\tb\n3,4,5\tc\n', '| a,1,2 | b |\n| --- | --- |\n| 3,4,5 | c |'),
  },
];
