// Measures a page of a born-digital PDF, also in other engines, and how time and memory grow with the length of a document.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PDFDocument } from 'pdf-lib';
import { documentsBelow, type Input } from '../inputs.ts';
import { longPdf } from '../long-pdf.ts';
import { measureCost } from '../measure.ts';
import { installedPdfEngines, pdfEngineSubject, pdfiumSubject } from '../pdf-engines.ts';
import { descendants } from '../process-tree.ts';
import { inProcessSubject, productSubject, type Subject } from '../subject.ts';
import type { Figures, Settings } from '../suite.ts';
import { type Cell, MiB, printTable, ratioCell, targetCell } from '../table.ts';

const FIXTURES = fileURLToPath(new URL('../../../fixtures/pdf', import.meta.url));
const PAGE_TARGET_MS = 7;
const MEMORY_TARGET_MIB = 250;
const LENGTHS = [10, 100, 1_000];
/** V8 has optimized all hot code after about 700 pages. */
const WARM_ROUNDS = 7;
/** For slow engines. The corpora have many files, so the cost of the start is a small share. */
const ONCE = { warm: 0, rounds: 1, repeat: 1 };
const OPTIONS = { parsers: [{ type: 'pdf', mode: 'fast' }] };

/** The corpora `rendered` and `long`, or our fixtures. */
async function readDocuments(corpora: string | undefined): Promise<{ inputs: Input[]; pages: number; source: string }> {
  const folders = corpora
    ? ['rendered', 'long'].map((name) => join(corpora, 'pdf', name)).filter((folder) => existsSync(folder))
    : [];
  const paths = (folders.length > 0 ? folders : [FIXTURES])
    .flatMap(documentsBelow)
    .filter((path) => path.endsWith('.pdf') && !/scan/.test(basename(path)));
  const inputs = paths.map((path): Input => ({ name: basename(path), extension: '.pdf', bytes: readFileSync(path) }));
  let pages = 0;
  for (const { bytes } of inputs) pages += (await PDFDocument.load(bytes, { updateMetadata: false })).getPageCount();
  return {
    inputs,
    pages,
    source: folders.length > 0 ? folders.map((path) => basename(path)).join(' and ') : 'fixtures',
  };
}

/** CPU ms per page: our converter, PDFium only, the entire product, and other installed engines. */
async function measurePages({ corpora, rounds }: Settings): Promise<Figures> {
  const { inputs, pages, source } = await readDocuments(corpora);
  const figures: Record<string, number> = {};
  const rejections: string[] = [];
  const measure = async (starting: Promise<Subject | undefined>, slow = false) => {
    const subject = await starting;
    if (!subject) return;
    try {
      const { cpuMs, rejected } = await measureCost(
        subject,
        inputs,
        slow ? ONCE : { warm: WARM_ROUNDS, rounds, repeat: 1 },
        OPTIONS,
      );
      // An engine that exited or that reads no document has no cost.
      if (rejected < inputs.length && cpuMs > 0) figures[subject.name] = (cpuMs * inputs.length) / pages;
      if (rejected > 0) rejections.push(`${subject.name} rejected ${rejected} of ${inputs.length}`);
    } finally {
      await subject.stop();
    }
  };
  await measure(inProcessSubject());
  await measure(pdfiumSubject());
  await measure(productSubject('memory'));
  for (const engine of installedPdfEngines(process.env.PDF_PEERS)) await measure(pdfEngineSubject(engine), engine.slow);
  const inProcess = figures['in process'];
  printTable(
    `${inputs.length} PDFs (${source}), ${pages} pages, mode fast: CPU ms per page, warm`,
    ['subject', 'CPU ms', 'in process / subject', 'target'],
    Object.entries(figures).map(([name, cost]): Cell[] => [
      name === 'embedded' ? 'embedded (with gateway, bus and isolation)' : name,
      cost,
      name === 'in process' ? undefined : ratioCell(inProcess, cost),
      name === 'in process' ? targetCell(cost, PAGE_TARGET_MS) : undefined,
    ]),
  );
  for (const line of rejections) console.log(`  ${line}`);
  return { pages, ...figures };
}

/** Current and peak resident memory of the isolated process that converts PDFs, in MiB. */
function converterMemory(pids: Iterable<number>): { now: number; peak: number } {
  for (const root of pids)
    for (const { pid } of descendants(root)) {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('services/pdf/worker.ts')) continue;
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        const field = (name: string) => (Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / MiB;
        return { now: field('VmRSS'), peak: field('VmHWM') };
      } catch {
        // The process exited meanwhile.
      }
    }
  return { now: 0, peak: 0 };
}

/** CPU ms per page and memory for documents of growing length, each in a converter that has read one page before. */
async function measureLengths({ large }: Settings): Promise<Figures> {
  const onePage = await longPdf(1);
  const rows: Cell[][] = [];
  const figures: Figures = {};
  let perPageOf100: number | undefined;
  for (const pages of large ? [...LENGTHS, 10_000] : LENGTHS) {
    const input = await longPdf(pages);
    const subject = await productSubject('memory');
    try {
      await subject.convert(onePage, OPTIONS);
      const idle = converterMemory(subject.product.pids.values()).now;
      let peak = 0;
      // The peak is read during the work, because the process may be replaced after its response.
      const sampling = setInterval(() => {
        peak = Math.max(peak, converterMemory(subject.product.pids.values()).peak);
      }, 100);
      const before = subject.cpuMs();
      const read = await subject.convert(input, OPTIONS);
      clearInterval(sampling);
      const perPage = (subject.cpuMs() - before) / pages;
      if (pages === 100) perPageOf100 = perPage;
      figures[pages] = { perPage, idle, peak, read };
      rows.push([
        `${pages} pages${read ? '' : ' (rejected)'}`,
        perPage,
        ratioCell(perPage, perPageOf100),
        idle,
        peak,
        peak - idle,
        pages === 1_000 ? targetCell(peak, MEMORY_TARGET_MIB) : undefined,
      ]);
    } finally {
      await subject.stop();
    }
  }
  printTable(
    'Generated documents, embedded: CPU ms per page (with gateway, bus and isolation), resident MiB of the isolated converter',
    ['length', 'CPU ms per page', 'ratio to 100 pages', 'idle MiB', 'peak MiB', 'growth MiB', 'target'],
    rows,
  );
  return figures;
}

export async function pdf(settings: Settings): Promise<Figures> {
  return { corpus: await measurePages(settings), length: await measureLengths(settings) };
}
