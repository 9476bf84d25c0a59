// The transport of a deployment of many processes: jobs, payloads and shared numbers over one NATS connection.
import type { Transport } from './bus.ts';
import { createNatsEventLog } from './nats/event-log.ts';
import { type BusLog, openLink } from './nats/link.ts';
import { createNatsPayloadStore } from './nats/payload-store.ts';
import { createNatsSharedState } from './nats/shared-state.ts';
import { createNatsBus } from './nats/work-queue.ts';

export type { BusLog } from './nats/link.ts';

export interface NatsTransportOptions {
  /** `nats://host:4222`, or several divided by commas. May carry `user:password@` or `token@`. */
  url: string;
  /** Shown in the server's list of connections. */
  name: string;
  log?: BusLog;
  /** Copies of every stream; more than 1 needs a NATS cluster. */
  replicas?: number;
  /** Bytes of volatile payloads that the server holds at once; TRANSPORT_LIMITS otherwise. One deployment, one number. */
  volatileBytes?: number;
}

/**
 * Connects (waiting for the server as long as it takes), makes the streams that are not there yet, and gives the transport.
 * @throws Error when the server's configuration cannot carry the messages
 */
export async function connectNats(options: NatsTransportOptions): Promise<Transport> {
  const link = await openLink(options);
  const bus = createNatsBus(link);
  const payloads = await createNatsPayloadStore(link);
  const state = createNatsSharedState(link);
  return {
    kind: 'nats',
    bus,
    payloads,
    state,
    events: createNatsEventLog(link),
    async close() {
      await bus.close();
      await payloads.close();
      await state.close();
      await link.close();
    },
  };
}
