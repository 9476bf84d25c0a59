// Tests the checks of the sweep, because a sweep that accepts every response would always pass.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Answer } from '../harness/client.ts';
import { checkAnswer, expectationOf, type Outcome } from './expectation.ts';
import { listInputs, quantile } from './sweep.ts';

const folder = mkdtempSync(join(tmpdir(), 'sweep-'));
after(() => rmSync(folder, { recursive: true }));

function answer(status: number, body: unknown): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-request-id': 'r1' },
    body,
    text: JSON.stringify(body),
  };
}

const metadata = {
  sourceURL: 'a',
  url: 'a',
  statusCode: 200,
  contentType: 'text/csv',
  concurrencyLimited: false,
  creditsUsed: 1,
};
const ok = (markdown: string, warning?: string) =>
  answer(200, { success: true, data: { markdown, metadata, ...(warning ? { warning } : {}) } });
const rejected = (status: number, code: string) => answer(status, { success: false, error: 'A message.', code });

const CHECKS: [Answer, Outcome, string][] = [
  [ok('Hello'), 'text', 'text'],
  [ok('  '), 'text', 'failed'],
  [ok('', 'No text.'), 'text', 'failed'],
  [ok('', 'No text.'), 'textOrEmpty', 'empty'],
  [ok(''), 'textOrEmpty', 'failed'],
  [ok(''), 'either', 'failed'],
  [ok('Hello'), 'encrypted', 'failed'],
  [ok('Hello'), 'rejected', 'failed'],
  [ok('the secret'), 'either', 'failed'],
  [rejected(422, 'DOCUMENT_CORRUPT'), 'either', 'rejected'],
  [rejected(422, 'DOCUMENT_CORRUPT'), 'text', 'failed'],
  [rejected(422, 'DOCUMENT_CORRUPT'), 'textOrEmpty', 'failed'],
  [rejected(422, 'DOCUMENT_CORRUPT'), 'encrypted', 'failed'],
  [rejected(422, 'DOCUMENT_ENCRYPTED'), 'encrypted', 'rejected'],
  [rejected(400, 'BAD_REQUEST'), 'rejected', 'rejected'],
  [rejected(408, 'REQUEST_TIMEOUT'), 'either', 'failed'],
  [rejected(500, 'UNKNOWN_ERROR'), 'either', 'failed'],
  [answer(422, { error: 'no code' }), 'either', 'failed'],
  [answer(200, { success: true, data: { markdown: 'no metadata' } }), 'text', 'failed'],
];

for (const [given, outcome, kind] of CHECKS)
  test(`reports ${kind} for a ${given.status} ${given.text.slice(0, 60)} when ${outcome} is expected`, () => {
    assert.equal(checkAnswer(given, { outcome, forbid: ['secret'] }).kind, kind);
  });

test('reads expectations from expect.jsonl and list.json, and expects text without them', () => {
  for (const name of ['office/files', 'pdf/pdf', 'plain/pdf', 'plain/truth'])
    mkdirSync(join(folder, name), { recursive: true });
  const line = (file: string, kind: string, expect: string) =>
    JSON.stringify({ file, class: kind, expect, forbid: [] });
  writeFileSync(
    join(folder, 'office/expect.jsonl'),
    [line('a.doc', 'encrypted', 'error'), line('b.csv', 'csv', 'markdown'), line('c.xls', 'corrupt', 'error')].join(
      '\n',
    ),
  );
  const item = (name: string, poppler_opens: boolean, encrypted: boolean) => ({ name, poppler_opens, encrypted });
  writeFileSync(
    join(folder, 'pdf/list.json'),
    JSON.stringify([item('a.pdf', true, true), item('b.pdf', false, true), item('c.pdf', false, false)]),
  );
  const outcome = (path: string) => expectationOf(join(folder, path)).outcome;
  assert.deepEqual(
    ['a.doc', 'b.csv', 'c.xls'].map((name) => outcome(`office/files/${name}`)),
    ['encrypted', 'text', 'rejected'],
  );
  assert.deepEqual(
    ['a.pdf', 'b.pdf', 'c.pdf'].map((name) => outcome(`pdf/pdf/${name}`)),
    ['textOrEmpty', 'encrypted', 'either'],
  );
  assert.equal(outcome('plain/pdf/x.pdf'), 'text');
});

test('lists files with known extensions only, and no files of truth folders', () => {
  mkdirSync(join(folder, 'inputs/truth'), { recursive: true });
  for (const name of ['b.PDF', 'a.docx', 'scan.tif', 'notes.xyz', 'truth/a.html'])
    writeFileSync(join(folder, 'inputs', name), '');
  assert.deepEqual(
    listInputs(join(folder, 'inputs')),
    ['a.docx', 'b.PDF', 'scan.tif'].map((name) => join(folder, 'inputs', name)),
  );
  assert.deepEqual([quantile([1, 2, 3, 4], 0.5), quantile([1], 0.95), quantile([], 0.5)], [3, 1, 0]);
});
