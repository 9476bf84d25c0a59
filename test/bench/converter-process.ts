// Runs the handlers of the services in a child process without gateway, bus and isolation: the lower bound of a request's cost.
import { workerModule } from '#services/registry.ts';
import { formatByExtension } from '#shared/contract/formats.ts';
import type { ConvertJob, JobContext, WorkerModule } from '#shared/contract/jobs.ts';
import { readParseOptions } from '#shared/contract/options.ts';
import type { QueueName } from '#shared/contract/services.ts';

const modules = new Map<QueueName, Promise<WorkerModule>>();

function load(queue: QueueName): Promise<WorkerModule> {
  const known = modules.get(queue);
  if (known) return known;
  const loading = import(workerModule(queue).href).then(async (module: WorkerModule) => {
    await module.warm?.();
    return module;
  });
  modules.set(queue, loading);
  return loading;
}

const context: JobContext = {
  signal: new AbortController().signal,
  requestId: 'bench',
  get deadline() {
    return Date.now() + 300_000;
  },
  volatile: false,
  call: async <Reply>(queue: QueueName, job: unknown, payload: Uint8Array) =>
    (await (await load(queue)).handle(job as never, payload, context)) as { reply: Reply; payload?: Uint8Array },
};

interface Request {
  name: string;
  extension: string;
  bytes: Uint8Array;
  options: Record<string, unknown>;
}

process.on('message', async ({ name, extension, bytes, options }: Request) => {
  try {
    const format = formatByExtension(extension);
    if (!format) throw new Error(`no format has the extension ${extension}`);
    const { container, queue } = format;
    const parseOptions = readParseOptions(options);
    const job: ConvertJob = {
      kind: 'convert',
      requestId: 'bench',
      fileName: name,
      extension,
      container,
      options: { ...parseOptions, fields: ['markdown'] },
    };
    const { payload } = await (await load(queue)).handle(job, bytes, context);
    // A stream is converted while it is read.
    if (payload !== undefined && typeof payload !== 'string' && !(payload instanceof Uint8Array))
      for (const _part of payload);
    process.send?.(true);
  } catch {
    process.send?.(false);
  }
});
process.on('disconnect', async () => {
  for (const module of modules.values()) await (await module).close?.();
  process.exit(0);
});
process.send?.('ready');
