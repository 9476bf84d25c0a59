// Tests that the Markdown is read out of a record for any order of members and any chunk size, and that the warning header is safe.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { readMarkdown, warningHeader } from './markdown.ts';

async function read(json: string, chunkSize: number): Promise<string> {
  const bytes = Buffer.from(json);
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
  };
  const parts: Uint8Array[] = [];
  for await (const part of readMarkdown(chunks())) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

const TEXTS = [
  '',
  'plain',
  'ü ✓ 🦅 end',
  'quote " backslash \\ both \\" tab \t line\nnext \r\n null \u0000 \u2028',
  '\\\\\\\\',
  '"""""',
  '{"markdown":"not this"}',
  '\n'.repeat(40),
  '🦅'.repeat(30),
];

test('reads the Markdown wherever it stands in the record, for any chunk size', async () => {
  for (const markdown of TEXTS)
    for (const record of [
      { markdown },
      { html: 'a \\ " { [ markdown', markdown, links: ['x'] },
      { markdown, pages: [{ pageNumber: 1, markdown: 'of the page' }] },
      { pages: [{ pageNumber: 1, markdown: 'of the page' }], json: { markdown: 'of the data' }, markdown },
      { json: 'markdown', summary: null, n: 1.5e3, markdown },
      { json: ['markdown', ':', 'x'], '\\"markdown': 'other', markdown },
    ])
      for (const space of [undefined, 1])
        for (const size of [1, 2, 3, 5, 7, 11, 13, 1_000])
          assert.equal(await read(JSON.stringify(record, null, space), size), markdown);
});

test('reads pairs of surrogates that are escaped, also across chunks', async () => {
  const escaped = '{"markdown":"a\\ud83e\\udd85\\u00fc\\n\\ud83e\\udd85"}';
  for (let size = 1; size < 30; size++) assert.equal(await read(escaped, size), 'a🦅ü\n🦅');
});

test('throws BAD_GATEWAY if the record has no Markdown, is cut off or is not valid', async () => {
  for (const record of [
    '',
    '{}',
    '{"markdown":null,"html":"x"}',
    '{"markdown":{"a":"x"}}',
    '{"markdown":["x"]}',
    '{"html":"markdown"}',
    '{"json":{"markdown":"x"}}',
    '{"markdown":"cut',
    '{"markdown":"cut\\',
    '{"markdown":"bad \\x escape"}',
    '{"markdown":"raw \n line break"}',
  ])
    for (const size of [1, 4, 1_000])
      await assert.rejects(read(record, size), { code: 'BAD_GATEWAY' }, `${record} in chunks of ${size}`);
});

test('the warning header is printable ASCII of limited length', () => {
  assert.equal(warningHeader(['page 1 is empty', 'zwölf\r\nX-Evil: 1 ✓']), 'page 1 is empty zw?lf?X-Evil: 1 ?');
  const long = warningHeader(['x'.repeat(REQUEST_LIMITS.warningHeaderLength + 1)]);
  assert.equal(long.length, REQUEST_LIMITS.warningHeaderLength);
  assert.match(long, /x\.\.\.$/);
});
