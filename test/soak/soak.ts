// `npm run soak`: mixed documents through both shapes of the product for minutes, to see that memory settles and nothing is left behind.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startLoad, Tally } from '../chaos/load.ts';
import { residentByName } from './processes.ts';
import { embedded, mesh, type Shape } from './shapes.ts';

const MIB = 1024 * 1024;
const SAMPLE_MS = 2_000;
/** The end is compared with minute 2 of 10; each is the median of a tenth of the run. */
const SETTLED_SHARE = 0.2;
const WINDOW_SHARE = 0.1;
const ALLOWED_GROWTH = 0.1;
/** Fewer than the jobs after which a conversion process is replaced. */
const WARMING_DOCUMENTS = 250;
/** What is answered is let go of within this. */
const IDLE_MS = 2_000;

const { values } = parseArgs({ options: { minutes: { type: 'string' }, shapes: { type: 'string' } } });
const minutes = Number(values.minutes ?? 10);
const wanted = (values.shapes ?? 'embedded,nats').split(',');
if (!(minutes > 0)) {
  process.stderr.write('usage: npm run soak -- [--minutes 10] [--shapes embedded,nats]\n');
  process.exit(2);
}
const print = (line: string) => process.stdout.write(`${line}\n`);

/** One look at a shape: resident bytes of its processes by name, the largest where several have one name (a pool may add a young one). */
type Sample = Map<string, number>;

async function look(shape: Shape): Promise<Sample> {
  const sample: Sample = new Map();
  for (const { name, pid } of shape.roots)
    for (const [called, sizes] of await residentByName(pid, name)) sample.set(called, Math.max(...sizes));
  return sample;
}

function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Compares two windows of samples, prints each process, and gives those that grew too much. */
function compare(shape: Shape, early: readonly Sample[], late: readonly Sample[]): string[] {
  const names = new Set(late.flatMap((sample) => [...sample.keys()]));
  const faults: string[] = [];
  for (const name of [...names].sort()) {
    const at = (samples: readonly Sample[]) => median(samples.flatMap((sample) => sample.get(name) ?? []));
    const [before, after] = [at(early), at(late)];
    const growth = before === 0 ? 0 : after / before - 1;
    const line = `${name}: ${(before / MIB).toFixed(1)} -> ${(after / MIB).toFixed(1)} MiB (${(growth * 100).toFixed(1)} %)`;
    print(`  ${line}`);
    if (growth > ALLOWED_GROWTH) faults.push(`${shape.name}: ${line}`);
  }
  return faults;
}

/** An engine lets its heap grow to what the largest documents need before it collects; that is no leak, so it is done first. */
async function warm(shape: Shape): Promise<void> {
  const tally = new Tally();
  const load = startLoad(shape.edge, tally, { clients: 2, pauseMs: 0, timeoutMs: 60_000, kinds: ['large'] });
  while (tally.requests < WARMING_DOCUMENTS) await sleep(100);
  await load.stop();
}

async function soak(shape: Shape): Promise<string[]> {
  await warm(shape);
  const lengthMs = minutes * 60_000;
  const tally = new Tally();
  const load = startLoad(shape.edge, tally, { clients: 2, pauseMs: 20, timeoutMs: 60_000, allowed: new Set() });
  const samples: { at: number; sample: Sample }[] = [];
  const start = Date.now();
  while (Date.now() - start < lengthMs) {
    await sleep(Math.min(SAMPLE_MS, lengthMs / 50));
    samples.push({ at: (Date.now() - start) / lengthMs, sample: await look(shape) });
  }
  await load.stop();
  const within = (from: number) =>
    samples.filter(({ at }) => at >= from && at < from + WINDOW_SHARE * 1.01).map(({ sample }) => sample);
  print(`${shape.name}: ${tally}`);
  const faults = tally.faults.map((fault) => `${shape.name}: ${fault}`);
  faults.push(...compare(shape, within(SETTLED_SHARE), within(1 - WINDOW_SHARE)));
  await sleep(IDLE_MS);
  for (const left of await shape.leftWhileIdle()) faults.push(`${shape.name}: left while idle: ${left}`);
  return faults;
}

const starts = { embedded, nats: mesh };
const shapes: Shape[] = [];
const faults: string[] = [];
try {
  for (const [name, start] of Object.entries(starts)) if (wanted.includes(name)) shapes.push(await start());
  // At the same time, so that the whole takes the minutes that were asked for.
  for (const found of await Promise.all(shapes.map(soak))) faults.push(...found);
} finally {
  for (const shape of shapes) for (const left of await shape.end()) faults.push(`${shape.name}: left behind: ${left}`);
}
print(
  faults.length === 0 ? 'memory settled and nothing was left behind' : `${faults.length} faults:\n${faults.join('\n')}`,
);
process.exit(faults.length === 0 ? 0 : 1);
