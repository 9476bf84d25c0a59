// A worker process that takes one job and never answers, for suites that kill it: `node hanging-worker.ts URL QUEUE`.
import { connectNats } from '#shared/bus/nats.ts';

const [url = '', queue = ''] = process.argv.slice(2);
const transport = await connectNats({ url, name: 'hanging-worker' });
await transport.bus.serve(queue, {
  concurrency: 1,
  handler(delivery) {
    process.stdout.write(`taken ${delivery.message.id}\n`);
    return new Promise(() => undefined);
  },
});
process.stdout.write('serving\n');
