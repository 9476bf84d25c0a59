// What is measured: something that takes documents, with the processes that work for it.
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
  /** Takes one document. @returns whether it was read */
  take(input: Input, options?: Record<string, unknown>): Promise<boolean>;
  /** Processor ms that all its processes have spent so far. */
  cpuMs(): number;
  stop(): Promise<unknown>;
}

/** Time of these processes and all below them. */
export function cpuOf(pids: Iterable<number>): number {
  let total = 0;
  for (const pid of pids) {
    total += processFacts(pid)?.cpuMs ?? 0;
    for (const facts of descendants(pid)) total += facts.cpuMs;
  }
  return total;
}

export interface ProductSubject extends Subject {
  product: Product;
}

/** The started product. Its keys have no limits. */
export async function productSubject(
  transport: TransportName,
  env: Record<string, string> = {},
): Promise<ProductSubject> {
  const nats = transport === 'nats' ? await startNatsServer() : undefined;
  const product = await startProduct({ transport, env, ...(nats ? { natsUrl: nats.url } : {}) });
  return {
    name: transport === 'memory' ? 'embedded' : 'NATS',
    product,
    take: async ({ bytes, name }, options = {}) =>
      (
        await parse(product, {
          file: bytes,
          fileName: name,
          options: { timeout: 300_000, ...options },
          patienceMs: 310_000,
        })
      ).status === 200,
    cpuMs: () => cpuOf([...product.pids.values(), ...(nats ? [nats.pid] : [])]),
    stop: async () => {
      await product.stop();
      await nats?.stop();
    },
  };
}

/** A module of this folder as a child with an IPC channel, or with a port that it tells. */
function startModule(module: string): ChildProcess {
  const path = fileURLToPath(new URL(module, import.meta.url));
  return spawn(process.execPath, [path], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.disconnect();
  await gone;
}

/** The converters and the render pipeline alone, without edge, bus or isolation. */
export async function inProcessSubject(): Promise<Subject> {
  const child = startModule('./in-process.ts');
  await once(child, 'message');
  return {
    name: 'in process',
    take: async (input, options = {}) => {
      child.send({ name: input.name, extension: input.extension, bytes: input.bytes, options });
      const [ok] = (await once(child, 'message')) as [boolean];
      return ok;
    },
    cpuMs: () => cpuOf([child.pid ?? 0]),
    stop: () => stopChild(child),
  };
}

/** The least that an Express server can do with an upload. */
export async function floorSubject(): Promise<Subject & { pid: number }> {
  const child = startModule('./floor-server.ts');
  const [port] = (await once(child, 'message')) as [number];
  return {
    name: 'Express + busboy + no-op',
    pid: child.pid ?? 0,
    take: async ({ bytes, name }) =>
      (await parse({ url: `http://127.0.0.1:${port}`, key: '' }, { file: bytes, fileName: name, options: {} }))
        .status === 200,
    cpuMs: () => cpuOf([child.pid ?? 0]),
    stop: () => stopChild(child),
  };
}
