// Runs `npm run soak`: sends mixed documents for minutes and checks that memory does not grow and nothing is left behind.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startLoad, Tally } from '../chaos/load.ts';
import { type Deployment, startEmbedded, startWithNats } from './deployments.ts';
import { residentBytesByName } from './processes.ts';

const MIB = 1024 * 1024;
const SAMPLE_MS = 2_000;
/** Start of the first of the two compared windows, as a share of the run. The second window is at the end. */
const EARLY_START = 0.2;
/** Length of a window. Its value is the median of its samples. */
const WINDOW_SHARE = 0.1;
const ALLOWED_GROWTH = 0.1;
/** Less than the number of jobs after which a conversion process is replaced. */
const WARM_UP_DOCUMENTS = 250;
/** Time to release everything after the last response. */
const IDLE_MS = 2_000;
const STARTS = { embedded: startEmbedded, nats: startWithNats };

const { values } = parseArgs({ options: { minutes: { type: 'string' }, deployments: { type: 'string' } } });
const minutes = Number(values.minutes ?? 10);
const selected = values.deployments?.split(',') ?? Object.keys(STARTS);
if (!(minutes > 0) || !selected.every((name) => Object.hasOwn(STARTS, name))) {
  process.stderr.write('usage: npm run soak -- [--minutes 10] [--deployments embedded,nats]\n');
  process.exit(2);
}
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Resident bytes of the processes by name: the largest of several, because a pool may have started a new one. */
type Sample = Map<string, number>;

async function takeSample(deployment: Deployment): Promise<Sample> {
  const sample: Sample = new Map();
  for (const root of deployment.roots)
    for (const [name, sizes] of await residentBytesByName(root.pid, root.name)) sample.set(name, Math.max(...sizes));
  return sample;
}

function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Compares two windows of samples and prints each process. @returns the processes that grew too much */
function compareWindows(deployment: Deployment, early: readonly Sample[], late: readonly Sample[]): string[] {
  const names = new Set(late.flatMap((sample) => [...sample.keys()]));
  const faults: string[] = [];
  for (const name of [...names].sort()) {
    const medianOf = (samples: readonly Sample[]) => median(samples.flatMap((sample) => sample.get(name) ?? []));
    const [before, after] = [medianOf(early), medianOf(late)];
    const growth = before === 0 ? 0 : after / before - 1;
    const line = `${name}: ${(before / MIB).toFixed(1)} -> ${(after / MIB).toFixed(1)} MiB (${(growth * 100).toFixed(1)} %)`;
    print(`  ${line}`);
    if (growth > ALLOWED_GROWTH) faults.push(`${deployment.name}: ${line}`);
  }
  return faults;
}

/** Sends large documents first. The heap grows to the size that they need, and this growth is not a leak. */
async function warmUp(deployment: Deployment): Promise<void> {
  const tally = new Tally();
  const load = startLoad(deployment.target, tally, { clients: 2, pauseMs: 0, timeoutMs: 60_000, kinds: ['large'] });
  while (tally.requests < WARM_UP_DOCUMENTS) await sleep(100);
  await load.stop();
}

async function soak(deployment: Deployment): Promise<string[]> {
  await warmUp(deployment);
  const lengthMs = minutes * 60_000;
  const tally = new Tally();
  const load = startLoad(deployment.target, tally, {
    clients: 2,
    pauseMs: 20,
    timeoutMs: 60_000,
    allowed: new Set(),
  });
  const samples: { at: number; sample: Sample }[] = [];
  const start = Date.now();
  while (Date.now() - start < lengthMs) {
    await sleep(Math.min(SAMPLE_MS, lengthMs / 50));
    samples.push({ at: (Date.now() - start) / lengthMs, sample: await takeSample(deployment) });
  }
  await load.stop();
  const windowAt = (from: number) =>
    samples.filter(({ at }) => at >= from && at < from + WINDOW_SHARE * 1.01).map(({ sample }) => sample);
  print(`${deployment.name}: ${tally}`);
  const faults = tally.faults.map((fault) => `${deployment.name}: ${fault}`);
  faults.push(...compareWindows(deployment, windowAt(EARLY_START), windowAt(1 - WINDOW_SHARE)));
  await sleep(IDLE_MS);
  for (const leak of await deployment.findIdleLeaks())
    faults.push(`${deployment.name}: not released while idle: ${leak}`);
  return faults;
}

const deployments: Deployment[] = [];
const faults: string[] = [];
try {
  for (const [name, start] of Object.entries(STARTS)) if (selected.includes(name)) deployments.push(await start());
  for (const found of await Promise.all(deployments.map(soak))) faults.push(...found);
} finally {
  for (const deployment of deployments)
    for (const remains of await deployment.stop()) faults.push(`${deployment.name}: left behind: ${remains}`);
}
print(
  faults.length === 0
    ? 'memory did not grow and nothing was left behind'
    : `${faults.length} faults:\n${faults.join('\n')}`,
);
process.exit(faults.length === 0 ? 0 : 1);
