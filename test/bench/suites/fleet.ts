// Measures how one scan is distributed over OCR workers on a real bus, and whether all pages are read when one worker is killed.
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ParseResponse } from '#shared/contract/response.ts';
import { Mesh } from '../../chaos/mesh.ts';
import { parse, successData } from '../../harness/client.ts';
import { type Scan, scannedLog, wordsFound } from '../../harness/documents/scans.ts';
import { processFacts, residentBytesBelow } from '../process-tree.ts';
import { cpuMsOf } from '../subject.ts';
import type { Figures, Suite } from '../suite.ts';
import { type Cell, MiB, printTable } from '../table.ts';

const WORKER_COUNTS = [1, 2, 4];
/** Share of its words that a page must have to count as correct. OCR misses some words. */
const CORRECT_SHARE = 0.95;
const TIMEOUT_MS = 300_000;
const SERVICES = ['gateway', 'pdf', 'nats', 'ocr'] as const;
type Service = (typeof SERVICES)[number];

interface Run {
  workers: number;
  pagesPerSecond: number;
  /** CPU ms per page, all processes of a service together. */
  cpuMs: Record<Service, number>;
  /** CPU ms of the OCR worker that worked least. */
  minOcrMs: number;
  /** CPU ms of the OCR worker that worked most. */
  maxOcrMs: number;
  correctPages: number;
  /** Peak memory of the pdf service and its isolated process. */
  pdfMiB: number;
}

/** Starts OCR workers that each read one page at a time. */
function startFleet(workers: number): Promise<Mesh> {
  return Mesh.start({
    copies: { gateway: 1, pdf: 1, ocr: workers },
    env: { OCR_CONCURRENCY: '1', PDF_CONCURRENCY: '1', LOG_LEVEL: 'warn' },
  });
}

/** CPU ms of each process of the mesh since it started, by name. */
function cpuMsByMember(mesh: Mesh): Map<string, number> {
  const costs = new Map<string, number>([['nats', cpuMsOf([mesh.natsPid ?? 0])]]);
  for (const { name, product } of mesh.members) if (product) costs.set(name, cpuMsOf([product.gatewayPid]));
  return costs;
}

async function parseScan(mesh: Mesh, scan: Uint8Array): Promise<ParseResponse['data']> {
  const gateway = mesh.running('gateway')[0]?.product;
  if (!gateway) throw new Error('the mesh has no gateway');
  const options = { timeout: TIMEOUT_MS, parsers: [{ type: 'pdf', pages: true, blocks: true }] };
  return successData(
    await parse(
      { url: gateway.url, key: mesh.key },
      { file: scan, fileName: 'log.pdf', options, clientTimeoutMs: TIMEOUT_MS + 10_000 },
    ),
  );
}

/** Counts the pages that are `ok` and contain their words. */
function countCorrectPages(scan: Scan, data: ParseResponse['data']): number {
  return scan.pages.filter(
    (truth, index) =>
      data.blocks?.[index]?.status === 'ok' &&
      data.pages?.[index]?.pageNumber === index + 1 &&
      wordsFound(truth, data.pages[index].markdown) >= CORRECT_SHARE,
  ).length;
}

async function measureRun(workers: number, scan: Scan, warmUp: Scan): Promise<Run> {
  const count = scan.pages.length;
  const mesh = await startFleet(workers);
  try {
    await parseScan(mesh, warmUp.bytes);
    const before = cpuMsByMember(mesh);
    const pdfPid = mesh.running('pdf')[0]?.product.gatewayPid ?? 0;
    let pdfBytes = 0;
    const sampling = setInterval(() => {
      pdfBytes = Math.max(pdfBytes, (processFacts(pdfPid)?.residentBytes ?? 0) + residentBytesBelow(pdfPid));
    }, 100);
    const start = performance.now();
    const data = await parseScan(mesh, scan.bytes).finally(() => clearInterval(sampling));
    const seconds = (performance.now() - start) / 1_000;
    const spent = [...cpuMsByMember(mesh)].map(([name, ms]) => ({ name, ms: ms - (before.get(name) ?? 0) }));
    const spentBy = (service: Service) => spent.filter(({ name }) => name.startsWith(service)).map(({ ms }) => ms);
    const perPage = (service: Service) => spentBy(service).reduce((sum, ms) => sum + ms, 0) / count;
    return {
      workers,
      pagesPerSecond: count / seconds,
      cpuMs: { gateway: perPage('gateway'), pdf: perPage('pdf'), nats: perPage('nats'), ocr: perPage('ocr') },
      minOcrMs: Math.min(...spentBy('ocr')),
      maxOcrMs: Math.max(...spentBy('ocr')),
      correctPages: countCorrectPages(scan, data),
      pdfMiB: pdfBytes / MiB,
    };
  } finally {
    await mesh.stop();
  }
}

/** Parses the scan with two OCR workers and kills one after it has read about a fifth of the pages. */
async function measureKilledWorker(scan: Scan, warmUp: Scan, ocrMsPerPage: number): Promise<Figures> {
  const mesh = await startFleet(2);
  try {
    await parseScan(mesh, warmUp.bytes);
    const [victim] = mesh.running('ocr');
    if (!victim) throw new Error('the mesh has no OCR worker');
    const before = cpuMsOf([victim.product.gatewayPid]);
    const response = parseScan(mesh, scan.bytes);
    response.catch(() => undefined);
    const spent = () => cpuMsOf([victim.product.gatewayPid]) - before;
    while (spent() < (ocrMsPerPage * scan.pages.length) / 5) await sleep(20);
    const pagesBefore = spent() / ocrMsPerPage;
    await mesh.kill(victim.member);
    const data = await response;
    const ok = (data.blocks ?? []).filter(({ status }) => status === 'ok').length;
    return { pagesBefore, ok, correct: countCorrectPages(scan, data), warning: data.warning ?? null };
  } finally {
    await mesh.stop();
  }
}

function printThroughput(runs: readonly Run[], single: Run, pages: number, cores: number): void {
  printTable(
    `A scan of ${pages} pages on OCR workers, ${cores} cores: throughput`,
    [
      'workers',
      'pages/s',
      'efficiency',
      'efficiency by cores',
      'cores used by OCR',
      'correct pages',
      'least / most busy worker',
    ],
    runs.map(({ workers, pagesPerSecond, cpuMs, minOcrMs, maxOcrMs, correctPages }): Cell[] => {
      const speedUp = pagesPerSecond / single.pagesPerSecond;
      return [
        String(workers),
        pagesPerSecond.toFixed(2),
        percent(speedUp / workers),
        percent(speedUp / Math.min(workers, cores)),
        ((pagesPerSecond * cpuMs.ocr) / 1_000).toFixed(2),
        `${correctPages} of ${pages}`,
        percent(minOcrMs / maxOcrMs),
      ];
    }),
  );
}

function printCpuByService(runs: readonly Run[], single: Run): void {
  printTable(
    'CPU ms per page and service, and its share',
    ['workers', ...SERVICES, 'all', 'OCR / OCR of one worker', 'MiB of pdf'],
    runs.map(({ workers, cpuMs, pdfMiB }): Cell[] => {
      const all = SERVICES.reduce((sum, service) => sum + cpuMs[service], 0);
      return [
        String(workers),
        ...SERVICES.map((service) => `${cpuMs[service].toFixed(0)} (${percent(cpuMs[service] / all)})`),
        all,
        `${(cpuMs.ocr / single.cpuMs.ocr).toFixed(2)}x`,
        pdfMiB,
      ];
    }),
  );
}

const percent = (share: number) => `${(share * 100).toFixed(0)} %`;

export const fleet: Suite = async ({ pages }) => {
  const cores = availableParallelism();
  const page = { lines: 20, dpi: 150 };
  const scan = await scannedLog(pages, page);
  const warmUp = await scannedLog(4, page);
  const runs: Run[] = [];
  for (const workers of WORKER_COUNTS) runs.push(await measureRun(workers, scan, warmUp));
  const single = runs[0];
  if (!single) return {};
  printThroughput(runs, single, pages, cores);
  printCpuByService(runs, single);
  const killed = await measureKilledWorker(scan, warmUp, single.cpuMs.ocr);
  console.log(
    `\nOne of two workers killed after about ${Number(killed.pagesBefore).toFixed(1)} pages: ${killed.ok} of ${pages} pages ok, ${killed.correct} correct; warning: ${killed.warning ?? 'none'}`,
  );
  return { cores, runs, killed };
};
