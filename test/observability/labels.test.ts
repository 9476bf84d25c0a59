// Holds the metrics to their conventions and their labels to closed sets, whatever a client sends: a series for each word of a stranger would end Prometheus.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { codeLabel, formatLabel, METRICS, methodLabel, queueLabel } from '#shared/runtime/metrics.ts';
import { parse, send } from '../harness/client.ts';
import { csv, html } from '../harness/documents.ts';
import { type Product, startProduct } from '../harness/product.ts';
import { familyOf, type Sample, scrape } from './exposition.ts';

const known = new Map(METRICS.map((metric) => [metric.name, metric]));
let product: Product;
before(async () => {
  product = await startProduct({ transport: 'memory', env: { LOG_LEVEL: 'silent' } });
});
after(() => product?.stop());

/** What a sample has that no page of the documentation tells of. */
function faultOf({ name, labels }: Sample): string | undefined {
  const metric = known.get(name) ?? known.get(familyOf(name));
  if (!metric) return `${name} is not described`;
  for (const [label, value] of Object.entries(labels)) {
    if (label === 'le' && metric.type === 'histogram') continue;
    if (!Object.hasOwn(metric.labels, label)) return `${name} has a label ${label}`;
    if (metric.labels[label]?.includes(value) === false) return `${name} has ${label}="${value}"`;
  }
  return undefined;
}

const ours = async () => (await scrape(product.opsUrl)).filter(({ name }) => name.startsWith('parsemesh_'));
const shapeOf = (samples: readonly Sample[]) => samples.map(({ name, labels }) => `${name}${JSON.stringify(labels)}`);

function raw(text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1', () => socket.write(text));
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.once('close', () => resolve());
  });
}

/** One round of what strangers send; `word` is another in each. */
async function hostileRound(word: string): Promise<void> {
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
  await raw(`${word} / HTTP/1.1\r\nHost: x\r\n\r\n`);
  await raw(`GET / HTTP/1.1\r\nConnection: close\r\nX: ${word}\r\n\r\n`);
  await raw(`\u0000${word}\r\n\r\n`);
}

test('hostile requests make no series beyond the documented labels, and after the first round none at all', async () => {
  // A scrape counts itself from the second on.
  await ours();
  await hostileRound('heron');
  const first = await ours();
  assert.deepEqual(
    first.flatMap((sample) => faultOf(sample) ?? []),
    [],
  );
  for (const word of ['petrel', 'x'.repeat(200), '%00%ff', '__proto__', 'route', 'constructor'])
    await hostileRound(word);
  const second = await ours();
  assert.deepEqual(
    second.flatMap((sample) => faultOf(sample) ?? []),
    [],
  );
  // Gauges that are looked up may join a moment later; nothing that counts requests may.
  const requests = (samples: readonly Sample[]) =>
    shapeOf(samples.filter(({ name }) => /^parsemesh_(http|limit|credits|conversions|jobs)_/.test(name))).sort();
  assert.deepEqual(requests(second), requests(first));
  const count = (samples: readonly Sample[]) =>
    samples
      .filter(({ name, labels }) => name === 'parsemesh_http_requests_total' && labels.route === 'other')
      .reduce((sum, { value }) => sum + value, 0);
  assert.equal(count(second), 7 * (count(first) || Number.NaN), 'what strangers sent was counted, as other');
});

test('every described metric is shown by a process that has every service', async () => {
  await parse(product, { file: csv(), fileName: 'a.csv', options: { redactPII: true } });
  const shown = new Set((await ours()).flatMap(({ name }) => [name, familyOf(name)]));
  // Bare counters start at 0 and are there; histograms and outcomes come with their first observation.
  const missing = METRICS.filter(({ name }) => !shown.has(name)).map(({ name }) => name);
  assert.deepEqual(missing, []);
});

test('what an isolated process says is held to the known words', () => {
  assert.equal(codeLabel('DOCUMENT_CORRUPT'), 'DOCUMENT_CORRUPT');
  assert.equal(codeLabel('evil"} 1\nfake 2'), 'UNKNOWN_ERROR');
  assert.equal(queueLabel('toString'), 'other');
  assert.equal(formatLabel('.docx'), 'docx');
  assert.equal(formatLabel('.evil'), 'other');
  assert.equal(methodLabel('constructor'), 'other');
});

for (const { name, type, help, labels } of METRICS)
  test(`${name} keeps to the conventions`, () => {
    assert.match(name, /^parsemesh_[a-z]+(_[a-z]+)+$/);
    assert.equal(name.endsWith('_total'), type === 'counter', 'counters, and only they, end in _total');
    assert.doesNotMatch(name, /_(ms|milliseconds|minutes|kb|mb|mib|percent)(_|$)/, 'base units');
    if (type === 'histogram') assert.match(name, /_seconds$/);
    assert.ok(help.length > 10);
    for (const [label, values] of Object.entries(labels)) {
      assert.match(label, /^[a-z_]+$/);
      assert.ok(values === undefined || (values.length > 1 && new Set(values).size === values.length));
    }
  });
