// Creates the transport of a single process: it needs no server, so `npm start` works without NATS.
import type { Transport } from './bus.ts';
import { createMemoryPayloadStore } from './memory/payload-store.ts';
import { createMemorySharedState } from './memory/shared-state.ts';
import { createMemoryBus } from './memory/work-queue.ts';

interface MemoryTransportOptions {
  /** The parent of the private folder in which large payloads are stored. Default: the temporary folder of the system. */
  folder?: string;
  /** Maximum size of all volatile payloads together, in bytes. Default: TRANSPORT_LIMITS. */
  volatileBytes?: number;
}

/** A transport within this process. It writes durable payloads to private files if they do not fit into memory. */
export function createMemoryTransport(options: MemoryTransportOptions = {}): Transport {
  const bus = createMemoryBus();
  const payloads = createMemoryPayloadStore(options);
  const state = createMemorySharedState();
  return {
    kind: 'memory',
    service: 'parsemesh',
    bus,
    payloads,
    state,
    events: undefined,
    async close() {
      await bus.close();
      await payloads.close();
      await state.close();
    },
  };
}
