// Tests that a record becomes the same documents for any size of its chunks, and that anything else than the expected record is an error.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeDocument, writePageDocuments } from './documents.ts';

type Writer = typeof writeDocument;

async function write(writer: Writer, fields: string, chunkSize: number, warnings: string[] = []): Promise<unknown> {
  const bytes = Buffer.from(fields);
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
  };
  const metadata = { title: 'T', sourceURL: 'a.pdf', totalPages: 7 };
  const parts: Uint8Array[] = [];
  for await (const part of writer(chunks(), { metadata, warnings })) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

const ofFile = { title: 'T', sourceURL: 'a.pdf', totalPages: 7, source: 'a.pdf', total_pages: 7 };
const CHUNK_SIZES = [1, 2, 3, 7, 1_000];

test('a record with Markdown becomes one document', async () => {
  for (const markdown of ['', 'plain', 'ü "}" \\ {"markdown":"x"}'])
    for (const size of CHUNK_SIZES)
      assert.deepEqual(await write(writeDocument, JSON.stringify({ markdown }), size), {
        page_content: markdown,
        metadata: ofFile,
      });
  assert.deepEqual(await write(writeDocument, '{"markdown":"x"}', 9, ['one', 'two']), {
    page_content: 'x',
    metadata: { ...ofFile, warning: 'one two' },
  });
});

test('a record with pages becomes one document for each page', async () => {
  const pages = ['', 'ü "}{" \\', '\\"', '[{"pageNumber":9}]'].map((markdown, index) => ({
    pageNumber: index + 3,
    markdown,
  }));
  for (const size of CHUNK_SIZES)
    assert.deepEqual(
      await write(writePageDocuments, JSON.stringify({ pages }), size),
      pages.map(({ pageNumber, markdown }) => ({
        page_content: markdown,
        metadata: { ...ofFile, page: pageNumber - 1, page_label: String(pageNumber) },
      })),
    );
  assert.deepEqual(await write(writePageDocuments, '{"pages":[]}', 4), []);
});

test('throws BAD_GATEWAY if the fields are not the expected record', async () => {
  for (const fields of ['', '[1]', '{', '{}', '{"html":"x"}', '{"markdown":"x"'])
    await assert.rejects(write(writeDocument, fields, 3), { code: 'BAD_GATEWAY' }, fields);
  for (const fields of ['', '[1]', '{', '{"pages":[{"pageNumber":1,"markdown":"x"}]'])
    await assert.rejects(write(writePageDocuments, fields, 3), { code: 'BAD_GATEWAY' }, fields);
});
