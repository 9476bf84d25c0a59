// Checks docs/api.md, "Kinds of file": the rules for plain text, Markdown, TSV and mail.
import assert from 'node:assert/strict';
import { compressedRtf, msg } from '../harness/documents/msg.ts';
import { type ContractCase, expectError, expectServing, expectSuccess } from './contract-case.ts';

const markdownOf =
  (fileName: string, file: string | Uint8Array, expected: string): ContractCase['run'] =>
  async (product) =>
    assert.equal((await expectSuccess(product, { file, fileName })).markdown, expected);

const MAIL =
  'From: Ada Berg <ada.berg@harbour.example>\r\nTo: Karl Holm <karl@harbour.example>\r\nSubject: Tide tables\r\nDate: Mon, 6 May 2024 07:08:09 +0200\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello Karl,\r\n\r\n> When is low tide?\r\n\r\nAt noon.\r\n--b\r\nContent-Type: application/pdf; name=tides.pdf\r\n\r\n%PDF\r\n--b--\r\n';
/** 8 by 8 pixels. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mM4YWSEFTEMLQkAc/tLAeVUENYAAAAASUVORK5CYII=';

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
    name: 'mail: header, body, quotes and attachments',
    run: async (product) => {
      const data = await expectSuccess(product, { file: MAIL, fileName: 'a.eml' });
      assert.equal(
        data.markdown,
        '# Tide tables\n\n**From:** Ada Berg \\<ada.berg@harbour.example>\\\n**To:** Karl Holm \\<karl@harbour.example>\\\n**Date:** Mon, 6 May 2024 07:08:09 +0200\n\nHello Karl,\n\n> When is low tide?\n\nAt noon.\n\n## Attachments\n\n- tides.pdf (application/pdf, 4 bytes)',
      );
      assert.equal(data.metadata.title, 'Tide tables');
      assert.equal(data.metadata.publishedTime, '2024-05-06T05:08:09.000Z');
      assert.deepEqual(data.metadata.to, ['Karl Holm <karl@harbour.example>']);
    },
  },
  {
    name: 'mail: an Outlook message has people, HTML from RTF, and redacted metadata',
    run: async (product) => {
      const rtf =
        '{\\rtf1\\ansi\\fromhtml1 {\\*\\htmltag <p>}Ada Berg \\htmlrtf {\\b\\htmlrtf0 wrote{\\*\\htmltag </p>}';
      const file = msg({
        properties: {
          '0037001F': 'Tide tables',
          '0042001F': 'Ada Berg',
          '5D02001F': 'ada.berg@harbour.example',
          '10090102': compressedRtf(rtf),
        },
      });
      const data = await expectSuccess(product, { file, fileName: 'a.msg' });
      assert.equal(data.markdown, '# Tide tables\n\n**From:** Ada Berg \\<ada.berg@harbour.example>\n\nAda Berg wrote');
      const redacted = await expectSuccess(product, { file, fileName: 'a.msg', options: { redactPII: true } });
      assert.doesNotMatch(JSON.stringify(redacted), /Ada|Berg|harbour\.example/);
    },
  },
  {
    name: 'mail: names and addresses of the header and the metadata are redacted',
    run: async (product) => {
      const formats = ['markdown', 'html', 'summary'];
      const data = await expectSuccess(product, {
        file: MAIL,
        fileName: 'a.eml',
        options: { formats, redactPII: true },
      });
      assert.doesNotMatch(JSON.stringify(data), /Ada|Berg|Karl|Holm|harbour\.example/);
      assert.match(data.markdown ?? '', /\*\*From:\*\* .*PERSON/);
      assert.equal(data.metadata.title, 'Tide tables');
    },
  },
  {
    name: 'mail: pictures are pictures of the document',
    run: async (product) => {
      const file = `Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>Hi <img src="cid:p" alt="Logo"></p>\n--b\nContent-Type: image/png\nContent-ID: <p>\nContent-Transfer-Encoding: base64\n\n${PNG}\n--b--\n`;
      const formats = ['markdown', { type: 'images', embedded: true }];
      const data = await expectSuccess(product, { file, fileName: 'a.eml', options: { formats } });
      assert.equal(data.markdown, 'Hi ![Logo](image-1.png)');
      assert.equal(data.images?.length, 1);
    },
  },
  {
    name: 'mail: an encrypted message, a file that is no message, and a header of 10 MB return 422',
    run: async (product) => {
      const encrypted =
        'Content-Type: multipart/encrypted; boundary=b\n\n--b\nContent-Type: application/octet-stream\n\nx\n--b--';
      await expectError(product, { file: encrypted, fileName: 'a.eml' }, 422, 'DOCUMENT_ENCRYPTED');
      await expectError(product, { file: 'just words', fileName: 'a.eml' }, 422, 'DOCUMENT_CORRUPT');
      const header = `Subject: ${'x'.repeat(10_000_000)}\n\nbody`;
      await expectError(product, { file: header, fileName: 'a.eml' }, 422, 'DOCUMENT_TOO_COMPLEX');
      await expectServing(product);
    },
  },
  {
    name: 'TSV: tabs separate, also if commas are more frequent',
    run: markdownOf('a.tsv', 'a,1,2\tb\n3,4,5\tc\n', '| a,1,2 | b |\n| --- | --- |\n| 3,4,5 | c |'),
  },
];
