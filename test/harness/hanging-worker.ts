// A worker process that receives one job and never answers, for tests that kill it or stop it with SIGTERM: `node hanging-worker.ts URL QUEUE`.
import { connectNats } from '#shared/bus/nats.ts';

const [url = '', queue = ''] = process.argv.slice(2);
const transport = await connectNats({ url, name: 'hanging-worker' });
await transport.bus.serve(queue, {
  concurrency: 1,
  handler(delivery) {
    process.stdout.write(`received ${delivery.message.id}\n`);
    return new Promise(() => undefined);
  },
});
process.once('SIGTERM', () => void transport.close());
process.stdout.write('serving\n');
