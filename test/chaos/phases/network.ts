// Phases in which processes lose the bus for a short time: cut connections, connections that stall, and a wiped store.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '#shared/contract/services.ts';
import { createLongRequest } from '../documents.ts';
import type { Member, Mesh } from '../mesh.ts';
import { NO_ERRORS, type Phase, type PhaseContext, sendToAnyGateway, UNAVAILABLE } from './phase.ts';

/** Shorter than the timeout of a request, so that every request can be answered after it. */
const CUT_MS = 6_000;
/** Long enough that every process must notice by itself that its connection is dead, and shorter than the timeout of a request. */
const STALL_MS = 15_000;
const FLAPS = 5;
const FLAP_MS = 1_000;

const firstOf = (mesh: Mesh, services: readonly ServiceName[]): Member[] =>
  services.flatMap((service) =>
    mesh
      .running(service)
      .slice(0, 1)
      .map(({ member }) => member),
  );

/** Runs the load during a fault and afterwards. */
async function during(
  { tally, lengthMs }: PhaseContext,
  fault: { start(): Promise<void> | void; ms: number; end(): Promise<void> | void },
): Promise<void> {
  await sleep(2_000);
  await fault.start();
  await sleep(fault.ms);
  await fault.end();
  tally.faultEnded();
  await sleep(Math.max(5_000, lengthMs / 2));
}

/**
 * Loses the connections of the first process of each service, while it also works on long requests. `stall`: open connections
 * stay open, but carry nothing, as when a firewall has forgotten them; new ones work.
 */
function connectionPhase(name: string, services: readonly ServiceName[], fault: 'cut' | 'stall'): Phase {
  return {
    name,
    allowed: NO_ERRORS,
    async run(context) {
      const members = firstOf(context.mesh, services);
      const long = ['pdf' as const, 'csv' as const].map(async (service) =>
        sendToAnyGateway(context, await createLongRequest(service), NO_ERRORS),
      );
      const ms = fault === 'cut' ? CUT_MS : STALL_MS;
      await during(context, {
        ms,
        async start() {
          for (const { network } of members) await (fault === 'cut' ? network.cut() : network.stall('open'));
          context.log(`${members.map((member) => member.name).join(', ')}: ${fault} for ${ms / 1_000} s`);
        },
        async end() {
          // A connection that stalled never goes on: a process that has not noticed it is cut now.
          for (const { network } of members) {
            await network.cut();
            await network.resume();
          }
        },
      });
      await Promise.all(long);
    },
  };
}

const WORKERS: readonly ServiceName[] = ['pdf', 'ocr', 'office', 'html', 'csv', 'pii', 'enrich'];

const flappingPhase: Phase = {
  name: 'cut-five-times',
  allowed: NO_ERRORS,
  async run(context) {
    const members = firstOf(context.mesh, ['gateway', ...WORKERS]);
    await sleep(2_000);
    for (let cut = 1; cut <= FLAPS; cut++) {
      for (const { network } of members) await network.cut();
      await sleep(FLAP_MS);
      for (const { network } of members) await network.resume();
      await sleep(FLAP_MS);
    }
    context.tally.faultEnded();
    context.log(`the first process of each service lost its connection ${FLAPS} times`);
    await sleep(Math.max(5_000, context.lengthMs / 2));
  },
};

/** Kills nats-server and starts it with an empty store, as after the loss of a volume. */
const wipedStorePhase: Phase = {
  name: 'wiped-store',
  // Payloads that were in the store are lost, and their requests get an error at once.
  allowed: UNAVAILABLE,
  async run(context) {
    const { mesh, log } = context;
    await during(context, {
      ms: 1_000,
      start: () => mesh.stopNats('SIGKILL'),
      async end() {
        await mesh.startNats([], 'empty');
        log('nats-server is started with an empty store');
      },
    });
  },
};

/** Stops processes with SIGSTOP, as a node without CPU time does, and lets them go on. */
function stoppedPhase(name: string, stopped: (mesh: Mesh) => { name: string; pid: number }[]): Phase {
  return {
    name,
    allowed: NO_ERRORS,
    async run(context) {
      const victims = stopped(context.mesh);
      await during(context, {
        ms: CUT_MS,
        start() {
          for (const { pid } of victims) process.kill(pid, 'SIGSTOP');
          context.log(`${victims.map((victim) => victim.name).join(', ')}: stopped for ${CUT_MS / 1_000} s`);
        },
        end() {
          for (const { pid } of victims) process.kill(pid, 'SIGCONT');
        },
      });
    },
  };
}

const processesOf = (mesh: Mesh, services: readonly ServiceName[]): { name: string; pid: number }[] =>
  firstOf(mesh, services).flatMap(({ name, product }) => (product ? [{ name, pid: product.gatewayPid }] : []));

export const NETWORK_PHASES: readonly Phase[] = [
  connectionPhase('cut-gateway', ['gateway'], 'cut'),
  connectionPhase('cut-workers', WORKERS, 'cut'),
  connectionPhase('half-open-gateway', ['gateway'], 'stall'),
  connectionPhase('half-open-workers', WORKERS, 'stall'),
  flappingPhase,
  wipedStorePhase,
  stoppedPhase('stopped-nats', ({ natsPid }) => (natsPid === undefined ? [] : [{ name: 'nats-server', pid: natsPid }])),
  stoppedPhase('stopped-workers', (mesh) => processesOf(mesh, WORKERS)),
  stoppedPhase('stopped-gateway', (mesh) => processesOf(mesh, ['gateway'])),
];
