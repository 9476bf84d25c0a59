// Checks the types of a successful response: JSON, Markdown alone, and an event stream (docs/api.md, "Response type" and "Event stream").
import assert from 'node:assert/strict';
import { type Answer, errorBody, parse, successData } from '../harness/client.ts';
import { repeatedScan } from '../harness/documents/scans.ts';
import { html, pdf } from '../harness/documents.ts';
import { collectEvents, openEvents } from '../harness/events.ts';
import type { Product } from '../harness/product.ts';
import { type ContractCase, htmlPage, SMALL_CSV } from './contract-case.ts';

const REPORT = { file: html(), fileName: 'report.html' };
const send = (product: Product, accept: string | undefined, request: object = {}): Promise<Answer> =>
  parse(product, { ...REPORT, ...request, headers: accept === undefined ? {} : { accept } });
const typeOf = ({ headers }: Answer): string | undefined => headers['content-type']?.split(';', 1)[0];

/** `Accept` headers by the type of the response. */
const TYPES: Readonly<Record<string, readonly (string | undefined)[]>> = {
  'application/json': [
    undefined,
    '*/*',
    'application/json',
    'application/json, text/plain, */*',
    'application/json, text/markdown',
    'application/json, text/event-stream',
    'text/markdown;q=0.5, application/json',
    'text/markdown;q=0, */*',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'image/png',
    'not a media type',
    `text/markdown${', a/b'.repeat(1_000)}`,
    '',
  ],
  'text/markdown': [
    'text/markdown',
    'TEXT/Markdown',
    'text/markdown, application/json',
    'text/markdown, */*;q=0.1',
    'application/json;q=0.5, text/markdown',
    'text/plain, text/markdown',
  ],
  'text/event-stream': ['text/event-stream', 'text/event-stream, application/json;q=0.9'],
};

export const cases: ContractCase[] = [
  {
    name: '`Accept` chooses JSON, Markdown or events by its q values; JSON if it allows none of them',
    run: async (product) => {
      for (const [type, headers] of Object.entries(TYPES))
        for (const accept of headers) assert.equal(typeOf(await send(product, accept)), type, String(accept));
    },
  },
  {
    name: '`Accept: text/markdown` returns `data.markdown` as the body',
    run: async (product) => {
      for (const request of [
        REPORT,
        {
          file: await pdf([{ title: 'Harbour', lines: ['The lighthouse keeper'] }, { lines: ['seventeen herons'] }]),
          fileName: 'a.pdf',
          options: { parsers: [{ type: 'pdf', pages: true, blocks: true }] },
        },
        htmlPage('<main><p>“ü” \\ &quot;x&quot; 🦅</p></main>'),
      ]) {
        const { markdown } = successData(await send(product, 'application/json', request));
        const answer = await send(product, 'text/markdown', request);
        assert.equal(answer.status, 200);
        assert.equal(answer.headers['content-type'], 'text/markdown; charset=utf-8');
        assert.equal(answer.text, markdown);
        assert.ok(markdown && markdown.length > 10);
        assert.ok(answer.headers['x-request-id']);
      }
    },
  },
  {
    name: 'a Markdown response has its warnings in the header `X-Warning`',
    run: async (product) => {
      const request = { options: { formats: ['markdown', 'summary'] } };
      const { warning } = successData(await send(product, 'application/json', request));
      const answer = await send(product, 'text/markdown', request);
      assert.match(String(answer.headers['x-warning']), /^[\x20-\x7e]{10,}$/);
      assert.equal(answer.headers['x-warning'], warning);
      assert.equal((await send(product, 'text/markdown')).headers['x-warning'], undefined);
    },
  },
  {
    name: '`Accept: text/markdown` returns 400 if `formats` has no `markdown`, and errors are JSON',
    run: async (product) => {
      const answer = await send(product, 'text/markdown', { options: { formats: ['html'] } });
      assert.match(errorBody(answer, 400, 'BAD_REQUEST').error, /text\/markdown.*`formats`/);
      successData(await send(product, 'application/json', { options: { formats: ['html'] } }));
      errorBody(await send(product, 'text/markdown', { key: 'unknown' }), 401, 'UNAUTHORIZED');
    },
  },
  {
    name: '`Server-Timing` has the milliseconds of each stage that ran',
    run: async (product) => {
      const names = (answer: Answer) => String(answer.headers['server-timing']).replace(/;dur=[\d.]+/g, '');
      for (const accept of ['application/json', 'text/markdown'])
        assert.equal(names(await send(product, accept)), 'receive, queue, convert', accept);
      const all = await send(product, undefined, { options: { formats: ['summary'], redactPII: true } });
      assert.equal(names(all), 'receive, queue, convert, redact, enrich');
      assert.match(String(all.headers['server-timing']), /^(?:[a-z]+;dur=\d+(?:\.\d)?(?:, |$)){5}/);
    },
  },
  {
    name: 'an event stream shows the stages, then the timings and the JSON response as its last event',
    run: async (product) => {
      const request = { ...REPORT, options: { formats: ['markdown', 'links', 'summary'], redactPII: true } };
      const { progress, timings, result } = await collectEvents(await openEvents(product, request));
      assert.deepEqual([...new Set(progress.map(({ stage }) => stage))], ['queue', 'convert', 'redact', 'enrich']);
      assert.deepEqual(Object.keys(timings ?? {}), ['receive', 'queue', 'convert', 'redact', 'enrich']);
      const ordinary = await send(product, 'application/json', request);
      const withoutId = (text = '') => text.replace(/"requestId":"[^"]+"/, '');
      assert.equal(withoutId(result), withoutId(ordinary.text));
      successData({ ...ordinary, body: JSON.parse(result ?? '') });
    },
  },
  {
    name: 'an event stream shows how many pages of a scan are read',
    run: async (product) => {
      const pages = 6;
      const { progress, result } = await collectEvents(
        await openEvents(product, { file: await repeatedScan(pages), fileName: 'scan.pdf' }),
      );
      const counted = progress.filter((event) => event.pages !== undefined);
      assert.deepEqual([...new Set(counted.map((event) => event.pages))], [pages]);
      assert.ok(counted.some(({ stage }) => stage === 'ocr'));
      const done = counted.map(({ pagesDone = -1 }) => pagesDone);
      assert.deepEqual(
        done,
        done.toSorted((a, b) => a - b),
      );
      assert.ok(done.every((count) => count >= 0 && count <= pages));
      assert.equal(JSON.parse(result ?? '').data.metadata.numPages, pages);
    },
  },
  {
    name: 'an error after the first event is an event; an error before it is an ordinary response',
    run: async (product) => {
      const encrypted = await openEvents(product, { file: '%PDF-1.7\nnot a PDF', fileName: 'broken.pdf' });
      const { error } = await collectEvents(encrypted);
      assert.deepEqual([error?.status, error?.code], [422, 'DOCUMENT_CORRUPT']);
      errorBody(await send(product, 'text/event-stream', { options: { formats: ['x'] } }), 400, 'BAD_REQUEST');
      errorBody(await send(product, 'text/event-stream', { ...SMALL_CSV, file: '' }), 400, 'BAD_REQUEST');
    },
  },
];
