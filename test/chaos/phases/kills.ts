// Phases that kill a process or the bus, or fill the store of the bus.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';
import { createLongRequest, createRequest } from '../documents.ts';
import type { Member, Mesh } from '../mesh.ts';
import { NO_ERRORS, type Phase, sendToAnyGateway, UNAVAILABLE } from './phase.ts';

/** Large enough for the jobs of small files, too small for a payload. */
const FULL_STORE_BYTES = 1024 * 256;
const BUSY_WITHIN_MS = 5_000;
/** About the duration of a nats-server upgrade. Most requests time out earlier. */
const OUTAGE_MS = 30_000;

/** Number of jobs that a worker process runs, from its metric. */
async function jobsInFlight(opsUrl: string, queue: string): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(2_000) })).text();
  return Number(new RegExp(`^parsemesh_jobs_in_flight\\{queue="${queue}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

/** Waits until a process of the service runs a job. @returns that process, or undefined if none does within 5 s */
export async function waitForBusyWorker(mesh: Mesh, service: ServiceName): Promise<Member | undefined> {
  const until = Date.now() + BUSY_WITHIN_MS;
  while (Date.now() < until)
    for (const { member, product } of mesh.running(service)) {
      if ((await jobsInFlight(product.opsUrl, service).catch(() => 0)) > 0) return member;
      await sleep(5);
    }
  return undefined;
}

/** Kills a worker during a job and starts it again. */
function workerPhase(service: ServiceName): Phase {
  return {
    name: `kill-${service}`,
    allowed: NO_ERRORS,
    async run(context) {
      const { mesh, lengthMs, log } = context;
      const half = sleep(lengthMs / 2);
      const response = sendToAnyGateway(context, await createLongRequest(service), NO_ERRORS);
      const victim = await waitForBusyWorker(mesh, service);
      if (!victim) {
        context.tally.fault(`no ${service} worker ran a job within ${BUSY_WITHIN_MS} ms, so none was killed`);
        await response;
        return;
      }
      await mesh.kill(victim);
      log(`killed ${victim.name} during a job`);
      await half;
      await mesh.launch(victim);
      await Promise.all([response, sleep(lengthMs / 2)]);
    },
  };
}

/**
 * Replaces the workers of a service one after the other, as an upgrade does. It shows how long the first request takes at a worker
 * whose engine (LibreOffice) has not started yet, which is not the effect of a fault.
 */
export const restartPhase: Phase = {
  name: 'restart',
  allowed: NO_ERRORS,
  measures: 'starting',
  async run(context) {
    const { mesh, lengthMs } = context;
    for (const { member } of mesh.running('office')) {
      await mesh.terminate(member);
      await mesh.launch(member);
    }
    const first = Array.from({ length: 4 }, async () =>
      sendToAnyGateway(context, await createRequest('rtf'), NO_ERRORS),
    );
    await Promise.all([...first, sleep(lengthMs)]);
  },
};

const gatewayPhase: Phase = {
  name: 'kill-gateway',
  allowed: NO_ERRORS,
  async run({ mesh, lengthMs, log }) {
    await sleep(lengthMs / 4);
    const [victim] = mesh.running('gateway');
    if (!victim) throw new Error('no gateway is running');
    await mesh.kill(victim.member);
    log(`killed ${victim.member.name}`);
    await sleep(lengthMs / 4);
    await mesh.launch(victim.member);
    await sleep(lengthMs / 2);
  },
};

/** Stops nats-server for the length of the phase (`minMs` to 30 s), and starts it again with its store. */
function busPhase(name: string, signal: NodeJS.Signals, minMs: number): Phase {
  return {
    name,
    allowed: UNAVAILABLE,
    async run({ mesh, tally, lengthMs, log }) {
      await sleep(2_000);
      await mesh.stopNats(signal);
      const outageMs = Math.max(minMs, Math.min(OUTAGE_MS, lengthMs));
      log(`nats-server is stopped for ${outageMs / 1000} s (${signal})`);
      await sleep(outageMs);
      await mesh.startNats();
      tally.faultEnded();
      await sleep(Math.max(5_000, lengthMs / 2));
    },
  };
}

/** Limits the store of nats-server so that a payload does not fit, and then removes the limit. A small request has room. */
const fullStorePhase: Phase = {
  name: 'full-store',
  allowed: UNAVAILABLE,
  async run(context) {
    const { mesh, lengthMs, tally, log } = context;
    const config = join(mesh.folder, 'small-store.conf');
    await writeFile(config, `jetstream { max_file_store: ${FULL_STORE_BYTES} }\n`);
    await mesh.stopNats('SIGTERM');
    await mesh.startNats(['-c', config]);
    await sleep(2_000);
    const outcome = await sendToAnyGateway(context, await createRequest('large'), UNAVAILABLE);
    log(`the result for a payload that does not fit into the store: ${outcome}`);
    if (outcome !== '503 SERVICE_UNAVAILABLE')
      tally.fault(`a payload that does not fit into the store got ${outcome} instead of 503 SERVICE_UNAVAILABLE`);
    await sleep(lengthMs / 2);
    await mesh.stopNats('SIGTERM');
    await mesh.startNats();
    await sleep(Math.max(5_000, lengthMs / 2));
  },
};

export const KILL_PHASES: readonly Phase[] = [
  ...SERVICE_NAMES.filter((service) => service !== 'gateway').map(workerPhase),
  gatewayPhase,
  busPhase('stop-nats', 'SIGTERM', OUTAGE_MS),
  busPhase('kill-nats', 'SIGKILL', 10_000),
  fullStorePhase,
];
