// Measures how one scan spreads over OCR workers, each a process of its own on a real bus, and that none of its pages dies with a worker.
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ParseResponse } from '#shared/contract/response.ts';
import { Mesh } from '../chaos/mesh.ts';
import { parse, successData } from '../harness/client.ts';
import { type Scan, scannedLog, wordsFound } from '../harness/documents/scans.ts';
import { processFacts, residentBelow } from './process-tree.ts';
import { cpuOf } from './subject.ts';
import type { Figures, Settings } from './suite.ts';
import { type Cell, printTable } from './table.ts';

const FLEETS = [1, 2, 4];
/** A page counts as right where this share of its words is there; OCR itself misses some. */
const RIGHT_SHARE = 0.95;
const TIMEOUT_MS = 300_000;
const ROLES = ['gateway', 'pdf', 'nats', 'ocr'] as const;
type Role = (typeof ROLES)[number];

interface Run {
  workers: number;
  pagesASecond: number;
  /** CPU ms a page by role, all processes of a role together. */
  cpuMs: Record<Role, number>;
  /** The least and the most that one OCR worker worked, CPU ms. */
  leastMs: number;
  mostMs: number;
  right: number;
  /** Most that the pdf service and its process held, MiB. */
  pdfMiB: number;
}

/** One process a worker, one page at a time in each. */
function startFleet(workers: number): Promise<Mesh> {
  return Mesh.start({
    copies: { gateway: 1, pdf: 1, ocr: workers },
    env: { OCR_CONCURRENCY: '1', PDF_CONCURRENCY: '1', LOG_LEVEL: 'warn' },
  });
}

/** CPU ms of each process of the fleet so far, by name. */
function cpuByMember(mesh: Mesh): Map<string, number> {
  const costs = new Map<string, number>([['nats', cpuOf([mesh.natsPid ?? 0])]]);
  for (const { name, product } of mesh.members) if (product) costs.set(name, cpuOf([product.gatewayPid]));
  return costs;
}

async function ask(mesh: Mesh, scan: Uint8Array): Promise<ParseResponse['data']> {
  const gateway = mesh.of('gateway')[0]?.product;
  if (!gateway) throw new Error('the fleet has no gateway');
  const options = { timeout: TIMEOUT_MS, parsers: [{ type: 'pdf', pages: true, blocks: true }] };
  return successData(
    await parse(
      { url: gateway.url, key: mesh.key },
      { file: scan, fileName: 'log.pdf', options, patienceMs: TIMEOUT_MS + 10_000 },
    ),
  );
}

/** Pages that are `ok` and hold their own words. */
function rightPages(scan: Scan, data: ParseResponse['data']): number {
  return scan.pages.filter(
    (truth, index) =>
      data.blocks?.[index]?.status === 'ok' &&
      data.pages?.[index]?.pageNumber === index + 1 &&
      wordsFound(truth, data.pages[index].markdown) >= RIGHT_SHARE,
  ).length;
}

async function measure(workers: number, scan: Scan, warmUp: Scan): Promise<Run> {
  const count = scan.pages.length;
  const mesh = await startFleet(workers);
  try {
    await ask(mesh, warmUp.bytes);
    const before = cpuByMember(mesh);
    const pdfPid = mesh.of('pdf')[0]?.product.gatewayPid ?? 0;
    let pdfBytes = 0;
    const watching = setInterval(() => {
      pdfBytes = Math.max(pdfBytes, (processFacts(pdfPid)?.residentBytes ?? 0) + residentBelow(pdfPid));
    }, 100);
    const start = performance.now();
    const data = await ask(mesh, scan.bytes).finally(() => clearInterval(watching));
    const seconds = (performance.now() - start) / 1_000;
    const spent = [...cpuByMember(mesh)].map(([name, ms]) => ({ name, ms: ms - (before.get(name) ?? 0) }));
    const of = (role: Role) => spent.filter(({ name }) => name.startsWith(role)).map(({ ms }) => ms);
    const page = (role: Role) => of(role).reduce((sum, ms) => sum + ms, 0) / count;
    return {
      workers,
      pagesASecond: count / seconds,
      cpuMs: { gateway: page('gateway'), pdf: page('pdf'), nats: page('nats'), ocr: page('ocr') },
      leastMs: Math.min(...of('ocr')),
      mostMs: Math.max(...of('ocr')),
      right: rightPages(scan, data),
      pdfMiB: pdfBytes / 1024 ** 2,
    };
  } finally {
    await mesh.stop();
  }
}

/** The scan again, while one of two OCR workers is killed once it has read a fifth of the pages. */
async function measureDeath(scan: Scan, warmUp: Scan, ocrMsAPage: number): Promise<Figures> {
  const mesh = await startFleet(2);
  try {
    await ask(mesh, warmUp.bytes);
    const [victim] = mesh.of('ocr');
    if (!victim) throw new Error('the fleet has no OCR worker');
    const before = cpuOf([victim.product.gatewayPid]);
    const answer = ask(mesh, scan.bytes);
    answer.catch(() => undefined);
    const worked = () => cpuOf([victim.product.gatewayPid]) - before;
    while (worked() < (ocrMsAPage * scan.pages.length) / 5) await sleep(20);
    const pagesBefore = worked() / ocrMsAPage;
    await mesh.kill(victim.member);
    const data = await answer;
    const ok = (data.blocks ?? []).filter(({ status }) => status === 'ok').length;
    return { pagesBefore, ok, right: rightPages(scan, data), warning: data.warning ?? null };
  } finally {
    await mesh.stop();
  }
}

/** One scan by 1, 2 and 4 OCR workers, and by two of which one dies. */
export async function fleet({ pages }: Settings): Promise<Figures> {
  const cores = availableParallelism();
  const page = { lines: 20, dpi: 150 };
  const scan = await scannedLog(pages, page);
  const warmUp = await scannedLog(4, page);
  const runs: Run[] = [];
  for (const workers of FLEETS) runs.push(await measure(workers, scan, warmUp));
  const alone = runs[0];
  if (!alone) return {};
  printTable(
    `A scan of ${pages} pages over OCR workers on ${cores} cores: pages a second, and how many OCR keeps busy`,
    [
      'workers',
      'pages/s',
      'efficiency',
      'of what the cores allow',
      'cores in OCR',
      'right pages',
      'least / most worked',
    ],
    runs.map(({ workers, pagesASecond, cpuMs, leastMs, mostMs, right }): Cell[] => {
      const speedUp = pagesASecond / alone.pagesASecond;
      return [
        String(workers),
        pagesASecond.toFixed(2),
        percent(speedUp / workers),
        percent(speedUp / Math.min(workers, cores)),
        ((pagesASecond * cpuMs.ocr) / 1_000).toFixed(2),
        `${right} of ${pages}`,
        percent(leastMs / mostMs),
      ];
    }),
  );
  printTable(
    'CPU ms a page, and its share of the whole',
    ['workers', ...ROLES, 'all', 'OCR against one worker', 'MiB of pdf'],
    runs.map(({ workers, cpuMs, pdfMiB }): Cell[] => {
      const all = ROLES.reduce((sum, role) => sum + cpuMs[role], 0);
      return [
        String(workers),
        ...ROLES.map((role) => `${cpuMs[role].toFixed(0)} (${percent(cpuMs[role] / all)})`),
        all,
        `${(cpuMs.ocr / alone.cpuMs.ocr).toFixed(2)}x`,
        pdfMiB,
      ];
    }),
  );
  const death = await measureDeath(scan, warmUp, alone.cpuMs.ocr);
  console.log(
    `\nOne of two workers killed after about ${Number(death.pagesBefore).toFixed(1)} pages: ${death.ok} of ${pages} pages ok, ${death.right} with their own words; warning: ${death.warning ?? 'none'}`,
  );
  return { cores, runs, death };
}

const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
