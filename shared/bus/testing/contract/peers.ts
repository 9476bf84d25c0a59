// Describes the bus under test, and the two processes that the contract tests connect to it.
import type { Consumer, ServeOptions, Transport } from '../../bus.ts';
import { until } from '../jobs.ts';

/** Maximum size of all volatile payloads together. Small, so that a test can fill the store. */
export const VOLATILE_BYTES = 24 * 1024 * 1024;

/** One bus, either in memory or on NATS. */
export interface BusUnderTest {
  /** Connects one more process. On the memory bus this is always the same transport. */
  connect(): Promise<Transport>;
  /** All files of the bus are in this folder. */
  folder: string;
  /** Closes all transports and checks that no private files are left. */
  close(): Promise<void>;
}

export interface Peers {
  bus: BusUnderTest;
  /** Starts another bus of the same kind. */
  startBus(): Promise<BusUnderTest>;
  /** Sends requests. */
  requester: Transport;
  /** Serves queues. */
  worker: Transport;
}

/** Serves a queue on the worker. Resolves when the requester has received its announcement. */
export async function serveOnWorker(
  { requester, worker }: Peers,
  queue: string,
  options: ServeOptions,
): Promise<Consumer> {
  const consumer = await worker.bus.serve(queue, options);
  await until(() => requester.bus.workers(queue) > 0, 'the requester counts the worker');
  return consumer;
}
