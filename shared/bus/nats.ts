// Creates the transport of a deployment with several processes: all its parts share one NATS connection.
import type { Transport } from './bus.ts';
import { type BusLog, openConnection } from './nats/connection.ts';
import { createNatsEventLog } from './nats/event-log.ts';
import { createNatsPayloadStore } from './nats/payload-store.ts';
import { createNatsSharedState } from './nats/shared-state.ts';
import { createNatsBus } from './nats/work-queue.ts';

interface NatsTransportOptions {
  /** `nats://host:4222`, or several servers separated by commas. May contain `user:password@` or `token@`. */
  url: string;
  /** Shown in the server's list of connections. */
  name: string;
  log?: BusLog;
  /** Number of copies of each stream. More than 1 needs a NATS cluster. */
  replicas?: number;
  /** Maximum size of all volatile payloads together, in bytes. All processes use the same value. Default: TRANSPORT_LIMITS. */
  volatileBytes?: number;
}

/**
 * Connects to the server and creates the streams that are missing. Waits without a time limit until the server is running.
 * @throws Error if the server's `max_payload` is too small or it rejects the credentials
 */
export async function connectNats(options: NatsTransportOptions): Promise<Transport> {
  const connection = await openConnection(options);
  const bus = createNatsBus(connection);
  const payloads = await createNatsPayloadStore(connection);
  const state = createNatsSharedState(connection);
  return {
    kind: 'nats',
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
