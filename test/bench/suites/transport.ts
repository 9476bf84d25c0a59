// Measures the CPU time that NATS adds to a small and a large request, and the CPU time of an idle product.
import { setTimeout as sleep } from 'node:timers/promises';
import { largeInput, smallInput } from '../inputs.ts';
import { measureCost } from '../measure.ts';
import { productSubject, type Subject, withSubject } from '../subject.ts';
import type { Suite } from '../suite.ts';
import { type Cell, printTable, targetCell } from '../table.ts';

const IDLE_SECONDS = 5;
/** CPU ms that NATS may add to a request. */
const TARGET_MS = { small: 3, large: 250 };

/** CPU ms per second of a subject without requests. */
async function idleCost(subject: Subject): Promise<number> {
  const before = subject.cpuMs();
  await sleep(IDLE_SECONDS * 1_000);
  return (subject.cpuMs() - before) / IDLE_SECONDS;
}

export const transport: Suite = async ({ rounds }) => {
  const [small, large] = [await smallInput(), await largeInput()];
  const measure = async (subject: Subject) => ({
    small: (await measureCost(subject, [small], { warm: 150, rounds, repeat: 150 })).cpuMs,
    large: (await measureCost(subject, [large], { warm: 2, rounds, repeat: 3 })).cpuMs,
    idle: await idleCost(subject),
  });
  const embedded = await withSubject(productSubject('memory'), measure);
  const nats = await withSubject(productSubject('nats'), measure);
  const row = (label: string, size: 'small' | 'large'): Cell[] => {
    const difference = nats[size] - embedded[size];
    return [label, embedded[size], nats[size], difference, targetCell(difference, TARGET_MS[size])];
  };
  printTable(
    'Cost of the bus, CPU ms per request',
    ['request', 'embedded', 'NATS', 'difference', 'target'],
    [
      row('CSV of 150 bytes', 'small'),
      row('Word file of 45 MB', 'large'),
      ['idle, per second', embedded.idle, nats.idle, nats.idle - embedded.idle, undefined],
    ],
  );
  return { embedded, nats };
};
