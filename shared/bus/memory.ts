// The transport of a single process: everything `npm start` needs, without a server beside it.
import type { Transport } from './bus.ts';
import { createMemoryPayloadStore } from './memory/payload-store.ts';
import { createMemorySharedState } from './memory/shared-state.ts';
import { createMemoryBus } from './memory/work-queue.ts';

export interface MemoryTransportOptions {
  /** Where the private folder for large payloads is made; the system's temporary folder unless named. */
  folder?: string;
  /** Bytes of volatile payloads held at once; TRANSPORT_LIMITS otherwise. */
  volatileBytes?: number;
}

/** A transport whose three parts live in this process; large payloads that may touch a disk go to private files. */
export function createMemoryTransport(options: MemoryTransportOptions = {}): Transport {
  const bus = createMemoryBus();
  const payloads = createMemoryPayloadStore(options);
  const state = createMemorySharedState();
  return {
    kind: 'memory',
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
