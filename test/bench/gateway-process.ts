// Runs a gateway over the in-memory bus in a child process, with workers that return a stored record, and measures its event loop.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startGateway } from '#services/gateway/gateway.ts';
import { createMemoryTransport } from '#shared/bus/memory.ts';
import { QUEUE_NAMES } from '#shared/contract/services.ts';
import { readConfig } from '#shared/runtime/config.ts';
import { createLogger } from '#shared/runtime/log.ts';
import { storeBytes } from '#shared/runtime/payload.ts';

/** What the parent sends: starts a measurement, asks for its result, or stops the process. */
export type GatewayCommand = 'start' | 'read' | 'stop';

export interface GatewayReady {
  url: string;
  key: string;
}

export interface LoopFigures {
  /** Milliseconds. */
  longestDelay: number;
  cpuMs: number;
}

/** Bytes of the Markdown that the workers return for a file whose name starts with `large`. */
const LARGE_BYTES = 64 * 1024 * 1024;

const folder = await mkdtemp(join(tmpdir(), 'parsemesh-gateway-bench-'));
const config = readConfig({ PORT: '0', KEYS_FILE: join(folder, 'keys.json'), LOG_LEVEL: 'silent' });
const transport = createMemoryTransport();
const large = Buffer.from(JSON.stringify({ markdown: '| cell \\ "quoted" |\n'.repeat(LARGE_BYTES / 20) }));
for (const queue of QUEUE_NAMES)
  await transport.bus.serve(queue, {
    concurrency: 1_000,
    handler: async ({ message }) => {
      const { job } = message.header as { job: { fileName?: string } };
      const fields = job.fileName?.startsWith('large') ? large : Buffer.from('{"markdown":"text"}');
      const payload = await storeBytes(transport.payloads, fields, { volatile: false, reader: 'gateway' });
      const outcome = { ok: true, reply: { metadata: {}, warnings: [] } };
      return 'ref' in payload
        ? { header: { outcome, ref: payload.ref }, body: new Uint8Array(0) }
        : { header: { outcome }, body: payload.inline };
    },
  });
const model = { baseUrl: 'http://127.0.0.1:9', apiKey: undefined, model: 'none' };
const gateway = await startGateway({
  config: { ...config, llm: model },
  log: createLogger(config, 'gateway'),
  transport,
});
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
let cpu = process.cpuUsage();

process.on('message', async (command: GatewayCommand) => {
  if (command === 'stop') {
    await gateway.drain();
    await transport.close();
    await rm(folder, { recursive: true, force: true });
    process.exit(0);
  }
  // The delay of the last request is known at the next turn of the loop.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { user, system } = process.cpuUsage(cpu);
  const figures: LoopFigures = { longestDelay: Math.max(0, delays.max / 1e6 - 1), cpuMs: (user + system) / 1_000 };
  delays.reset();
  cpu = process.cpuUsage();
  process.send?.(figures);
});
process.send?.({ url: gateway.url, key: gateway.firstKey ?? '' } satisfies GatewayReady);
