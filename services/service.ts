// `npm run service -- NAME`: runs one service, connected to the NATS server at NATS_URL; each pod of the chart runs this.
import type { Transport } from '#shared/bus/bus.ts';
import { connectNats } from '#shared/bus/nats.ts';
import { isWorkerName, QUEUE_NAMES, queuesOf, SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';
import { type Config, ConfigError, readConfig } from '#shared/runtime/config.ts';
import { drainOnSignal } from '#shared/runtime/drain.ts';
import { setHeapGrowth } from '#shared/runtime/gc/heap-growth.ts';
import { type Readiness, startOpsServer } from '#shared/runtime/health.ts';
import { logIsolation } from '#shared/runtime/isolation/layers.ts';
import { type JobLoop, startJobLoop } from '#shared/runtime/job-loop.ts';
import { createLogger, type Logger } from '#shared/runtime/log.ts';
import { takeSecrets } from '#shared/runtime/secrets.ts';
import { startTracing } from '#shared/runtime/traces.ts';
import { workerModule } from './registry.ts';

setHeapGrowth(1);

interface Runtime {
  config: Config;
  log: Logger;
  transport: Transport;
  /** Closes the connection to the bus and sends the remaining spans. */
  close(): Promise<void>;
}

async function openRuntime(name: ServiceName): Promise<Runtime> {
  takeSecrets();
  const config = readConfig();
  if (!config.natsUrl)
    throw new ConfigError(
      'configuration: NATS_URL is not set. Set it to a NATS server, for example: NATS_URL=nats://127.0.0.1:4222',
    );
  // The image of a service contains no other service, so the files of a service are imported only where it runs.
  if (name === 'ocr') (await import('./ocr/engines.ts')).checkServerLanguages();
  const log = createLogger(config, name);
  if (name !== 'gateway') logIsolation(log);
  const stopTracing = await startTracing(config.tracing, `parsemesh-${name}`, (problem) => log.warn(problem));
  const transport = await connectNats({
    url: config.natsUrl,
    name: `parsemesh-${name}`,
    service: name,
    ...(config.natsTls ? { tls: config.natsTls } : {}),
    replicas: config.natsReplicas,
    queues: name === 'gateway' ? QUEUE_NAMES : [],
    log,
  });
  return {
    config,
    log,
    transport,
    async close() {
      await transport.close();
      await stopTracing();
    },
  };
}

async function runGateway({ config, log, transport, close }: Runtime): Promise<void> {
  const { startGateway } = await import('./gateway/gateway.ts');
  const gateway = await startGateway({ config, log, transport });
  drainOnSignal(
    async () => {
      await gateway.drain();
      await close();
    },
    { log, timeoutMs: config.drainTimeoutMs },
  );
  log.info({ url: gateway.url }, 'listening');
  if (gateway.firstKey !== undefined && config.apiKey === undefined)
    process.stdout.write(`New API key (it is shown only once): ${gateway.firstKey}\n`);
}

async function runWorker(
  name: Exclude<ServiceName, 'gateway'>,
  { config, log, transport, close }: Runtime,
): Promise<void> {
  let state: 'starting' | 'serving' | 'draining' = 'starting';
  let loops: readonly JobLoop[] = [];
  const ready = (): Readiness => {
    if (state !== 'serving') return { ok: false, reason: state };
    const problems = loops.flatMap((loop) => loop.problem() ?? []);
    if (problems.length > 0) return { ok: false, reason: problems.join(' ') };
    return transport.bus.connected() ? { ok: true } : { ok: false, reason: 'the message bus is not connected' };
  };
  const ops =
    config.opsPort === undefined
      ? undefined
      : await startOpsServer({ host: config.opsHost, port: config.opsPort, ready });
  loops = await Promise.all(
    queuesOf(name).map((queue) =>
      startJobLoop({
        transport,
        queue,
        module: workerModule(queue),
        concurrency: config.concurrency[queue],
        log,
        warm: true,
      }),
    ),
  );
  state = 'serving';
  drainOnSignal(
    async () => {
      state = 'draining';
      await Promise.all(loops.map((loop) => loop.drain()));
      await close();
      await ops?.close();
    },
    { log, timeoutMs: config.drainTimeoutMs },
  );
}

const isServiceName = (name: string | undefined): name is ServiceName => SERVICE_NAMES.some((known) => known === name);

const name = process.argv[2];
try {
  if (!isServiceName(name)) throw new ConfigError(`usage: npm run service -- ${SERVICE_NAMES.join('|')}`);
  const runtime = await openRuntime(name);
  await (isWorkerName(name) ? runWorker(name, runtime) : runGateway(runtime));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`parsemesh: ${error.message}\n`);
  process.exit(1);
}
