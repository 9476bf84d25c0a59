// The answer written around a record that is never parsed: whole JSON whatever the chunks, and a gateway's word that no document overrides.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assembleMetadata, writeAnswer } from './record.ts';

async function write(fields: string, size: number, warnings: string[] = []): Promise<unknown> {
  const bytes = Buffer.from(fields);
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  let text = '';
  for await (const chunk of writeAnswer(chunks(), { metadata: { title: '"}' }, warnings }))
    text += Buffer.from(chunk).toString('latin1');
  return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
}

test('the record, a warning and the metadata make one JSON object, however the bytes are cut', async () => {
  for (const fields of ['{}', '{"markdown":"}"}', '{"markdown":"ü {}     }","links":[],"json":{"a":{}}}']) {
    for (const size of [1, 2, 3, 7, 1_000]) {
      const expected = { success: true, data: { ...JSON.parse(fields), metadata: { title: '"}' } } };
      assert.deepEqual(await write(fields, size), expected, `${fields} in ${size}`);
    }
  }
  assert.deepEqual(await write('{}', 9, ['a', 'b']), {
    success: true,
    data: { warning: 'a b', metadata: { title: '"}' } },
  });
});

test('what is not an object is the fault of a service', async () => {
  for (const fields of ['', ' ', '[1]', '"x"', 'null', '{', '{"a":1'])
    await assert.rejects(write(fields, 2), { code: 'BAD_GATEWAY' }, fields);
});

test('no name from the document stands where the gateway speaks', () => {
  const found = {
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
  const known = {
    fileName: 'a.pdf',
    contentType: 'application/pdf',
    creditsUsed: 4,
    requestId: 'r',
    queuedMs: undefined,
  };
  assert.deepEqual(assembleMetadata(found, known), {
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
  const waited = assembleMetadata({ contentType: 'application/rtf' }, { ...known, queuedMs: 12.4 });
  assert.equal(waited.contentType, 'application/rtf', 'the worker looked inside');
  assert.equal(waited.concurrencyLimited, true);
  assert.equal(waited.concurrencyQueueDurationMs, 12);
});
