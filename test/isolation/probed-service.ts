// A real service whose isolated processes run the probe of PROBE_TARGETS: `probed-service.ts memory|nats` over a bus, `probed-service.ts LAYERS` without one.
import type { Transport } from '#shared/bus/bus.ts';
import { createMemoryTransport } from '#shared/bus/memory.ts';
import type { Job } from '#shared/contract/jobs.ts';
import { conversionEnvironment, readConfig } from '#shared/runtime/config.ts';
import { dispatch } from '#shared/runtime/dispatch.ts';
import type { Layer } from '#shared/runtime/isolation/confinement.ts';
import { ProcessPool } from '#shared/runtime/isolation/pool.ts';
import { startJobLoop } from '#shared/runtime/job-loop.ts';
import { createLogger } from '#shared/runtime/log.ts';
import { takeSecrets } from '#shared/runtime/secrets.ts';

const JOB_MS = 120_000;
const MODULE = new URL('../../shared/runtime/isolation/testing/probe-worker.ts', import.meta.url);
const LAYERS: readonly Layer[] = ['landlock', 'permissions'];
/** A queue whose processes run programs, so that the probe can use native code. */
const QUEUE = 'ocr';

const [kind = ''] = process.argv.slice(2);
takeSecrets();
const config = readConfig();
const log = createLogger(config, 'probed');
const payload = Buffer.from(process.env.PROBE_TARGETS ?? '');
const job: Job = { kind: 'ocr', requestId: 'probe', pageNumber: 1, width: 1, height: 1, dpi: 72, languages: [] };

/** The image with all services has no client of NATS. */
async function connectBus(): Promise<Transport> {
  const { connectNats } = await import('#shared/bus/nats.ts');
  return connectNats({ url: config.natsUrl ?? '', name: 'probed', queues: [QUEUE], log });
}

/** As a gateway and a worker do it. */
async function overBus(): Promise<unknown> {
  const transport = kind === 'memory' ? createMemoryTransport() : await connectBus();
  const loop = await startJobLoop({ transport, queue: QUEUE, module: MODULE, concurrency: 1, log, warm: true });
  const { reply } = await dispatch(
    transport,
    QUEUE,
    job,
    { inline: payload },
    { deadline: Date.now() + JOB_MS, volatile: true },
  );
  await loop.drain();
  await transport.close();
  return reply;
}

/** One isolated process with the named layers only, separated by commas. */
async function withLayers(): Promise<unknown> {
  const pool = new ProcessPool(
    {
      queue: QUEUE,
      module: MODULE,
      memoryMiB: 1_000,
      needs: ['programs'],
      without: LAYERS.filter((layer) => !kind.split(',').includes(layer)),
      ...conversionEnvironment(QUEUE),
    },
    log,
  );
  const result = await pool.run(
    async () => ({
      job,
      deadline: Date.now() + JOB_MS,
      volatile: true,
      payloadSize: payload.byteLength,
      payload: (async function* () {
        yield payload;
      })(),
    }),
    {
      store: async (body) => {
        for await (const _ of body);
      },
      call: async () => {
        throw new Error('the probe calls no other service');
      },
    },
    AbortSignal.timeout(JOB_MS),
    'probe',
  );
  await pool.close();
  return result.ok ? result.reply : result.error;
}

const reply = kind === 'memory' || kind === 'nats' ? await overBus() : await withLayers();
process.stdout.write(`${JSON.stringify(reply)}\n`);
