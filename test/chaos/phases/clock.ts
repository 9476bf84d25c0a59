// Phases in which the clocks of processes differ, as on nodes without time synchronization.

import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '#shared/contract/services.ts';
import { clockOffset } from '../../harness/clock-offset.ts';
import type { Mesh } from '../mesh.ts';
import { NO_ERRORS, type Phase } from './phase.ts';

/** Starts processes with other clocks, lets the load run, and starts them with the true clock again. */
function skewPhase(
  name: string,
  offsets: (mesh: Mesh) => { service: ServiceName; seconds: readonly number[] }[],
): Phase {
  return {
    name,
    allowed: NO_ERRORS,
    async run({ mesh, lengthMs, log }) {
      const restart = async (seconds: (service: ServiceName, index: number) => number): Promise<void> => {
        // One after the other, so that a process of each service always runs.
        for (const { service } of offsets(mesh))
          for (const [index, { member }] of mesh.running(service).entries()) {
            await mesh.terminate(member);
            await mesh.launch(member, { env: clockOffset(seconds(service, index)) });
          }
      };
      const table = offsets(mesh);
      await restart((service, index) => table.find((row) => row.service === service)?.seconds[index] ?? 0);
      log(`clocks: ${table.map(({ service, seconds }) => `${service} ${seconds.join(' s, ')} s`).join('; ')}`);
      await sleep(Math.max(10_000, lengthMs));
      await restart(() => 0);
    },
  };
}

const WORKERS: readonly ServiceName[] = ['pdf', 'ocr', 'office', 'html', 'csv', 'pii', 'enrich'];

export const CLOCK_PHASES: readonly Phase[] = [
  skewPhase('skewed-workers', () => WORKERS.map((service) => ({ service, seconds: [15, -600] }))),
  skewPhase('skewed-gateways', () => [{ service: 'gateway', seconds: [0, 80] }]),
];
