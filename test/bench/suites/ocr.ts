// Measures a page of a scan with each OCR engine and with native tesseract, taking turns so that other load affects all of them equally.
import { parse } from '../../harness/client.ts';
import { type Input, scans } from '../inputs.ts';
import { median } from '../measure.ts';
import { tesseractTool } from '../other-tools.ts';
import { residentBytesBelow } from '../process-tree.ts';
import { type ProductSubject, productSubject, type Subject } from '../subject.ts';
import type { Suite } from '../suite.ts';
import { type Cell, MiB, printTable, ratioCell, targetCell } from '../table.ts';

const OPTIONS = { parsers: [{ type: 'pdf', mode: 'ocr' }] };
/** Ratio to pdftoppm and tesseract, which do the same work. */
const TARGET_RATIO = 1;

interface Measurement {
  subject: Subject;
  /** CPU ms by input and round. */
  costs: number[][];
}

async function countPages({ product }: ProductSubject, { bytes, name }: Input): Promise<number> {
  const options = { timeout: 300_000, ...OPTIONS };
  const answer = await parse(product, { file: bytes, fileName: name, options, clientTimeoutMs: 310_000 });
  if (answer.status !== 200) throw new Error(`the product did not read ${name}: HTTP ${answer.status}`);
  return (answer.body as { data?: { metadata?: { numPages?: number } } }).data?.metadata?.numPages ?? 1;
}

/** Sends each input to each subject in each round. @throws Error if a subject does not read an input */
async function measureInTurn(
  subjects: readonly Subject[],
  inputs: readonly Input[],
  rounds: number,
): Promise<Measurement[]> {
  const measurements = subjects.map((subject): Measurement => ({ subject, costs: inputs.map(() => []) }));
  for (let round = 0; round < rounds; round++)
    for (const [index, input] of inputs.entries())
      for (const { subject, costs } of measurements) {
        const before = subject.cpuMs();
        if (!(await subject.convert(input, OPTIONS))) throw new Error(`${subject.name} did not read ${input.name}`);
        costs[index]?.push(subject.cpuMs() - before);
      }
  return measurements;
}

export const ocr: Suite = async ({ corpora, files, rounds }) => {
  const inputs = scans(files, corpora);
  const tools = [tesseractTool('scan'), tesseractTool(300)].filter((tool) => tool !== undefined);
  const products: ProductSubject[] = [];
  try {
    // The native engine needs the tesseract program.
    for (const engine of tools.length > 0 ? (['native', 'wasm'] as const) : (['wasm'] as const))
      products.push({
        ...(await productSubject('memory', { OCR_ENGINE: engine })),
        name: `Parsemesh, engine ${engine}`,
      });
    let pages = 0;
    for (const product of products) {
      // These requests also start the processes, so that the measured ones do not.
      pages = 0;
      for (const input of inputs) pages += await countPages(product, input);
    }
    const measurements = await measureInTurn([...products, ...tools], inputs, rounds);
    const perPage = ({ costs }: Measurement) => costs.reduce((sum, one) => sum + median(one), 0) / pages;
    const [tesseract] = measurements.slice(products.length).map(perPage);
    printTable(
      `OCR of ${pages} pages: CPU ms per page, with rendering and transport`,
      ['subject', 'CPU ms', 'ratio to tesseract at scan resolution', 'target', 'MiB of all processes'],
      measurements.map((measurement, index): Cell[] => {
        const cost = perPage(measurement);
        const product = products[index];
        return [
          measurement.subject.name,
          cost,
          ratioCell(cost, tesseract),
          product && tesseract ? targetCell(Math.round((cost / tesseract) * 100) / 100, TARGET_RATIO) : undefined,
          product && residentBytesBelow(product.product.gatewayPid) / MiB,
        ];
      }),
    );
    return { pages, ...Object.fromEntries(measurements.map((one) => [one.subject.name, perPage(one)])) };
  } finally {
    for (const product of products) await product.stop();
  }
};
