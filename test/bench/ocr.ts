// What reading a scan costs with either engine, beside poppler and native tesseract on one thread, page by page in turn so that a busy machine is unfair to none.
import { parse } from '../harness/client.ts';
import { type Input, scans } from './inputs.ts';
import { median } from './measure.ts';
import { tesseractPeer } from './peers.ts';
import { residentBelow } from './process-tree.ts';
import { type ProductSubject, productSubject, type Subject } from './subject.ts';
import type { Figures, Settings } from './suite.ts';
import { against, type Cell, printTable, ratio } from './table.ts';

const OPTIONS = { parsers: [{ type: 'pdf', mode: 'ocr' }] };
/** Goal: no more than the tools that it stands on. */
const TARGET = 1;
const MiB = 1024 * 1024;

interface Row {
  subject: Subject;
  /** CPU ms of each input, one figure a round. */
  costs: number[][];
}

async function countPages({ product }: ProductSubject, { bytes, name }: Input): Promise<number> {
  const options = { timeout: 300_000, ...OPTIONS };
  const answer = await parse(product, { file: bytes, fileName: name, options, patienceMs: 310_000 });
  if (answer.status !== 200) throw new Error(`${name} was not read: ${answer.status}`);
  return (answer.body as { data?: { metadata?: { numPages?: number } } }).data?.metadata?.numPages ?? 1;
}

/** Scanned pages: ours with each engine that is here, against native tesseract. */
export async function ocr({ corpora, files, rounds }: Settings): Promise<Figures> {
  const inputs = scans(files, corpora);
  const peers = [tesseractPeer('own'), tesseractPeer(300)].filter((peer) => peer !== undefined);
  const products: ProductSubject[] = [];
  try {
    // Without the program the native engine would refuse every page.
    for (const engine of peers.length > 0 ? (['native', 'wasm'] as const) : (['wasm'] as const))
      products.push({ ...(await productSubject('memory', { OCR_ENGINE: engine })), name: `ours, engine ${engine}` });
    let pages = 0;
    for (const product of products) {
      // The first document also starts the processes that stay.
      pages = 0;
      for (const input of inputs) pages += await countPages(product, input);
    }
    const rows: Row[] = [...products, ...peers].map((subject) => ({ subject, costs: inputs.map(() => []) }));
    for (let round = 0; round < rounds; round++)
      for (const [index, input] of inputs.entries())
        for (const { subject, costs } of rows) {
          const before = subject.cpuMs();
          if (!(await subject.take(input, OPTIONS))) throw new Error(`${subject.name} did not read ${input.name}`);
          costs[index]?.push(subject.cpuMs() - before);
        }
    const perPage = ({ costs }: Row) => costs.reduce((sum, one) => sum + median(one), 0) / pages;
    const [peer] = rows.slice(products.length).map(perPage);
    printTable(
      `OCR of ${pages} pages, CPU ms a page (rendering and transport in)`,
      ['what', 'CPU ms', 'it / peer at the own resolution', `target of ours`, 'MiB, all processes'],
      rows.map((row, index): Cell[] => {
        const cost = perPage(row);
        const product = products[index];
        return [
          row.subject.name,
          cost,
          ratio(cost, peer),
          product && peer ? against(Math.round((cost / peer) * 100) / 100, TARGET) : undefined,
          product && residentBelow(product.product.gatewayPid) / MiB,
        ];
      }),
    );
    return Object.fromEntries([['pages', pages], ...rows.map((row) => [row.subject.name, perPage(row)])]) as Figures;
  } finally {
    for (const product of products) await product.stop();
  }
}
