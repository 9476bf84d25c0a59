// Tests that a trace covers a request from the client to each OCR page, and that requests work without tracing and without a collector.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, successData } from '../harness/client.ts';
import { repeatedScan } from '../harness/documents/scans.ts';
import { csv } from '../harness/documents.ts';
import { freePort } from '../harness/ports.ts';
import { type Product, skipReason, startProduct, TRANSPORTS } from '../harness/product.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';

const CLIENT_SPAN = '00f067aa0ba902b7';
const traceOf = (digit: string): string => digit.repeat(32);
const traceparent = (traceId: string, flags = '01'): Record<string, string> => ({
  traceparent: `00-${traceId}-${CLIENT_SPAN}-${flags}`,
});
const SMALL = { file: csv(), fileName: 'boats.csv' };
const LOG_LOADS = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('./log-opentelemetry-loads.ts', import.meta.url))}`,
};

async function waitFor(what: string, condition: () => boolean): Promise<void> {
  const limit = Date.now() + 300_000;
  while (!condition()) {
    if (Date.now() > limit) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Names of a span and its ancestors, up to the id of the client's span. */
function spanPath(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentId);
  return [`${span.service}: ${span.name}`, ...(parent ? spanPath(parent, spans) : [`(${span.parentId})`])];
}

for (const transport of TRANSPORTS)
  describe(`traces over ${transport}`, { skip: skipReason(transport) }, () => {
    let receiver: OtlpReceiver;
    let product: Product;
    const service = (name: string) => (transport === 'nats' ? `parsemesh-${name}` : 'parsemesh');

    before(async () => {
      receiver = await startOtlpReceiver();
      product = await startProduct({
        transport,
        services: ['gateway', 'pdf', 'ocr', 'csv', 'pii'],
        env: {
          OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
          OTEL_BSP_SCHEDULE_DELAY: '50',
          OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=harbour',
          LOG_LEVEL: 'info',
        },
      });
    });
    after(async () => {
      await product?.stop();
      await receiver?.close();
    });

    test('one trace has the spans of the client, of every service and of each OCR page', async () => {
      const traceId = traceOf('a');
      const answer = await parse(product, {
        file: await repeatedScan(2),
        fileName: 'secret-heron-report.pdf',
        options: { redactPII: { mode: 'fast' }, zeroDataRetention: false },
        headers: { ...traceparent(traceId), 'x-request-id': 'traced-request' },
      });
      assert.match(successData(answer).markdown ?? '', /\w{4}/);
      const ofTrace = () => receiver.spans.filter((span) => span.traceId === traceId);
      await waitFor('the span of the request', () => ofTrace().some(({ kind }) => kind === 2));
      await waitFor('the spans of all jobs', () => ofTrace().filter(({ kind }) => kind === 5).length === 4);
      const spans = ofTrace();
      const paths = spans.map((span) => spanPath(span, spans).join(' < ')).sort();
      const request = `${service('gateway')}: POST /v2/parse < (${CLIENT_SPAN})`;
      const pdf = `${service('pdf')}: process pdf < ${service('gateway')}: send pdf < ${request}`;
      const page = `${service('pdf')}: send ocr < ${pdf}`;
      assert.deepEqual(
        paths,
        [
          request,
          `${service('gateway')}: receive upload < ${request}`,
          `${service('gateway')}: wait for slot < ${request}`,
          `${service('gateway')}: send pdf < ${request}`,
          pdf,
          page,
          page,
          `${service('ocr')}: process ocr < ${page}`,
          `${service('ocr')}: process ocr < ${page}`,
          `${service('gateway')}: send pii < ${request}`,
          `${service('pii')}: process pii < ${service('gateway')}: send pii < ${request}`,
        ].sort(),
      );
      const pages = spans.filter(({ name }) => name === 'process ocr');
      assert.deepEqual(pages.map(({ attributes }) => attributes['parsemesh.page']).sort(), [1, 2]);
      const root = spans.find(({ kind }) => kind === 2);
      assert.equal(root?.attributes['http.response.status_code'], 200);
      assert.equal(root?.attributes['http.route'], '/v2/parse');
      assert.equal(root?.attributes['parsemesh.request_id'], 'traced-request');
      assert.equal(spans.find(({ name }) => name === 'process pdf')?.attributes['parsemesh.format'], 'pdf');
      for (const span of spans) {
        assert.equal(span.status, 0, `${span.name} must not be an error`);
        assert.ok(span.start > 0n && span.end >= span.start, `${span.name} must have start and end times`);
      }
    });

    test('log lines contain the trace id and the span id', async () => {
      const traceId = traceOf('b');
      successData(await parse(product, { ...SMALL, headers: traceparent(traceId) }));
      await waitFor('the log line', () => product.output().includes(`"trace_id":"${traceId}"`));
      const line = product
        .output()
        .split('\n')
        .find((one) => one.includes(traceId));
      assert.match(JSON.parse(line ?? '{}').span_id, /^[0-9a-f]{16}$/);
    });

    test('a 401 has a span with its error code and without the error status', async () => {
      const traceId = traceOf('c');
      await parse(product, { ...SMALL, key: 'fc-unknown', headers: traceparent(traceId) });
      await waitFor('the span of the request', () => receiver.spans.some((span) => span.traceId === traceId));
      const span = receiver.spans.find((one) => one.traceId === traceId);
      assert.equal(span?.attributes['parsemesh.code'], 'UNAUTHORIZED');
      assert.equal(span?.status, 0);
    });

    test('no service records spans when the client disables sampling', async () => {
      const [notSampled, sampled] = [traceOf('d'), traceOf('e')];
      successData(await parse(product, { ...SMALL, headers: traceparent(notSampled, '00') }));
      successData(await parse(product, { ...SMALL, headers: traceparent(sampled) }));
      await waitFor('the spans of the later request', () => {
        const spans = receiver.spans.filter(({ traceId }) => traceId === sampled);
        return spans.some(({ kind }) => kind === 2) && spans.some(({ kind }) => kind === 5);
      });
      assert.deepEqual(
        receiver.spans.filter(({ traceId }) => traceId === notSampled),
        [],
      );
    });

    const HOSTILE: readonly Record<string, string>[] = [
      { traceparent: 'garbage' },
      { traceparent: `00-${'0'.repeat(32)}-${CLIENT_SPAN}-01` },
      { traceparent: `00-${traceOf('F')}-${CLIENT_SPAN}-01` },
      { ...traceparent(traceOf('9')), tracestate: 'a=1,'.repeat(2_000) },
      { ...traceparent(traceOf('8'), 'ff'), tracestate: '=,=;\u00e9' },
    ];
    for (const [index, headers] of HOSTILE.entries())
      test(`a request with invalid trace header ${index + 1} is parsed and has a span`, async () => {
        successData(await parse(product, { ...SMALL, headers: { ...headers, 'x-request-id': `hostile-${index}` } }));
        await waitFor('the span of the request', () =>
          receiver.spans.some(
            ({ kind, attributes }) => kind === 5 && attributes['parsemesh.request_id'] === `hostile-${index}`,
          ),
        );
      });

    test('no span contains a file name, a key or document content', async () => {
      const sent = Buffer.concat(receiver.bodies).toString('latin1');
      assert.match(sent, /process pdf/);
      assert.match(sent, /harbour/, 'resource attributes must be sent');
      for (const secret of ['heron-report', 'boats', 'Petrel', product.key, 'Bearer'])
        assert.ok(!sent.includes(secret), `${secret} was sent`);
    });
  });

const BROKEN_COLLECTORS: Readonly<Record<string, () => Promise<{ url: string; close(): void }>>> = {
  'does not listen': async () => ({ url: `http://127.0.0.1:${await freePort()}`, close: () => undefined }),
  'never responds': async () => {
    const sockets = new Set<{ destroy(): void }>();
    const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return {
      url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
      close: () => {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    };
  },
};
for (const [problem, open] of Object.entries(BROKEN_COLLECTORS))
  test(`requests succeed and the process exits with 0 when the collector ${problem}`, async () => {
    const collector = await open();
    const env = {
      ...LOG_LOADS,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '10',
      OTEL_BSP_MAX_QUEUE_SIZE: '4',
    };
    const product = await startProduct({ transport: 'memory', env });
    try {
      for (let count = 0; count < 5; count++) successData(await parse(product, SMALL));
      assert.match(product.output(), /loaded file:.*exporter-trace-otlp-proto/);
      assert.deepEqual(
        (await product.stop()).map(({ code }) => code),
        [0],
      );
    } finally {
      await product.stop();
      collector.close();
    }
  });

const DISABLED: Readonly<Record<string, (url: string) => Record<string, string>>> = {
  'no variable enables traces': () => ({ OTEL_SERVICE_NAME: 'harbour' }),
  'the SDK is disabled': (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: 'true' }),
  'the exporter is none': (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_EXPORTER: 'none' }),
};
for (const [condition, env] of Object.entries(DISABLED))
  test(`loads no exporter and sends no spans when ${condition}`, async () => {
    const receiver = await startOtlpReceiver();
    const product = await startProduct({
      transport: 'memory',
      env: { ...LOG_LOADS, LOG_LEVEL: 'info', ...env(receiver.url) },
    });
    try {
      successData(await parse(product, { ...SMALL, headers: traceparent(traceOf('7')) }));
      await product.stop();
      assert.match(product.output(), /"route":"\/v2\/parse"/);
      // prom-client loads @opentelemetry/api for its exemplars.
      assert.doesNotMatch(product.output(), /@opentelemetry\/(?!api\/)|trace_id/);
      assert.equal(receiver.bodies.length, 0);
    } finally {
      await product.stop();
      await receiver.close();
    }
  });
