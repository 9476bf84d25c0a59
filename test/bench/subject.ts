// Starts the subjects of a measurement: the product, its converters only, and a baseline server.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parse } from '../harness/client.ts';
import { startNatsServer } from '../harness/nats-server.ts';
import { type Product, startProduct, type TransportName } from '../harness/product.ts';
import type { Input } from './inputs.ts';
import { descendants, processFacts } from './process-tree.ts';

export interface Subject {
  name: string;
  /** Converts one document. @returns whether it was read */
  convert(input: Input, options?: Record<string, unknown>): Promise<boolean>;
  /** CPU ms of all its processes since they started. */
  cpuMs(): number;
  stop(): Promise<unknown>;
}

/** Starts a subject, runs `work` with it and stops it. */
export async function withSubject<S extends Subject, T>(
  starting: Promise<S>,
  work: (subject: S) => Promise<T>,
): Promise<T> {
  const subject = await starting;
  try {
    return await work(subject);
  } finally {
    await subject.stop();
  }
}

/** CPU ms of these processes and all their descendants. */
export function cpuMsOf(pids: Iterable<number>): number {
  let total = 0;
  for (const pid of pids) {
    total += processFacts(pid)?.cpuMs ?? 0;
    for (const facts of descendants(pid)) total += facts.cpuMs;
  }
  return total;
}

export interface ProductSubject extends Subject {
  product: Product;
  /** Process ids of the services and of the NATS server, without those that they have started. */
  pids(): number[];
}

/** The started product. Its key has no limits. */
export async function productSubject(
  transport: TransportName,
  env: Record<string, string> = {},
): Promise<ProductSubject> {
  const nats = transport === 'nats' ? await startNatsServer() : undefined;
  const product = await startProduct({ transport, env, ...(nats ? { natsUrl: nats.url } : {}) });
  const pids = () => [...product.pids.values(), ...(nats ? [nats.pid] : [])];
  return {
    name: transport === 'memory' ? 'embedded' : 'NATS',
    product,
    pids,
    convert: async ({ bytes, name }, options = {}) =>
      (
        await parse(product, {
          file: bytes,
          fileName: name,
          options: { timeout: 300_000, ...options },
          clientTimeoutMs: 310_000,
        })
      ).status === 200,
    cpuMs: () => cpuMsOf(pids()),
    stop: async () => {
      await product.stop();
      await nats?.stop();
    },
  };
}

/** Starts a module of this folder as a child process with an IPC channel. */
function startModule(module: string): ChildProcess {
  const path = fileURLToPath(new URL(module, import.meta.url));
  return spawn(process.execPath, [path], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
}

/** The converters and the render pipeline only, without gateway, bus and isolation. */
export async function inProcessSubject(): Promise<Subject> {
  const child = startModule('./converter-process.ts');
  await once(child, 'message');
  return {
    name: 'in process',
    convert: async (input, options = {}) => {
      child.send({ name: input.name, extension: input.extension, bytes: input.bytes, options });
      const [ok] = (await once(child, 'message')) as [boolean];
      return ok;
    },
    cpuMs: () => cpuMsOf([child.pid ?? 0]),
    stop: () => stopChild(child),
  };
}

/** An Express server that reads the upload and does nothing else: the lower bound of a gateway's cost. */
export async function baselineSubject(): Promise<Subject> {
  const child = startModule('./baseline-server.ts');
  const [port] = (await once(child, 'message')) as [number];
  return {
    name: 'Express + busboy, no conversion',
    convert: async ({ bytes, name }) =>
      (await parse({ url: `http://127.0.0.1:${port}`, key: '' }, { file: bytes, fileName: name, options: {} }))
        .status === 200,
    cpuMs: () => cpuMsOf([child.pid ?? 0]),
    stop: () => stopChild(child),
  };
}
