// Measures one large upload on a baseline server, in the converter only and through the product, and the gateway's memory during ten at once.
import { residentMemory } from '../../harness/product.ts';
import { type Input, largeInput } from '../inputs.ts';
import { measureCost, type Rounds } from '../measure.ts';
import {
  baselineSubject,
  inProcessSubject,
  type ProductSubject,
  productSubject,
  type Subject,
  withSubject,
} from '../subject.ts';
import type { Figures, Suite } from '../suite.ts';
import { type Cell, MiB, printTable, targetCell } from '../table.ts';

const OVERHEAD_TARGET_MS = 150;
const PARALLEL_UPLOADS = 10;

/** Sends ten uploads at once. @returns the gateway's resident bytes before, its peak during them, and how many uploads failed */
async function uploadTenAtOnce(
  subject: ProductSubject,
  input: Input,
): Promise<{ before: number; peak: number; failed: number }> {
  const before = (await residentMemory(subject.product.gatewayPid)).now;
  let peak = before;
  const sampling = setInterval(async () => {
    const { now } = await residentMemory(subject.product.gatewayPid).catch(() => ({ now: 0 }));
    peak = Math.max(peak, now);
  }, 20);
  const results = await Promise.all(Array.from({ length: PARALLEL_UPLOADS }, () => subject.convert(input)));
  clearInterval(sampling);
  return { before, peak, failed: results.filter((ok) => !ok).length };
}

export const upload: Suite = async ({ rounds }) => {
  const large = await largeInput();
  const few: Rounds = { warm: 2, rounds, repeat: 3 };
  const cost = async (subject: Subject) => (await measureCost(subject, [large], few)).cpuMs;
  const baseline = await withSubject(baselineSubject(), cost);
  const converter = await withSubject(inProcessSubject(), cost);
  const rows: Cell[][] = [
    ['Express + busboy, no conversion', baseline, undefined, undefined, undefined],
    ['converter in process', converter, undefined, undefined, undefined],
  ];
  const figures: Figures = { baseline, converter };
  for (const name of ['memory', 'nats'] as const)
    await withSubject(productSubject(name), async (subject) => {
      const cpuMs = await cost(subject);
      const { before, peak, failed } = await uploadTenAtOnce(subject, large);
      const overhead = cpuMs - converter;
      rows.push([
        `${subject.name}${failed > 0 ? ` (${failed} of ten failed)` : ''}`,
        cpuMs,
        overhead,
        name === 'memory' ? targetCell(overhead, OVERHEAD_TARGET_MS) : undefined,
        (peak - before) / MiB,
      ]);
      figures[subject.name] = { cpuMs, overhead, idleMiB: before / MiB, grownMiB: (peak - before) / MiB, failed };
    });
  printTable(
    'A Word file of 45 MB: CPU ms per request, and memory growth of the gateway during ten at once',
    ['subject', 'CPU ms', 'without the converter', 'target', 'gateway growth MiB (<= 100)'],
    rows,
  );
  return figures;
};
