// Measures the CPU time and the peak memory of all processes of the product for one large document.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LONGEST_TIMEOUT_MS, multipart } from '../../harness/client.ts';
import type { Input } from '../inputs.ts';
import { largeCsv, largeRtf, largeWorkbook } from '../large-documents.ts';
import { type ProductSubject, productSubject, withSubject } from '../subject.ts';
import type { Figures, Suite } from '../suite.ts';
import { type Cell, MiB, printTable } from '../table.ts';
import { peakGrowth } from '../tree-memory.ts';

/** CPU ms of one second in which a product counts as idle. */
const IDLE_MS = 50;
/** Longest wait for an idle product. */
const SETTLE_SECONDS = 30;

interface Case {
  name: string;
  input: () => Input;
  options?: Record<string, unknown>;
  /** Takes minutes. */
  slow?: true;
}

const CASES: readonly Case[] = [
  { name: 'CSV 50 MB', input: largeCsv },
  { name: 'CSV 50 MB, 4 formats', input: largeCsv, options: { formats: ['markdown', 'html', 'rawHtml', 'links'] } },
  { name: 'CSV 50 MB, summary', input: largeCsv, options: { formats: ['markdown', 'summary'] } },
  { name: 'xlsx 1e6 rows', input: () => largeWorkbook('few') },
  { name: 'xlsx 1e6 rows, unique texts', input: () => largeWorkbook('unique') },
  {
    name: 'xlsx 1e6 rows, 2 formats',
    input: () => largeWorkbook('few'),
    options: { formats: ['markdown', 'html'] },
  },
  { name: 'RTF 46 MB', input: largeRtf, slow: true },
  { name: 'CSV 50 MB, redacted', input: largeCsv, options: { redactPII: { mode: 'fast' } }, slow: true },
];

/** Sends one document and reads the response without keeping it, so that this process does not delay the samples. */
function post(
  { product }: ProductSubject,
  { name, bytes }: Input,
  options: Record<string, unknown>,
): Promise<{ status: number; bytes: number }> {
  const { body, contentType } = multipart([
    { name: 'options', body: JSON.stringify({ timeout: LONGEST_TIMEOUT_MS, ...options }) },
    { name: 'file', body: bytes, fileName: name },
  ]);
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${product.key}`,
      'content-type': contentType,
      'content-length': body.length,
    };
    const sent = request(`${product.url}/v2/parse`, { method: 'POST', headers, agent: false }, (response) => {
      let received = 0;
      response.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: received }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Waits until the processes that start after the product is ready use little CPU time. */
async function untilIdle(subject: ProductSubject): Promise<void> {
  for (let second = 0; second < SETTLE_SECONDS; second++) {
    const before = subject.cpuMs();
    await sleep(1_000);
    if (subject.cpuMs() - before <= IDLE_MS) return;
  }
}

export const memory: Suite = async ({ large, only }) => {
  const rows: Cell[][] = [];
  const figures: Figures = {};
  for (const { name, input, options = {}, slow } of CASES) {
    if ((slow && !large) || !name.includes(only)) continue;
    const document = input();
    for (const transport of ['memory', 'nats'] as const)
      await withSubject(productSubject(transport), async (subject) => {
        await untilIdle(subject);
        const cpuBefore = subject.cpuMs();
        const started = Date.now();
        let answer = { status: 0, bytes: 0 };
        const { resident, proportional } = await peakGrowth(
          () => subject.pids(),
          async () => {
            answer = await post(subject, document, options);
          },
        );
        const seconds = (Date.now() - started) / 1_000;
        const cpuSeconds = (subject.cpuMs() - cpuBefore) / 1_000;
        const row = [cpuSeconds, proportional / MiB, resident / MiB, document.bytes.length / MiB, answer.bytes / MiB];
        rows.push([`${name}, ${subject.name}`, answer.status, ...row, seconds]);
        figures[`${name}, ${subject.name}`] = {
          status: answer.status,
          cpuSeconds,
          proportionalMiB: proportional / MiB,
          residentMiB: resident / MiB,
          responseMiB: answer.bytes / MiB,
          seconds,
        };
      });
  }
  printTable(
    'One large document: CPU of all processes, and the peak of their memory above the idle product',
    ['document', 'status', 'CPU s', 'PSS MiB', 'RSS MiB', 'file MiB', 'response MiB', 'elapsed s'],
    rows,
  );
  return figures;
};
