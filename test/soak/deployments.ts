// Starts the two deployments of the soak run, and lists what each has not released after its load.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectNats } from '#shared/bus/nats.ts';
import type { LoadTarget } from '../chaos/load.ts';
import { Mesh } from '../chaos/mesh.ts';
import { freePort } from '../harness/ports.ts';
import { startProduct } from '../harness/product.ts';
import { filesBelow, processesWithFolder } from './processes.ts';

export interface Deployment {
  name: string;
  target: LoadTarget;
  /** The processes that were started. The others are their descendants. */
  roots: { name: string; pid: number }[];
  /** Lists payloads, jobs and leases that exist although no request runs. */
  findIdleLeaks(): Promise<string[]>;
  /** Stops the deployment. @returns remaining processes and files, and processes that did not exit with code 0 */
  stop(): Promise<string[]>;
}

const TEAM = 'default';

async function findRemains(temporary: string): Promise<string[]> {
  return [
    ...(await processesWithFolder(temporary)).map((one) => `process ${one}`),
    ...(await filesBelow(temporary)).map((path) => `file ${path}`),
  ];
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const values = text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'gm'));
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** All services in one process group with the bus in memory, as `npm start` runs them. */
export async function startEmbedded(): Promise<Deployment> {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-soak-'));
  const product = await startProduct({ transport: 'memory', env: { TMPDIR: folder } });
  return {
    name: 'embedded',
    target: { key: product.key, running: () => [{ member: { product } }] },
    roots: [{ name: 'embedded', pid: product.gatewayPid }],
    async findIdleLeaks() {
      const payloads = (await filesBelow(folder)).filter((path) => path.includes('parsemesh-payloads-'));
      const jobs = await metric(product.opsUrl, 'parsemesh_jobs_in_flight');
      return [...payloads.map((path) => `payload ${path}`), ...(jobs > 0 ? [`${jobs} jobs in flight`] : [])];
    },
    async stop() {
      const exits = await product.stop();
      const bad = exits.filter(({ code }) => code !== 0).map((exit) => `${exit.service} exited with ${exit.code}`);
      const remains = [...bad, ...(await findRemains(folder))];
      await rm(folder, { recursive: true, force: true });
      return remains;
    },
  };
}

/** The fields that are read of the monitoring endpoint `/jsz?streams=true` of nats-server. */
interface StreamReport {
  account_details?: { stream_detail?: { name: string; state: { messages: number } }[] }[];
}

/** One process per service, and a nats-server. */
export async function startWithNats(): Promise<Deployment> {
  const monitoringPort = await freePort();
  const mesh = await Mesh.start({ copies: 1, natsArgs: ['-m', String(monitoringPort)] });
  const temporary = join(mesh.folder, 'tmp');
  const roots = mesh.members.map(({ name, product }) => ({ name, pid: product?.gatewayPid ?? 0 }));
  return {
    name: 'nats',
    target: mesh,
    roots: [...roots, { name: 'nats-server', pid: mesh.natsPid ?? 0 }],
    async findIdleLeaks() {
      const url = `http://127.0.0.1:${monitoringPort}/jsz?streams=true`;
      const report = (await (await fetch(url)).json()) as StreamReport;
      const streams = report.account_details?.flatMap((one) => one.stream_detail ?? []) ?? [];
      if (streams.length === 0) throw new Error('nats-server reports no streams');
      // Only streams of jobs and payloads must be empty: the key-value store keeps rates for a minute or two.
      const leaks = streams
        .filter(({ name, state }) => /^PARSEMESH_(PAYLOADS|JOBS)/.test(name) && state.messages > 0)
        .map(({ name, state }) => `${state.messages} messages in ${name}`);
      const transport = await connectNats({ url: mesh.natsUrl, name: 'soak' });
      const claims = await transport.state.get(`claims.${Buffer.from(TEAM).toString('hex')}`);
      await transport.close();
      return claims === undefined ? leaks : [...leaks, `leases: ${JSON.stringify(claims)}`];
    },
    async stop() {
      const bad = await mesh.drain();
      const remains = [...bad, ...(await findRemains(temporary))];
      await mesh.stop();
      return remains;
    },
  };
}
