// `npm run service -- NAME`: one service of the mesh against NATS_URL, as each pod of the chart runs it.
import { connectNats } from '#shared/bus/nats.ts';
import { isQueueName, SERVICE_NAMES } from '#shared/contract/services.ts';
import { ConfigError, readConfig } from '#shared/runtime/config.ts';
import { drainOnSignal } from '#shared/runtime/drain.ts';
import { type Readiness, startOpsServer } from '#shared/runtime/health.ts';
import { startJobLoop } from '#shared/runtime/job-loop.ts';
import { createLogger } from '#shared/runtime/log.ts';
import { startTracing } from '#shared/runtime/traces.ts';
import { startGateway } from './gateway/gateway.ts';
import { checkServerLanguages } from './ocr/engines.ts';
import { workerModule } from './registry.ts';

async function main(name: string): Promise<void> {
  const config = readConfig();
  if (!config.natsUrl)
    throw new ConfigError('configuration: a single service needs NATS_URL, for example NATS_URL=nats://127.0.0.1:4222');
  if (name === 'ocr') checkServerLanguages();
  const log = createLogger(config, name);
  const endTracing = await startTracing(config.tracing, `parsemesh-${name}`, (problem) => log.warn(problem));
  const transport = await connectNats({ url: config.natsUrl, name: `parsemesh-${name}`, log });
  if (!isQueueName(name)) {
    const gateway = await startGateway({ config, log, transport });
    drainOnSignal(
      async () => {
        await gateway.drain();
        await transport.close();
        await endTracing();
      },
      { log, timeoutMs: config.drainTimeoutMs },
    );
    log.info({ url: gateway.url }, 'listening');
    return;
  }
  let state: 'starting' | 'serving' | 'draining' = 'starting';
  const ready = (): Readiness => {
    if (state !== 'serving') return { ok: false, reason: state };
    return transport.bus.connected() ? { ok: true } : { ok: false, reason: 'the message bus is away' };
  };
  const ops =
    config.opsPort === undefined
      ? undefined
      : await startOpsServer({ host: config.opsHost, port: config.opsPort, ready });
  const loop = await startJobLoop({
    transport,
    queue: name,
    module: workerModule(name),
    concurrency: config.concurrency[name],
    log,
    warm: true,
  });
  state = 'serving';
  drainOnSignal(
    async () => {
      state = 'draining';
      await loop.drain();
      await transport.close();
      await endTracing();
      await ops?.close();
    },
    { log, timeoutMs: config.drainTimeoutMs },
  );
}

const name = process.argv[2];
const known: readonly string[] = SERVICE_NAMES;
try {
  if (name === undefined || !known.includes(name))
    throw new ConfigError(`usage: npm run service -- ${SERVICE_NAMES.join('|')}`);
  await main(name);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`parsemesh: ${error.message}\n`);
  process.exit(1);
}
