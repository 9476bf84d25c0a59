// The two shapes of the product that the soak runs, each with what it must have let go of when its load has ended.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectNats } from '#shared/bus/nats.ts';
import type { Edge } from '../chaos/load.ts';
import { Mesh } from '../chaos/mesh.ts';
import { freePort } from '../harness/nats-server.ts';
import { startProduct } from '../harness/product.ts';
import { filesBelow, processesOf } from './processes.ts';

export interface Shape {
  name: string;
  edge: Edge;
  /** The processes that were started, by name; theirs are found below them. */
  roots: { name: string; pid: number }[];
  /** What is left while the product idles: payloads, jobs, leases. */
  leftWhileIdle(): Promise<string[]>;
  /** Ends it. @returns what is left then: processes, files, exits that were no 0 */
  end(): Promise<string[]>;
}

const TEAM = 'default';

async function leftAfter(temporary: string): Promise<string[]> {
  return [
    ...(await processesOf(temporary)).map((one) => `process ${one}`),
    ...(await filesBelow(temporary)).map((path) => `file ${path}`),
  ];
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const values = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'gm'));
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Everything in one process group on the bus in memory, as `npm start` runs it. */
export async function embedded(): Promise<Shape> {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-soak-'));
  const product = await startProduct({ transport: 'memory', env: { TMPDIR: folder } });
  const member = { name: 'embedded', service: 'gateway' as const, product };
  return {
    name: 'embedded',
    edge: { key: product.key, of: () => [{ member, product }] },
    roots: [{ name: 'embedded', pid: product.gatewayPid }],
    async leftWhileIdle() {
      const payloads = (await filesBelow(folder)).filter((path) => path.includes('parsemesh-payloads-'));
      const jobs = await metric(product.opsUrl, 'parsemesh_jobs_in_flight');
      return [...payloads.map((path) => `payload ${path}`), ...(jobs > 0 ? [`${jobs} jobs in flight`] : [])];
    },
    async end() {
      const exits = await product.stop();
      const bad = exits.filter(({ code }) => code !== 0).map((exit) => `${exit.service} ended with ${exit.code}`);
      const left = [...bad, ...(await leftAfter(folder))];
      await rm(folder, { recursive: true, force: true });
      return left;
    },
  };
}

/** What of nats-server's own account (monitoring, `/jsz?streams=true`) is read. */
interface StreamAccount {
  account_details?: { stream_detail?: { name: string; state: { messages: number } }[] }[];
}

/** One process a service on a nats-server. */
export async function mesh(): Promise<Shape> {
  const monitor = await freePort();
  const started = await Mesh.start({ copies: 1, natsArgs: ['-m', String(monitor)] });
  const temporary = join(started.folder, 'tmp');
  await mkdir(temporary, { recursive: true });
  const roots = started.members.map(({ name, product }) => ({ name, pid: product?.gatewayPid ?? 0 }));
  return {
    name: 'nats',
    edge: started,
    roots: [...roots, { name: 'nats-server', pid: started.natsPid ?? 0 }],
    async leftWhileIdle() {
      const account = (await (await fetch(`http://127.0.0.1:${monitor}/jsz?streams=true`)).json()) as StreamAccount;
      const streams = account.account_details?.flatMap((one) => one.stream_detail ?? []) ?? [];
      if (streams.length === 0) throw new Error('nats-server tells of no streams');
      // KV keeps rates for a minute or two; jobs and payloads must be gone.
      const left = streams
        .filter(({ name, state }) => /^(OBJ_|PARSEMESH_JOBS)/.test(name) && state.messages > 0)
        .map(({ name, state }) => `${state.messages} messages in ${name}`);
      const transport = await connectNats({ url: started.natsUrl, name: 'soak' });
      const claims = await transport.state.get(`claims.${Buffer.from(TEAM).toString('hex')}`);
      await transport.close();
      return claims === undefined ? left : [...left, `leases: ${JSON.stringify(claims)}`];
    },
    async end() {
      const bad = await started.drain();
      const left = [...bad, ...(await leftAfter(temporary))];
      await started.stop();
      return left;
    },
  };
}
