// The faults that the load must survive, one phase each: what is killed, when, and how long it stays away.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '#shared/contract/errors.ts';
import { SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';
import { longQuestion, type Question, question } from './documents.ts';
import { ask, type Tally } from './load.ts';
import type { Member, Mesh } from './mesh.ts';

export interface PhaseContext {
  mesh: Mesh;
  tally: Tally;
  /** Milliseconds that the phase may take, answers apart. */
  lengthMs: number;
  log(line: string): void;
}

export interface Phase {
  name: string;
  /** What may come instead of the right answer; nothing where no part is away for long. */
  allowed: ReadonlySet<ErrorCode>;
  run(context: PhaseContext): Promise<void>;
}

const NONE: ReadonlySet<ErrorCode> = new Set();
const AWAY: ReadonlySet<ErrorCode> = new Set(['REQUEST_TIMEOUT', 'SERVICE_UNAVAILABLE']);
const POISON: ReadonlySet<ErrorCode> = new Set(['CONVERSION_FAILED']);
const LONG_TIMEOUT_MS = 30_000;
const MIB = 1024 * 1024;
/** Holds the jobs of small files and no payload. */
const FULL_STORE_BYTES = MIB / 4;
const SEEN_WITHIN_MS = 5_000;
/** What an upgrade of the bus takes: longer than most requests wait. */
const OUTAGE_MS = 30_000;

/** Jobs at work in a worker process, by its own metric. */
async function jobsInFlight(opsUrl: string, queue: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(2_000) })).text();
  return Number(new RegExp(`^parsemesh_jobs_in_flight\\{queue="${queue}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

/** Waits until a process of the service is at work, and gives it. */
export async function atWork(mesh: Mesh, service: ServiceName): Promise<Member | undefined> {
  const until = Date.now() + SEEN_WITHIN_MS;
  while (Date.now() < until)
    for (const { member, product } of mesh.of(service)) {
      if ((await jobsInFlight(product.opsUrl, service).catch(() => 0)) > 0) return member;
      await sleep(5);
    }
  return undefined;
}

async function askAny(context: PhaseContext, asked: Question, allowed: ReadonlySet<ErrorCode>): Promise<string> {
  const [gateway] = context.mesh.of('gateway');
  if (!gateway) throw new Error('no gateway is there');
  const verdict = await ask(context.mesh, gateway.member, asked, { timeoutMs: LONG_TIMEOUT_MS, allowed });
  context.tally.add(asked, verdict);
  return verdict.outcome;
}

/** Kills a worker that is inside a job, and starts another in its place. */
function workerPhase(service: ServiceName): Phase {
  return {
    name: `kill-${service}`,
    allowed: NONE,
    async run(context) {
      const { mesh, lengthMs, log } = context;
      const half = sleep(lengthMs / 2);
      const asked = askAny(context, await longQuestion(service), NONE);
      const victim = await atWork(mesh, service);
      if (!victim) {
        context.tally.faults.push(`no ${service} worker was seen at work, so none was killed inside a job`);
        await asked;
        return;
      }
      await mesh.kill(victim);
      log(`killed ${victim.name} inside a job`);
      await half;
      await mesh.launch(victim);
      await Promise.all([asked, sleep(lengthMs / 2)]);
    },
  };
}

const gatewayPhase: Phase = {
  name: 'kill-gateway',
  allowed: NONE,
  async run({ mesh, lengthMs, log }) {
    await sleep(lengthMs / 4);
    const [victim] = mesh.of('gateway');
    if (!victim) throw new Error('no gateway is there');
    await mesh.kill(victim.member);
    log(`killed ${victim.member.name}`);
    await sleep(lengthMs / 4);
    await mesh.launch(victim.member);
    await sleep(lengthMs / 2);
  },
};

/** The bus is away for the length of the phase (10 to 30 s), then back on its store. */
function busPhase(name: string, signal: NodeJS.Signals, leastMs: number): Phase {
  return {
    name,
    allowed: AWAY,
    async run({ mesh, lengthMs, log }) {
      await sleep(2_000);
      await mesh.stopNats(signal);
      const away = Math.max(leastMs, Math.min(OUTAGE_MS, lengthMs));
      log(`the bus is away for ${away / 1000} s (${signal})`);
      await sleep(away);
      await mesh.startNats();
      await sleep(Math.max(5_000, lengthMs / 2));
    },
  };
}

/** The bus has no room on its disk for a payload of the load, then room again. */
const fullStorePhase: Phase = {
  name: 'full-store',
  allowed: AWAY,
  async run(context) {
    const { mesh, lengthMs, tally, log } = context;
    const config = join(mesh.folder, 'small-store.conf');
    await writeFile(config, `jetstream { max_file_store: ${FULL_STORE_BYTES} }\n`);
    await mesh.stopNats('SIGTERM');
    await mesh.startNats(['-c', config]);
    await sleep(2_000);
    const outcome = await askAny(context, await question('large'), AWAY);
    log(`a payload that the store has no room for was answered ${outcome}`);
    if (outcome !== '503 SERVICE_UNAVAILABLE') tally.faults.push(`with a full store a payload was answered ${outcome}`);
    await sleep(lengthMs / 2);
    await mesh.stopNats('SIGTERM');
    await mesh.startNats();
    await sleep(Math.max(5_000, lengthMs / 2));
  },
};

/** Bytes that a process has read from anywhere since it started (proc(5), io). */
async function bytesRead(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
  return Number(/^rchar: (\d+)/m.exec(text)?.[1] ?? 0);
}

/** The isolated conversion processes below a worker. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/**
 * Watches processes and calls `strike` on each that read as much as only the poison file brings, until told to stop.
 * The load's own files are a hundredth of it, and a process reads no more than a few MiB to start.
 */
function lieInWait(
  pids: () => Promise<{ pid: number; member: Member }[]>,
  bytes: number,
  strike: (found: { pid: number; member: Member }) => Promise<void>,
): { stop(): Promise<number> } {
  const first = new Map<number, number>();
  const struck = new Set<number>();
  let stopped = false;
  const watch = async () => {
    while (!stopped) {
      for (const found of await pids()) {
        const now = await bytesRead(found.pid);
        if (!first.has(found.pid)) first.set(found.pid, now);
        if (now - (first.get(found.pid) ?? now) < bytes || struck.has(found.pid)) continue;
        struck.add(found.pid);
        await strike(found);
      }
      await sleep(5);
    }
    return struck.size;
  };
  const watching = watch();
  return {
    stop() {
      stopped = true;
      return watching;
    },
  };
}

/** A file that ends what takes it, each time: the isolated process, or the worker around it. */
function poisonPhase(what: 'process' | 'worker'): Phase {
  return {
    name: `poison-${what}`,
    allowed: NONE,
    async run(context) {
      const { mesh, tally, lengthMs, log } = context;
      const poison: Question = {
        kind: 'poison',
        fileName: 'poison.csv',
        file: Buffer.alloc(32 * MIB, 'Petrel,42\r\n'),
        options: {},
        words: [],
      };
      const restarts: Promise<void>[] = [];
      const hunt = lieInWait(
        async () => {
          const workers = mesh.of('csv').map(({ member, product }) => ({ pid: product.gatewayPid, member }));
          if (what === 'worker') return workers;
          const below = await Promise.all(
            workers.map(async ({ pid, member }) => (await childrenOf(pid)).map((child) => ({ pid: child, member }))),
          );
          return below.flat();
        },
        24 * MIB,
        async ({ pid, member }) => {
          log(`${what} ${pid} (${member.name}) took the poison`);
          if (what === 'process') process.kill(pid, 'SIGKILL');
          else {
            await mesh.kill(member);
            restarts.push(mesh.launch(member));
          }
        },
      );
      const outcome = await askAny(context, poison, POISON);
      const deaths = await hunt.stop();
      await Promise.all(restarts);
      log(`the poison was answered ${outcome} after ${deaths} deaths`);
      if (outcome !== '422 CONVERSION_FAILED') tally.faults.push(`the poison file was answered ${outcome}`);
      if (deaths > 3) tally.faults.push(`the poison file killed ${deaths} times`);
      await sleep(lengthMs / 2);
    },
  };
}

const calm: Phase = { name: 'calm', allowed: NONE, run: ({ lengthMs }) => sleep(lengthMs) };

/** Every phase in its order; the last one shows that all is well again. */
export const PHASES: readonly Phase[] = [
  calm,
  ...SERVICE_NAMES.filter((service) => service !== 'gateway').map(workerPhase),
  gatewayPhase,
  busPhase('stop-nats', 'SIGTERM', OUTAGE_MS),
  busPhase('kill-nats', 'SIGKILL', 10_000),
  fullStorePhase,
  poisonPhase('process'),
  poisonPhase('worker'),
  { ...calm, name: 'calm-again' },
];
