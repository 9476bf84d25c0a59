// Creates the transport of a deployment with several processes: all its parts share one NATS connection.
import type { Transport } from './bus.ts';
import type { ServerOptions } from './nats/connect.ts';
import { type BusLog, openConnection } from './nats/connection.ts';
import { createNatsEventLog } from './nats/event-log.ts';
import { createNatsPayloadStore } from './nats/payload-store.ts';
import { createNatsSharedState } from './nats/shared-state.ts';
import { createNatsBus } from './nats/work-queue.ts';

interface NatsTransportOptions extends ServerOptions {
  log?: BusLog;
  /** Number of copies of each stream. More than 1 needs a NATS cluster. */
  replicas?: number;
  /** Maximum size of all volatile payloads together, in bytes. All processes use the same value. Default: TRANSPORT_LIMITS. */
  volatileBytes?: number;
  /** Queues whose streams are created now, so that an autoscaler can read their length. The others are created at their first use. */
  queues?: readonly string[];
  /** Stops waiting for the server. */
  signal?: AbortSignal;
}

/**
 * Connects to the server and creates the streams that are missing. Waits without a time limit until the server is running.
 * @throws Error if the server's `max_payload` is too small or it rejects the credentials
 */
export async function connectNats(options: NatsTransportOptions): Promise<Transport> {
  const connection = await openConnection(options);
  const bus = createNatsBus(connection);
  const payloads = createNatsPayloadStore(connection);
  const state = createNatsSharedState(connection);
  return {
    kind: 'nats',
    service: connection.service,
    bus,
    payloads,
    state,
    events: createNatsEventLog(connection),
    async close() {
      await bus.close();
      await payloads.close();
      await state.close();
      await connection.close();
    },
  };
}
