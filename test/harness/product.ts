// Starts the product with its own commands, over either transport, so that tests run what users run.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';
import { type AccountServer, startAccountServer } from './nats-accounts.ts';
import { freePort } from './ports.ts';
import { type Exit, hasExited, launch, type ServiceProcess, stopProcess, WAIT_LIMIT_MS } from './processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

export type TransportName = 'memory' | 'nats';

/** The transports that this run tests. `TRANSPORTS=memory` or `TRANSPORTS=nats` selects one. */
export const TRANSPORTS: readonly TransportName[] = (process.env.TRANSPORTS ?? 'memory,nats')
  .split(',')
  .map((name) => name.trim())
  .filter((name): name is TransportName => name === 'memory' || name === 'nats');

if (TRANSPORTS.length === 0) throw new Error('TRANSPORTS must be memory, nats, or both joined by a comma');

/** Why tests of this transport are skipped, or false if they run. In CI, a missing nats-server is a failure. */
export function skipReason(transport: TransportName): string | false {
  if (transport === 'memory' || process.env.CI) return false;
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };
  const { error } = spawnSync('nats-server', ['--version'], { env, stdio: 'ignore' });
  return error
    ? 'SKIPPED: nats-server is not installed (apt-get install nats-server), so nothing was tested over NATS'
    : false;
}

interface StartOptions {
  transport: TransportName;
  /** Overrides the variables of the harness. */
  env?: Record<string, string>;
  /** For `nats`: the services to start; all by default. */
  services?: readonly ServiceName[];
  /** For `nats`: a server that is already running. By default a new one is started, with a user for each service. */
  natsUrl?: string;
  /** A command to put before that of each process, such as strace. It must keep the process id. */
  before?: (service: string) => readonly string[];
  /** Folder that contains the files of a process; the repository by default. */
  folder?: (service: string) => string;
  /** `live` waits for `/livez` only, because a gateway without workers is never ready. */
  waitFor?: 'ready' | 'live';
}

export interface Product {
  transport: TransportName;
  /** Base URL of the API, without a slash at the end. */
  url: string;
  /** Base URL of `/livez`, `/readyz` and `/metrics` of the gateway, or of the first service if there is no gateway. */
  opsUrl: string;
  /** The same of each process, by service; `start` is the only one over memory. */
  opsUrls: ReadonlyMap<string, string>;
  /** The value of `API_KEY`: a key without limits. */
  key: string;
  keysFile: string;
  natsUrl: string | undefined;
  /** Process id of the gateway, or of the first service if there is no gateway. */
  gatewayPid: number;
  pids: ReadonlyMap<string, number>;
  /** Everything that the processes have written. */
  output(): string;
  /** Creates a key with `npm run keys -- create FLAGS` and waits until the gateway accepts it. @returns the key */
  createKey(...flags: string[]): Promise<string>;
  /** Revokes a key with `npm run keys -- revoke`. Does not wait for the gateway. */
  revokeKey(key: string): Promise<void>;
  /** Stops the gateway, then the workers, and removes all files of the product. It can be called twice. */
  stop(): Promise<Exit[]>;
}

/** What a process inherits: what it needs to find programs, and nothing that configures the product. */
function baseEnvironment(): Record<string, string> {
  const names = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR', 'TESSDATA_PREFIX', 'SOFFICE_PATH', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] as string]])),
  );
}

/** The command of a script of package.json, so that tests use the same arguments as users. @param folder contains the program */
function commandOf(script: 'start' | 'service', folder: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<typeof script, string>;
  };
  const [program, ...args] = scripts[script].split(' ');
  if (program !== 'node') throw new Error(`\`npm run ${script}\` does not start Node`);
  return [process.execPath, ...args.map((argument) => (argument.startsWith('-') ? argument : join(folder, argument)))];
}

/** Whether a GET request gets status 200. */
async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** The processes of one product with their ports, folder and output. */
class Deployment {
  readonly key = `fc-test-${crypto.randomUUID()}`;
  readonly folder: string;
  readonly keysFile: string;
  readonly url: string;
  readonly opsUrls = new Map<string, string>();
  readonly #options: StartOptions;
  readonly #port: number;
  readonly #processes: ServiceProcess[] = [];
  #nats: AccountServer | undefined;
  #output = '';
  #stopped: Promise<Exit[]> | undefined;

  private constructor(options: StartOptions, folder: string, port: number) {
    this.#options = options;
    this.folder = folder;
    this.keysFile = join(folder, 'keys.json');
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Creates a deployment without processes. */
  static async create(options: StartOptions): Promise<Deployment> {
    return new Deployment(options, await mkdtemp(join(tmpdir(), 'parsemesh-test-')), await freePort());
  }

  get natsUrl(): string | undefined {
    return this.#options.natsUrl ?? this.#nats?.urlOf('operator');
  }

  get opsUrl(): string {
    return this.opsUrls.get('gateway') ?? [...this.opsUrls.values()][0] ?? this.url;
  }

  get pids(): Map<string, number> {
    return new Map(
      this.#processes.flatMap(({ service, child }) => (child.pid === undefined ? [] : [[service, child.pid] as const])),
    );
  }

  get output(): string {
    return this.#output;
  }

  #folderOf(service: string): string {
    return this.#options.folder?.(service) ?? ROOT;
  }

  /** Starts all processes and waits until the product is ready. @throws Error if a process exits before that */
  async start(): Promise<void> {
    if (this.#options.transport === 'memory') {
      this.opsUrls.set('start', this.url);
      this.#launch('start', commandOf('start', this.#folderOf('start')), { PORT: String(this.#port) });
    } else await this.#startServices(this.#options.services ?? SERVICE_NAMES);
    const limit = Date.now() + WAIT_LIMIT_MS;
    // The gateway is ready when each queue has a worker, but a worker may still start processes.
    for (const opsUrl of this.opsUrls.values()) {
      const probe = `${opsUrl}/${this.#options.waitFor === 'live' ? 'livez' : 'readyz'}`;
      while (!(await isOk(probe))) {
        const exited = this.#processes.find(hasExited);
        if (exited) throw new Error(`${exited.service} exited before it was ready`);
        if (Date.now() > limit) throw new Error(`${probe} did not return 200 within ${WAIT_LIMIT_MS} ms`);
        await pause(50);
      }
    }
  }

  async #startServices(services: readonly ServiceName[]): Promise<void> {
    if (this.#options.natsUrl === undefined) this.#nats = await startAccountServer();
    for (const service of services) {
      const opsPort = await freePort();
      this.opsUrls.set(service, `http://127.0.0.1:${opsPort}`);
      this.#launch(service, [...commandOf('service', this.#folderOf(service)), service], {
        NATS_URL: this.#nats?.urlOf(service) ?? this.natsUrl ?? '',
        PORT: String(service === 'gateway' ? this.#port : opsPort),
        OPS_PORT: String(opsPort),
      });
    }
  }

  #launch(service: string, command: readonly string[], variables: Record<string, string>): void {
    const env = {
      ...baseEnvironment(),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      KEYS_FILE: this.keysFile,
      API_KEY: this.key,
      ...variables,
      ...this.#options.env,
    };
    const log = (text: string) => {
      this.#output += text;
    };
    const before = this.#options.before?.(service) ?? [];
    this.#processes.push(launch({ service, command: [...before, ...command], env, cwd: this.folder, log }));
  }

  /** Runs `npm run keys` with these arguments. @returns the last line of its output */
  async runKeys(...args: string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [join(this.#folderOf('gateway'), 'services/keys.ts'), ...args], {
      cwd: this.folder,
      env: { ...baseEnvironment(), KEYS_FILE: this.keysFile },
    });
    return stdout.trim().split('\n').at(-1) ?? '';
  }

  async createKey(flags: readonly string[]): Promise<string> {
    const key = await this.runKeys('create', ...flags);
    const limit = Date.now() + WAIT_LIMIT_MS;
    while (!(await this.#accepts(key))) {
      if (Date.now() > limit) throw new Error('the gateway does not accept a new key');
      await pause(20);
    }
    return key;
  }

  async #accepts(key: string): Promise<boolean> {
    // This endpoint checks the key, but does not count against its rate.
    const response = await fetch(`${this.url}/v2/parse/formats`, { headers: { authorization: `Bearer ${key}` } });
    await response.arrayBuffer();
    return response.status !== 401;
  }

  stop(): Promise<Exit[]> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<Exit[]> {
    const [gateway, ...workers] = this.#processes;
    // The gateway first, because its running requests need the workers.
    const exits = gateway ? [await stopProcess(gateway)] : [];
    exits.push(...(await Promise.all(workers.map(stopProcess))));
    await this.#nats?.stop();
    await rm(this.folder, { recursive: true, force: true });
    return exits;
  }
}

/**
 * Starts the product and waits until it accepts requests.
 * Over `memory` it is one process, `services/start.ts`. Over `nats` it is a nats-server and one process per service,
 * `services/service.ts NAME`, whose operations endpoints have a port of their own: so both layouts are tested.
 * @throws Error with the output of the processes if it does not become ready
 */
export async function startProduct(options: StartOptions): Promise<Product> {
  const deployment = await Deployment.create(options);
  try {
    await deployment.start();
  } catch (cause) {
    await deployment.stop();
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${message}\n--- output of the product:\n${deployment.output}`, { cause });
  }
  const { url, opsUrl, opsUrls, key, keysFile, natsUrl, pids } = deployment;
  return {
    transport: options.transport,
    url,
    opsUrl,
    opsUrls,
    key,
    keysFile,
    natsUrl,
    gatewayPid: [...pids.values()][0] ?? 0,
    pids,
    output: () => deployment.output,
    createKey: (...flags) => deployment.createKey(flags),
    revokeKey: async (revoked) => void (await deployment.runKeys('revoke', revoked)),
    stop: () => deployment.stop(),
  };
}

/** Resident memory of a process in bytes, and its highest value so far. Linux only. */
export async function residentMemory(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
  return { now: kib('VmRSS'), peak: kib('VmHWM') };
}
