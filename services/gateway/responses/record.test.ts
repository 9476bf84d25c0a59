// Tests that the success response is valid JSON for any chunk size, and that document metadata cannot override the gateway's metadata.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildMetadata, writeRecord } from './record.ts';

async function write(fields: string, chunkSize: number, warnings: string[] = []): Promise<unknown> {
  const bytes = Buffer.from(fields);
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
  };
  let text = '';
  for await (const chunk of writeRecord(chunks(), { metadata: { title: '"}' }, warnings }))
    text += Buffer.from(chunk).toString('latin1');
  return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
}

test('joins record, warning and metadata into one JSON object for any chunk size', async () => {
  for (const fields of ['{}', '{"markdown":"}"}', '{"markdown":"ü {}     }","links":[],"json":{"a":{}}}']) {
    for (const chunkSize of [1, 2, 3, 7, 1_000]) {
      const expected = { success: true, data: { ...JSON.parse(fields), metadata: { title: '"}' } } };
      assert.deepEqual(await write(fields, chunkSize), expected, `${fields} in chunks of ${chunkSize}`);
    }
  }
  assert.deepEqual(await write('{}', 9, ['a', 'b']), {
    success: true,
    data: { warning: 'a b', metadata: { title: '"}' } },
  });
});

test('throws BAD_GATEWAY if the fields are not a JSON object', async () => {
  for (const fields of ['', ' ', '[1]', '"x"', 'null', '{', '{"a":1'])
    await assert.rejects(write(fields, 2), { code: 'BAD_GATEWAY' }, fields);
});

test('metadata of the gateway overrides metadata from the document, except a content type that the worker found', () => {
  const fromDocument = {
    title: 'T',
    sourceURL: 'x',
    url: 'x',
    statusCode: 404,
    creditsUsed: -5,
    concurrencyLimited: true,
    concurrencyQueueDurationMs: 9,
    requestId: 'x',
    numPages: 3,
  };
  const own = {
    fileName: 'a.pdf',
    contentType: 'application/pdf',
    creditsUsed: 4,
    requestId: 'r',
    queuedMs: undefined,
  };
  assert.deepEqual(buildMetadata(fromDocument, own), {
    title: 'T',
    numPages: 3,
    sourceURL: 'a.pdf',
    url: 'a.pdf',
    statusCode: 200,
    contentType: 'application/pdf',
    creditsUsed: 4,
    concurrencyLimited: false,
    requestId: 'r',
  });
  const queued = buildMetadata({ contentType: 'application/rtf' }, { ...own, queuedMs: 12.4 });
  assert.equal(queued.contentType, 'application/rtf', 'the worker has read the file');
  assert.equal(queued.concurrencyLimited, true);
  assert.equal(queued.concurrencyQueueDurationMs, 12);
});
