// Holds the trace of a request together from the client over the bus to the OCR page, and holds that nothing is loaded, sent or lost where traces are off or their collector is away.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, successData } from '../harness/client.ts';
import { csv, imagePdf } from '../harness/documents.ts';
import { freePort, type Product, skipReason, startProduct, TRANSPORTS } from '../harness/product.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';

const CLIENT_SPAN = '00f067aa0ba902b7';
const traceOf = (digit: string): string => digit.repeat(32);
const traceparent = (traceId: string, flags = '01'): Record<string, string> => ({
  traceparent: `00-${traceId}-${CLIENT_SPAN}-${flags}`,
});
const SMALL = { file: csv(), fileName: 'boats.csv' };
const LOADED = { NODE_OPTIONS: `--import=${fileURLToPath(new URL('./log-loading.ts', import.meta.url))}` };

async function until(what: string, holds: () => boolean): Promise<void> {
  const limit = Date.now() + 30_000;
  while (!holds()) {
    if (Date.now() > limit) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The way from a span up to the first that came from outside, by name. */
function wayUp(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentId);
  return [`${span.service}: ${span.name}`, ...(parent ? wayUp(parent, spans) : [`(${span.parentId})`])];
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

    test('one trace leads from the client over every service to each page that OCR reads', async () => {
      const png = await readFile(new URL('../../fixtures/pdf/scanned-page.png', import.meta.url));
      const traceId = traceOf('a');
      const answer = await parse(product, {
        file: await imagePdf([png, png]),
        fileName: 'secret-heron-report.pdf',
        options: { redactPII: { mode: 'fast' }, zeroDataRetention: false },
        headers: { ...traceparent(traceId), 'x-request-id': 'the-traced-one' },
      });
      assert.match(successData(answer).markdown ?? '', /\w{4}/);
      const ofTrace = () => receiver.spans.filter((span) => span.traceId === traceId);
      await until('the request itself', () => ofTrace().some(({ kind }) => kind === 2));
      await until('every job', () => ofTrace().filter(({ kind }) => kind === 5).length === 4);
      const spans = ofTrace();
      const ways = spans.map((span) => wayUp(span, spans).join(' < ')).sort();
      const request = `${service('gateway')}: POST /v2/parse < (${CLIENT_SPAN})`;
      const pdf = `${service('pdf')}: process pdf < ${service('gateway')}: send pdf < ${request}`;
      const page = `${service('pdf')}: send ocr < ${pdf}`;
      assert.deepEqual(
        ways,
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
      assert.equal(root?.attributes['parsemesh.request_id'], 'the-traced-one');
      assert.equal(spans.find(({ name }) => name === 'process pdf')?.attributes['parsemesh.format'], 'pdf');
      for (const span of spans) {
        assert.equal(span.status, 0, `${span.name} is no error`);
        assert.ok(span.start > 0n && span.end >= span.start, `${span.name} has its times`);
      }
    });

    test('log lines carry the ids of the trace', async () => {
      const traceId = traceOf('b');
      successData(await parse(product, { ...SMALL, headers: traceparent(traceId) }));
      await until('the line', () => product.output().includes(`"trace_id":"${traceId}"`));
      const line = product
        .output()
        .split('\n')
        .find((one) => one.includes(traceId));
      assert.match(JSON.parse(line ?? '{}').span_id, /^[0-9a-f]{16}$/);
    });

    test('a refusal is a trace of its own with its code and no error of ours', async () => {
      const traceId = traceOf('c');
      await parse(product, { ...SMALL, key: 'fc-nobody', headers: traceparent(traceId) });
      await until('its span', () => receiver.spans.some((span) => span.traceId === traceId));
      const span = receiver.spans.find((one) => one.traceId === traceId);
      assert.equal(span?.attributes['parsemesh.code'], 'UNAUTHORIZED');
      assert.equal(span?.status, 0);
    });

    test("the client's word not to record a trace is kept in every service", async () => {
      const [silent, loud] = [traceOf('d'), traceOf('e')];
      successData(await parse(product, { ...SMALL, headers: traceparent(silent, '00') }));
      successData(await parse(product, { ...SMALL, headers: traceparent(loud) }));
      await until('what came after', () => {
        const spans = receiver.spans.filter(({ traceId }) => traceId === loud);
        return spans.some(({ kind }) => kind === 2) && spans.some(({ kind }) => kind === 5);
      });
      assert.deepEqual(
        receiver.spans.filter(({ traceId }) => traceId === silent),
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
      test(`a hostile trace header is no reason to refuse a request (${index + 1})`, async () => {
        successData(await parse(product, { ...SMALL, headers: { ...headers, 'x-request-id': `hostile-${index}` } }));
        await until('its trace', () =>
          receiver.spans.some(
            ({ kind, attributes }) => kind === 5 && attributes['parsemesh.request_id'] === `hostile-${index}`,
          ),
        );
      });

    test('no span holds a file name, a key or a word of a document', async () => {
      const sent = Buffer.concat(receiver.bodies).toString('latin1');
      assert.match(sent, /process pdf/);
      assert.match(sent, /harbour/, 'resource attributes are sent');
      for (const secret of ['heron-report', 'boats', 'Petrel', product.key, 'Bearer'])
        assert.ok(!sent.includes(secret), `${secret} was sent`);
    });
  });

const AWAY: Readonly<Record<string, () => Promise<{ url: string; close(): void }>>> = {
  'is not there': async () => ({ url: `http://127.0.0.1:${await freePort()}`, close: () => undefined }),
  'never answers': async () => {
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
for (const [how, open] of Object.entries(AWAY))
  test(`a collector that ${how} costs no request and no clean end`, async () => {
    const collector = await open();
    const env = {
      ...LOADED,
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

const OFF: Readonly<Record<string, (url: string) => Record<string, string>>> = {
  'where no variable asks for them': () => ({ OTEL_SERVICE_NAME: 'harbour' }),
  'where the SDK is disabled': (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: 'true' }),
  'where the exporter is none': (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_EXPORTER: 'none' }),
};
for (const [where, env] of Object.entries(OFF))
  test(`nothing is loaded and nothing sent ${where}`, async () => {
    const receiver = await startOtlpReceiver();
    const product = await startProduct({
      transport: 'memory',
      env: { ...LOADED, LOG_LEVEL: 'info', ...env(receiver.url) },
    });
    try {
      successData(await parse(product, { ...SMALL, headers: traceparent(traceOf('7')) }));
      await product.stop();
      assert.match(product.output(), /"route":"\/v2\/parse"/);
      // prom-client, which shares the room, loads the bare interface for its exemplars.
      assert.doesNotMatch(product.output(), /@opentelemetry\/(?!api\/)|trace_id/);
      assert.equal(receiver.bodies.length, 0);
    } finally {
      await product.stop();
      await receiver.close();
    }
  });
