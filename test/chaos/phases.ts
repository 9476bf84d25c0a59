// Lists the phases of the chaos run in their order.
import { setTimeout as sleep } from 'node:timers/promises';
import { CLOCK_PHASES } from './phases/clock.ts';
import { DISK_PHASES } from './phases/disk.ts';
import { KILL_PHASES, restartPhase } from './phases/kills.ts';
import { NETWORK_PHASES } from './phases/network.ts';
import { NO_ERRORS, type Phase } from './phases/phase.ts';
import { poisonPhase } from './phases/poison.ts';

const noFaultPhase: Phase = {
  name: 'no-fault',
  allowed: NO_ERRORS,
  measures: 'running',
  run: ({ lengthMs }) => sleep(lengthMs),
};

/** The first two phases show how long requests take without a fault, and the last one that the mesh has recovered. */
export const PHASES: readonly Phase[] = [
  noFaultPhase,
  restartPhase,
  ...KILL_PHASES,
  poisonPhase('process'),
  poisonPhase('worker'),
  ...NETWORK_PHASES,
  ...DISK_PHASES,
  ...CLOCK_PHASES,
  { name: 'recovered', allowed: NO_ERRORS, run: noFaultPhase.run },
];
