// Starts the product as a user does, over either transport, so that suites test what is shipped and never a part of it in disguise.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';
import { startNatsServer } from './nats-server.ts';
import { freePort } from './ports.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

export type TransportName = 'memory' | 'nats';

/** The transports that this run covers: `TRANSPORTS=memory` or `nats` narrows it. */
export const TRANSPORTS: readonly TransportName[] = (process.env.TRANSPORTS ?? 'memory,nats')
  .split(',')
  .map((name) => name.trim())
  .filter((name): name is TransportName => name === 'memory' || name === 'nats');

/**
 * Why a transport cannot run here, as a skip notice, or false where it can.
 * Under CI nothing is skipped: there a missing nats-server is a failure.
 */
export function skipReason(transport: TransportName): string | false {
  if (transport === 'memory' || process.env.CI) return false;
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };
  const { error } = spawnSync('nats-server', ['--version'], { env, stdio: 'ignore' });
  return error
    ? 'SKIPPED: nats-server is not installed (apt-get install nats-server), so nothing was tested over NATS'
    : false;
}

if (TRANSPORTS.length === 0) throw new Error('TRANSPORTS names memory, nats or both, joined by a comma');

interface StartOptions {
  transport: TransportName;
  /** Laid over the harness's own variables. */
  env?: Record<string, string>;
  /** For `nats`: the services that run; all of them by default. */
  services?: readonly ServiceName[];
  /** Join a bus that is already there instead of starting one (two gateways on one bus). */
  natsUrl?: string;
  /** Put before the command line of each process, so that something watches it; it must become that command itself. */
  before?: (service: string) => readonly string[];
  /** Milliseconds to wait for readiness. A gateway without workers may never be ready: 'live' waits for `/livez` alone. */
  waitFor?: 'ready' | 'live';
  timeoutMs?: number;
}

interface Exit {
  service: string;
  /** Exit code, or null where a signal ended the process. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Product {
  transport: TransportName;
  /** Base address of the API, without a slash at the end. */
  url: string;
  /** Base address of `/livez`, `/readyz`, `/metrics`. */
  opsUrl: string;
  /** The same of each process. */
  opsUrls: ReadonlyMap<string, string>;
  /** A key without limits, made on the first start from `API_KEY`. */
  key: string;
  keysFile: string;
  natsUrl: string | undefined;
  /** The process that holds the HTTP edge. */
  gatewayPid: number;
  pids: ReadonlyMap<string, number>;
  /** Everything that the processes wrote so far. */
  output(): string;
  /** Makes a key through the product's own command and waits until the gateway knows it. @returns the key */
  createKey(...flags: string[]): Promise<string>;
  /** Revokes through the product's own command; does not wait. */
  revokeKey(key: string): Promise<void>;
  /** SIGTERM to the edge, then to every worker, SIGKILL after five minutes; removes everything that the start made. Fine to call twice. */
  stop(): Promise<Exit[]>;
}

const groups = new Set<number>();

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group is gone already.
  }
  groups.delete(pid);
}

process.on('exit', () => {
  for (const pid of groups) killGroup(pid);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

/** What a child inherits: enough to find programs, nothing that would configure the product by accident. */
function baseEnvironment(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'TESSDATA_PREFIX', 'SOFFICE_PATH', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] as string]])),
  );
}

/** The arguments that a script of package.json gives to Node, so that what is tested starts as what is used. */
function commandOf(script: 'start' | 'service'): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<typeof script, string>;
  };
  const [program, ...args] = scripts[script].split(' ');
  if (program !== 'node') throw new Error(`\`npm run ${script}\` does not start Node`);
  return args.map((argument) => (argument.startsWith('-') ? argument : join(ROOT, argument)));
}

interface Running {
  service: string;
  child: ChildProcess;
  exited: Promise<Exit>;
}

function launch(
  service: string,
  args: string[],
  env: Record<string, string>,
  cwd: string,
  log: (text: string) => void,
  before: readonly string[] = [],
): Running {
  const [program = process.execPath, ...rest] = [...before, process.execPath, ...args];
  const child = spawn(program, rest, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) groups.add(child.pid);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', log);
  }
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => {
      log(`\n${service} did not start: ${error.message}\n`);
      resolve({ service, code: null, signal: null });
    });
    child.once('exit', (code, signal) => resolve({ service, code, signal }));
  });
  return { service, child, exited };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** How long to wait for something that must happen. Far more than a busy machine needs: it only bounds the wait. */
const WAIT_LIMIT_MS = 300_000;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Starts the product and resolves once it takes work.
 * memory: `services/start.ts`, one process. nats: a real nats-server and `services/service.ts <name>`, one process a service;
 * there the operations endpoints stand on a port of their own, so that both layouts are tested.
 * @throws Error with the captured output where it does not get ready.
 */
export async function startProduct(options: StartOptions): Promise<Product> {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-test-'));
  const keysFile = join(folder, 'keys.json');
  const key = `fc-test-${crypto.randomUUID()}`;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const running: Running[] = [];
  let text = '';
  const log = (chunk: string) => {
    text += chunk;
  };
  const environment = { ...baseEnvironment(), HOST: '127.0.0.1', LOG_LEVEL: 'warn', KEYS_FILE: keysFile, API_KEY: key };
  let opsUrl = url;
  const opsUrls = new Map<string, string>();
  let nats: { url: string; stop(): Promise<void> } | undefined;

  const stopAll = async (): Promise<Exit[]> => {
    // The gateway first: what it still runs needs its workers.
    const exits: Exit[] = [];
    const end = async (process: Running) => {
      process.child.kill('SIGTERM');
      const late = setTimeout(() => process.child.kill('SIGKILL'), WAIT_LIMIT_MS);
      exits.push(await process.exited);
      clearTimeout(late);
      if (process.child.pid !== undefined) killGroup(process.child.pid);
    };
    for (const process of running.slice(0, 1)) await end(process);
    await Promise.all(running.slice(1).map(end));
    await nats?.stop();
    await rm(folder, { recursive: true, force: true });
    return exits;
  };
  let stopped: Promise<Exit[]> | undefined;
  const stop = () => {
    stopped ??= stopAll();
    return stopped;
  };

  try {
    if (options.transport === 'memory') {
      const env = { ...environment, PORT: String(port), ...options.env };
      running.push(launch('start', commandOf('start'), env, folder, log, options.before?.('start')));
      opsUrls.set('start', url);
    } else {
      if (options.natsUrl === undefined) nats = await startNatsServer();
      const natsUrl = options.natsUrl ?? nats?.url ?? '';
      for (const service of options.services ?? SERVICE_NAMES) {
        const opsPort = await freePort();
        // A start without a gateway (a worker that joins a bus) is asked at its first worker.
        if (service === 'gateway' || running.length === 0) opsUrl = `http://127.0.0.1:${opsPort}`;
        const ports = { PORT: String(service === 'gateway' ? port : opsPort), OPS_PORT: String(opsPort) };
        const env = { ...environment, NATS_URL: natsUrl, ...ports, ...options.env };
        running.push(launch(service, [...commandOf('service'), service], env, folder, log, options.before?.(service)));
        opsUrls.set(service, `http://127.0.0.1:${opsPort}`);
      }
    }
    const edge = running[0];
    if (edge?.child.pid === undefined) throw new Error('the product did not start');
    const goal = `${opsUrl}/${options.waitFor === 'live' ? 'livez' : 'readyz'}`;
    const limit = Date.now() + (options.timeoutMs ?? WAIT_LIMIT_MS);
    while (!(await answers(goal))) {
      const ended = running.find((process) => process.child.exitCode !== null || process.child.signalCode !== null);
      if (ended) throw new Error(`${ended.service} ended before it was ready`);
      if (Date.now() > limit) throw new Error(`${goal} did not answer 200 in time`);
      await pause(50);
    }
    const keys = async (...args: string[]) => {
      const environmentOfKeys = { ...baseEnvironment(), KEYS_FILE: keysFile };
      const { stdout } = await run(process.execPath, [join(ROOT, 'services/keys.ts'), ...args], {
        cwd: folder,
        env: environmentOfKeys,
      });
      return stdout.trim().split('\n').at(-1) ?? '';
    };
    const isKnown = async (candidate: string) => {
      // This endpoint checks the key, but does not count against its rate.
      const response = await fetch(`${url}/v2/parse/formats`, { headers: { authorization: `Bearer ${candidate}` } });
      await response.arrayBuffer();
      return response.status !== 401;
    };
    return {
      transport: options.transport,
      url,
      opsUrl,
      opsUrls,
      key,
      keysFile,
      natsUrl: options.natsUrl ?? nats?.url,
      gatewayPid: edge.child.pid,
      pids: new Map(
        running.flatMap(({ service, child }) => (child.pid === undefined ? [] : [[service, child.pid] as const])),
      ),
      output: () => text,
      createKey: async (...flags) => {
        const created = await keys('create', ...flags);
        const limit = Date.now() + WAIT_LIMIT_MS;
        while (!(await isKnown(created))) {
          if (Date.now() > limit) throw new Error('the gateway does not accept a created key');
          await pause(20);
        }
        return created;
      },
      revokeKey: async (revoked) => {
        await keys('revoke', revoked);
      },
      stop,
    };
  } catch (cause) {
    await stop();
    throw new Error(`${cause instanceof Error ? cause.message : String(cause)}\n--- output of the product:\n${text}`, {
      cause,
    });
  }
}

/** Resident memory of a process in bytes (Linux), and its peak since it started. */
export async function residentMemory(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return { now: kib('VmRSS'), peak: kib('VmHWM') };
}
