// `npm start`: runs all services with the in-memory bus, without a NATS server, and prints the URL, the API key and an example request.
import { existsSync } from 'node:fs';
import { createMemoryTransport } from '#shared/bus/memory.ts';
import { QUEUE_NAMES } from '#shared/contract/services.ts';
import { ConfigError, readConfig } from '#shared/runtime/config.ts';
import { drainOnSignal } from '#shared/runtime/drain.ts';
import { setHeapGrowth } from '#shared/runtime/gc/heap-growth.ts';
import { logIsolation } from '#shared/runtime/isolation/layers.ts';
import { startJobLoop } from '#shared/runtime/job-loop.ts';
import { createLogger } from '#shared/runtime/log.ts';
import { takeSecrets } from '#shared/runtime/secrets.ts';
import { startTracing } from '#shared/runtime/traces.ts';
import { startGateway } from './gateway/gateway.ts';
import { checkServerLanguages } from './ocr/engines.ts';
import { workerModule } from './registry.ts';

async function main(): Promise<void> {
  setHeapGrowth(1);
  takeSecrets();
  const config = readConfig();
  checkServerLanguages();
  const log = createLogger(config, 'parsemesh');
  logIsolation(log);
  const stopTracing = await startTracing(config.tracing, 'parsemesh', (problem) => log.warn(problem));
  const transport = createMemoryTransport();
  const loops = await Promise.all(
    QUEUE_NAMES.map((queue) =>
      startJobLoop({
        transport,
        queue,
        module: workerModule(queue),
        concurrency: config.concurrency[queue],
        log,
        warm: false,
      }),
    ),
  );
  const gateway = await startGateway({ config, log, transport });
  drainOnSignal(
    async () => {
      await gateway.drain();
      await Promise.all(loops.map((loop) => loop.drain()));
      await transport.close();
      await stopTracing();
    },
    { log, timeoutMs: config.drainTimeoutMs },
  );
  const key = config.apiKey ?? gateway.firstKey;
  // An image has no lock file, because it has no npm.
  const inRepository = existsSync(new URL('../package-lock.json', import.meta.url));
  process.stdout.write(
    [
      '',
      `Parsemesh listens on ${gateway.url} (API reference: ${gateway.url}/docs).`,
      // The page takes the key from the address and removes it there. A fragment is never sent to a server.
      `Try it in a browser: ${gateway.url}/${key === undefined ? '' : `#key=${encodeURIComponent(key)}`}`,
      gateway.firstKey
        ? `New API key (it is shown only once): ${gateway.firstKey}`
        : `Hashes of the API keys are stored in ${config.keysFile}. To create another key: ${inRepository ? 'npm run keys -- create' : 'node services/keys.ts create (in the container)'}`,
      'Example:',
      `  curl -sS ${gateway.url}/v2/parse -H "Authorization: Bearer ${key ?? 'YOUR_KEY'}" -F file=@${inRepository ? 'fixtures/pdf/sample.pdf' : 'YOUR_FILE.pdf'}`,
      '',
      '',
    ].join('\n'),
  );
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`parsemesh: ${error.message}\n`);
  process.exit(1);
}
