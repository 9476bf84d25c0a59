// Measures how long a small PDF of one team takes while another team has hundreds of PDFs in the queue, over two gateways and a real NATS server.
import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Mesh } from '../../chaos/mesh.ts';
import { parse, send } from '../../harness/client.ts';
import { pdf } from '../../harness/documents.ts';
import { longPdf } from '../long-pdf.ts';
import { median } from '../measure.ts';
import type { Suite } from '../suite.ts';
import { type Cell, printTable } from '../table.ts';

const KEYS = fileURLToPath(new URL('../../../services/keys.ts', import.meta.url));
/** PDFs of the flood that are requested at the same time. */
const FLOOD_PDFS = 200;
const FLOOD_PAGES = 6;
const SMALL_REQUESTS = 40;
/** Pause between two small requests. */
const PAUSE_MS = 250;
const TIMEOUT_MS = 300_000;
/** The 95th percentile under the flood, as a multiple of the same figure without it. */
const TARGET_RATIO = 3;

interface Durations {
  p50: number;
  p95: number;
  longest: number;
}

interface Round {
  idle: Durations;
  flooded: Durations;
  /** PDFs of the flood per second while nobody else sends. */
  floodAlone: number;
  /** PDFs of the flood per second while the other team sends small PDFs. */
  floodBeside: number;
  /** Load average of the machine at the end: other work on the machine makes both figures worse, but not by the same factor. */
  load: number;
}

/** Sends files to the gateways of a mesh in turn. */
class Sender {
  readonly #urls: readonly string[];
  readonly #key: string;
  #count = 0;

  constructor(mesh: Mesh, key: string) {
    this.#urls = mesh.running('gateway').map(({ product }) => product.url);
    this.#key = key;
  }

  /** Sends one PDF and returns the milliseconds until its answer. @throws Error if the answer is not 200 */
  async send(file: Uint8Array): Promise<number> {
    const url = this.#urls[this.#count++ % this.#urls.length] ?? '';
    const start = performance.now();
    const { status, text } = await parse(
      { url, key: this.#key },
      { file, fileName: 'ledger.pdf', options: { timeout: TIMEOUT_MS }, clientTimeoutMs: TIMEOUT_MS + 10_000 },
    );
    if (status !== 200) throw new Error(`a request was answered with ${status}: ${text.slice(0, 300)}`);
    return performance.now() - start;
  }

  /** Waits until every gateway knows the key. */
  async untilAccepted(): Promise<void> {
    for (const url of this.#urls)
      while ((await send({ url, key: this.#key }, { method: 'GET', path: '/v2/parse/formats' })).status !== 200)
        await sleep(50);
  }
}

/** The durations of small PDFs that are sent one after the other. */
async function sendSmall(sender: Sender, file: Uint8Array): Promise<Durations> {
  const durations: number[] = [];
  for (let count = 0; count < SMALL_REQUESTS; count++) {
    durations.push(await sender.send(file));
    await sleep(PAUSE_MS);
  }
  const sorted = durations.sort((one, other) => one - other);
  const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
  return { p50: median(sorted), p95, longest: sorted.at(-1) ?? 0 };
}

/** Keeps `FLOOD_PDFS` PDFs in the product until `signal` fires. @returns the times of their answers */
function flood(sender: Sender, file: Uint8Array, signal: AbortSignal): { answers: number[]; done: Promise<void> } {
  const answers: number[] = [];
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await sender.send(file);
      answers.push(performance.now());
    }
  };
  return { answers, done: Promise.all(Array.from({ length: FLOOD_PDFS }, run)).then(() => undefined) };
}

/** Answers per second between two times. */
const rate = (answers: readonly number[], from: number, to: number): number =>
  (answers.filter((at) => at > from && at <= to).length * 1_000) / (to - from);

async function measureRound(
  mesh: Mesh,
  other: Sender,
  files: { small: Uint8Array; large: Uint8Array },
): Promise<Round> {
  const flooder = new Sender(mesh, mesh.key);
  for (let count = 0; count < 4; count++) await Promise.all([flooder.send(files.large), other.send(files.small)]);
  const idle = await sendSmall(other, files.small);
  const stop = new AbortController();
  const { answers, done } = flood(flooder, files.large, stop.signal);
  while (answers.length < 20) await sleep(50);
  const [start, before] = [performance.now(), answers.length];
  while (answers.length < before + 60) await sleep(50);
  const middle = performance.now();
  const flooded = await sendSmall(other, files.small);
  const end = performance.now();
  stop.abort();
  await done;
  return {
    idle,
    flooded,
    floodAlone: rate(answers, start, middle),
    floodBeside: rate(answers, middle, end),
    load: loadavg()[0] ?? 0,
  };
}

export const fairness: Suite = async ({ rounds }) => {
  const small = await pdf([{ title: 'Tide table', lines: ['High water at 04:12 and at 16:40.'] }]);
  const files = { small, large: (await longPdf(FLOOD_PAGES)).bytes };
  const mesh = await Mesh.start({ copies: { gateway: 2, pdf: 1 }, env: { LOG_LEVEL: 'warn' } });
  const results: Round[] = [];
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [KEYS, 'create', '--team', 'other', '--rate', '60000'],
      { env: { ...process.env, KEYS_FILE: join(mesh.folder, 'keys.json') } },
    );
    const other = new Sender(mesh, stdout.trim().split('\n').at(-1) ?? '');
    await other.untilAccepted();
    for (let round = 0; round < rounds; round++) results.push(await measureRound(mesh, other, files));
  } finally {
    await mesh.stop();
  }
  printTable(
    `A small PDF of one team while another team has ${FLOOD_PDFS} PDFs of ${FLOOD_PAGES} pages in the product, ms`,
    ['round', 'idle p50', 'idle p95', 'flood p50', 'flood p95', 'longest', 'p95 ratio', 'target', 'load'],
    results.map(({ idle, flooded, load }, index): Cell[] => {
      const ratio = flooded.p95 / idle.p95;
      return [
        String(index + 1),
        idle.p50,
        idle.p95,
        flooded.p50,
        flooded.p95,
        flooded.longest,
        `${ratio.toFixed(2)}x`,
        ratio <= TARGET_RATIO ? `ok (<= ${TARGET_RATIO}x)` : `OVER (<= ${TARGET_RATIO}x)`,
        load,
      ];
    }),
  );
  printTable(
    'PDFs of the flooding team per second',
    ['round', 'alone', 'while the other team uses the spare slot'],
    results.map(({ floodAlone, floodBeside }, index): Cell[] => [
      String(index + 1),
      floodAlone.toFixed(2),
      floodBeside.toFixed(2),
    ]),
  );
  return { results };
};
