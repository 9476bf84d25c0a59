// What a page of a born-digital PDF costs, beside its engine and the fastest peers, and what the length of a document does to time and memory.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PDFDocument } from 'pdf-lib';
import { documentsBelow, type Input } from './inputs.ts';
import { longPdf } from './long-pdf.ts';
import { costOf } from './measure.ts';
import { engineSubject, pdfPeers, peerSubject } from './pdf-peers.ts';
import { descendants } from './process-tree.ts';
import { inProcessSubject, productSubject, type Subject } from './subject.ts';
import type { Figures, Settings } from './suite.ts';
import { against, type Cell, printTable, ratio } from './table.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/pdf', import.meta.url));
const PAGE_TARGET = 7;
const MEMORY_TARGET = 250;
const LENGTHS = [10, 100, 1_000];
const MiB = 1024 * 1024;
/** Rounds until nothing grows faster any more: a compiler of hot code is done after some seven hundred pages. */
const WARM_ROUNDS = 7;
/** The corpora have many files: the first round is warm after its first. */
const ONCE = { warm: 0, rounds: 1, repeat: 1 };
const OPTIONS = { parsers: [{ type: 'pdf', mode: 'fast' }] };

/** The rendered and long corpora, or our fixtures; and how many pages they have. */
async function documents(corpora: string | undefined): Promise<{ inputs: Input[]; pages: number; from: string }> {
  const folders = corpora
    ? ['rendered', 'long'].map((name) => join(corpora, 'pdf', name)).filter((folder) => existsSync(folder))
    : [];
  const paths = (folders.length > 0 ? folders : [FIXTURES])
    .flatMap(documentsBelow)
    .filter((path) => path.endsWith('.pdf') && !/scan/.test(basename(path)));
  const inputs = paths.map((path): Input => ({ name: basename(path), extension: '.pdf', bytes: readFileSync(path) }));
  let pages = 0;
  for (const { bytes } of inputs) pages += (await PDFDocument.load(bytes, { updateMetadata: false })).getPageCount();
  return { inputs, pages, from: folders.length > 0 ? folders.map((path) => basename(path)).join(' and ') : 'fixtures' };
}

/** CPU ms a page over the corpora, warm: ours in process and whole, the engine's own part, and the peers that are here. */
async function costOfPages({ corpora, rounds }: Settings): Promise<Figures> {
  const { inputs, pages, from } = await documents(corpora);
  const figures: Record<string, number> = {};
  const refusals: string[] = [];
  const measure = async (starting: Promise<Subject | undefined>, slow = false) => {
    const subject = await starting;
    if (!subject) return;
    try {
      const { cpuMs, refused } = await costOf(
        subject,
        inputs,
        slow ? ONCE : { warm: WARM_ROUNDS, rounds, repeat: 1 },
        OPTIONS,
      );
      // One that died, or reads nothing, has no cost.
      if (refused < inputs.length && cpuMs > 0) figures[subject.name] = (cpuMs * inputs.length) / pages;
      if (refused > 0) refusals.push(`${subject.name} refused ${refused} of ${inputs.length}`);
    } finally {
      await subject.stop();
    }
  };
  await measure(inProcessSubject());
  await measure(engineSubject());
  await measure(productSubject('memory'));
  for (const peer of pdfPeers(process.env.PDF_PEERS)) await measure(peerSubject(peer), peer.slow);
  const ours = figures['in process'];
  printTable(
    `${inputs.length} PDFs (${from}), ${pages} pages, mode fast: CPU ms a page, warm`,
    ['what', 'CPU ms', 'ours in process / it', 'target'],
    Object.entries(figures).map(([name, cost]): Cell[] => [
      name === 'embedded' ? 'embedded (edge, bus and isolation too)' : name,
      cost,
      name === 'in process' ? undefined : ratio(ours, cost),
      name === 'in process' ? against(cost, PAGE_TARGET) : undefined,
    ]),
  );
  for (const line of refusals) console.log(`  ${line}`);
  return { pages, ...figures };
}

/** The isolated process that converts PDFs: what it holds now and held at most, MiB. */
function memoryOfConverter(pids: Iterable<number>): { now: number; peak: number } {
  for (const pid of pids)
    for (const { pid: below } of descendants(pid)) {
      try {
        if (!readFileSync(`/proc/${below}/cmdline`, 'utf8').includes('services/pdf/worker.ts')) continue;
        const status = readFileSync(`/proc/${below}/status`, 'utf8');
        const field = (name: string) => (Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / MiB;
        return { now: field('VmRSS'), peak: field('VmHWM') };
      } catch {
        // It ended while it was looked at.
      }
    }
  return { now: 0, peak: 0 };
}

/** Time a page and memory of documents of growing length, each in a converter that has read one page before. */
async function costOfLength({ large }: Settings): Promise<Figures> {
  const first = await longPdf(1);
  const rows: Cell[][] = [];
  const figures: Figures = {};
  let hundred: number | undefined;
  for (const pages of large ? [...LENGTHS, 10_000] : LENGTHS) {
    const input = await longPdf(pages);
    const subject = await productSubject('memory');
    try {
      await subject.take(first, OPTIONS);
      const idle = memoryOfConverter(subject.product.pids.values()).now;
      let peak = 0;
      // The converter may be replaced once it has answered, so its peak is read while it works.
      const watching = setInterval(() => {
        peak = Math.max(peak, memoryOfConverter(subject.product.pids.values()).peak);
      }, 100);
      const before = subject.cpuMs();
      const read = await subject.take(input, OPTIONS);
      clearInterval(watching);
      const perPage = (subject.cpuMs() - before) / pages;
      if (pages === 100) hundred = perPage;
      figures[pages] = { perPage, idle, peak, read };
      rows.push([
        `${pages} pages${read ? '' : ' (refused)'}`,
        perPage,
        ratio(perPage, hundred),
        idle,
        peak,
        peak - idle,
        pages === 1_000 ? against(peak, MEMORY_TARGET) : undefined,
      ]);
    } finally {
      await subject.stop();
    }
  }
  printTable(
    'One generated document, embedded: CPU ms a page (edge, bus and isolation too), resident MiB of the isolated converter',
    ['length', 'CPU ms a page', 'of 100 pages', 'idle MiB', 'peak MiB', 'growth MiB', 'target'],
    rows,
  );
  return figures;
}

export async function pdf(settings: Settings): Promise<Figures> {
  return { corpus: await costOfPages(settings), length: await costOfLength(settings) };
}
