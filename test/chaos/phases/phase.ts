// Defines the interface of a chaos phase, and sends single requests for phases that need one.
import type { ErrorCode } from '#shared/contract/errors.ts';
import type { LoadRequest } from '../documents.ts';
import { sendAndCheck, type Tally } from '../load.ts';
import type { Mesh } from '../mesh.ts';

const TIMEOUT_MS = 30_000;

export const NO_ERRORS: ReadonlySet<ErrorCode> = new Set();
/** A worker that takes no jobs. */
export const UNREADY: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE']);
/** The bus is away, perhaps for longer than the timeout of a request. */
export const UNAVAILABLE: ReadonlySet<ErrorCode> = new Set(['REQUEST_TIMEOUT', 'SERVICE_UNAVAILABLE']);

export interface PhaseContext {
  mesh: Mesh;
  tally: Tally;
  /** Length of the phase in ms, without the time that its last responses take. */
  lengthMs: number;
  log(line: string): void;
}

export interface Phase {
  name: string;
  /** Error codes that requests of the load may get. */
  allowed: ReadonlySet<ErrorCode>;
  /** Its slowest request shows how long a request takes without a fault: at engines that run, or at those that must start. */
  measures?: 'running' | 'starting';
  /** Whether it replaces workers, so that the engines of the new ones must start. */
  startsEngines?: true;
  run(context: PhaseContext): Promise<void>;
}

/** Sends a request to one of the running gateways and counts its result. @returns the outcome */
export async function sendToAnyGateway(
  context: PhaseContext,
  request: LoadRequest,
  allowed: ReadonlySet<ErrorCode>,
): Promise<string> {
  const [gateway] = context.mesh.running('gateway');
  if (!gateway) throw new Error('no gateway is running');
  const result = await sendAndCheck(context.mesh, gateway.member, request, { timeoutMs: TIMEOUT_MS, allowed });
  context.tally.add(request, result);
  return result.outcome;
}
