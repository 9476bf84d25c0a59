// Checks the names of metrics, and that no request can create new label values, because each value is a series that Prometheus stores.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { codeLabel, formatLabel, METRICS, methodLabel, queueLabel } from '#shared/runtime/metrics.ts';
import { parse, send } from '../harness/client.ts';
import { csv, html } from '../harness/documents.ts';
import { type Product, startProduct } from '../harness/product.ts';
import { familyOf, type Sample, scrape } from './metrics-text.ts';

const known = new Map(METRICS.map((metric) => [metric.name, metric]));
let product: Product;
before(async () => {
  product = await startProduct({ transport: 'memory', env: { LOG_LEVEL: 'silent' } });
});
after(() => product?.stop());

/** Describes a name, label or value of a sample that is not in METRICS, or returns undefined. */
function findUndocumented({ name, labels }: Sample): string | undefined {
  const metric = known.get(name) ?? known.get(familyOf(name));
  if (!metric) return `${name} is not documented`;
  for (const [label, value] of Object.entries(labels)) {
    if (label === 'le' && metric.type === 'histogram') continue;
    if (!Object.hasOwn(metric.labels, label)) return `${name} has a label ${label}`;
    if (metric.labels[label]?.includes(value) === false) return `${name} has ${label}="${value}"`;
  }
  return undefined;
}

const scrapeOwnMetrics = async () => (await scrape(product.opsUrl)).filter(({ name }) => name.startsWith('parsemesh_'));
const seriesOf = (samples: readonly Sample[]) => samples.map(({ name, labels }) => `${name}${JSON.stringify(labels)}`);

function sendRawBytes(text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1', () => socket.write(text));
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.once('close', () => resolve());
  });
}

/** Sends requests with `word` in every field that a client can choose. */
async function sendHostileRequests(word: string): Promise<void> {
  const file = csv();
  await send(product, { path: `/${word}`, method: 'GET' });
  await send(product, { path: `/v2/parse/${word}?${word}=1`, method: 'GET' });
  await send(product, { path: '/v2/parse/', method: 'GET' });
  await send(product, { path: '/v2/parse', method: 'PROPFIND' });
  await send(product, { path: `/docs/${word}`, method: 'M-SEARCH' });
  await send(product, { path: '/metrics', method: 'DELETE' });
  await send(product, { path: '/v2/parse', key: word, headers: { 'x-request-id': word, origin: word } });
  await parse(product, { file, fileName: `a.${word}` });
  await parse(product, { file: html(), fileName: `${word}.pdf` });
  await parse(product, { file, fileName: 'a.csv', options: { formats: [word] } });
  await parse(product, { file, fileName: 'a.csv', options: { auditUsername: word, origin: word } });
  await sendRawBytes(`${word} / HTTP/1.1\r\nHost: x\r\n\r\n`);
  await sendRawBytes(`GET / HTTP/1.1\r\nConnection: close\r\nX: ${word}\r\n\r\n`);
  await sendRawBytes(`\u0000${word}\r\n\r\n`);
}

test('hostile requests create only documented label values, and no series after the first round', async () => {
  // The first scrape is counted in the second one.
  await scrapeOwnMetrics();
  await sendHostileRequests('heron');
  const first = await scrapeOwnMetrics();
  assert.deepEqual(
    first.flatMap((sample) => findUndocumented(sample) ?? []),
    [],
  );
  for (const word of ['petrel', 'x'.repeat(200), '%00%ff', '__proto__', 'route', 'constructor'])
    await sendHostileRequests(word);
  const second = await scrapeOwnMetrics();
  assert.deepEqual(
    second.flatMap((sample) => findUndocumented(sample) ?? []),
    [],
  );
  // Gauges may appear later. Series that count requests must not.
  const requests = (samples: readonly Sample[]) =>
    seriesOf(samples.filter(({ name }) => /^parsemesh_(http|limit|credits|conversions|jobs)_/.test(name))).sort();
  assert.deepEqual(requests(second), requests(first));
  const count = (samples: readonly Sample[]) =>
    samples
      .filter(({ name, labels }) => name === 'parsemesh_http_requests_total' && labels.route === 'other')
      .reduce((sum, { value }) => sum + value, 0);
  assert.equal(
    count(second),
    7 * (count(first) || Number.NaN),
    'requests to unknown routes must be counted as "other"',
  );
});

test('a process with all services exposes every documented metric', async () => {
  await parse(product, { file: csv(), fileName: 'a.csv', options: { redactPII: true } });
  const exposed = new Set((await scrapeOwnMetrics()).flatMap(({ name }) => [name, familyOf(name)]));
  const missing = METRICS.filter(({ name }) => !exposed.has(name)).map(({ name }) => name);
  assert.deepEqual(missing, []);
});

test('label values from an isolated process are replaced by a default when they are unknown', () => {
  assert.equal(codeLabel('DOCUMENT_CORRUPT'), 'DOCUMENT_CORRUPT');
  assert.equal(codeLabel('evil"} 1\nfake 2'), 'UNKNOWN_ERROR');
  assert.equal(queueLabel('toString'), 'other');
  assert.equal(formatLabel('.docx'), 'docx');
  assert.equal(formatLabel('.evil'), 'other');
  assert.equal(methodLabel('constructor'), 'other');
});

for (const { name, type, help, labels } of METRICS)
  test(`${name} follows the naming conventions of Prometheus`, () => {
    assert.match(name, /^parsemesh_[a-z]+(_[a-z]+)+$/);
    assert.equal(name.endsWith('_total'), type === 'counter', 'only counters end in _total');
    assert.doesNotMatch(name, /_(ms|milliseconds|minutes|kb|mb|mib|percent)(_|$)/, 'units must be base units');
    if (type === 'histogram') assert.match(name, /_seconds$/);
    assert.ok(help.length > 10);
    for (const [label, values] of Object.entries(labels)) {
      assert.match(label, /^[a-z_]+$/);
      assert.ok(values === undefined || (values.length > 1 && new Set(values).size === values.length));
    }
  });
