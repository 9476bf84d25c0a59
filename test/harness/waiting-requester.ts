// A process that sends jobs to a queue and waits for their answers, for tests that kill it: `node waiting-requester.ts URL QUEUE COUNT`.
import { connectNats } from '#shared/bus/nats.ts';

const [url = '', queue = '', count = '1'] = process.argv.slice(2);
const transport = await connectNats({ url, name: 'waiting-requester' });
await Promise.all(
  Array.from({ length: Number(count) }, (_, index) =>
    transport.bus.request(
      queue,
      { id: `waiting-${process.pid}-${index}`, header: {}, body: new Uint8Array() },
      { deadline: Date.now() + 600_000 },
    ),
  ),
);
