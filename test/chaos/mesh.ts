// Runs the product as a cluster does: one nats-server and several gateways and workers, each a process that a test can kill and start again.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { type Product, startProduct } from '../harness/product.ts';
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts';

/** One process of the mesh. It is the same member after it is killed and started again. */
export interface Member {
  /** Service and number, for example `pdf-1`. */
  readonly name: string;
  readonly service: ServiceName;
  /** Undefined between a kill and the next start. */
  product: Product | undefined;
  /** The connection of this process to the bus, which a phase can cut or stall. */
  readonly network: TcpProxy;
  /** Folder for the temporary files of this process. */
  readonly temporary: string;
}

interface LaunchOptions {
  /** Added to the environment of the process, for this start only. */
  env?: Record<string, string>;
  /** `live` does not wait until the process is ready. */
  waitFor?: 'ready' | 'live';
}

interface MeshOptions {
  /** Number of processes of each service, or by service (0 for the others). */
  copies: number | Partial<Record<ServiceName, number>>;
  /** Added to the environment of each process. */
  env?: Record<string, string>;
  /** Additional arguments of nats-server. */
  natsArgs?: string[];
}

export class Mesh {
  readonly members: readonly Member[];
  /** Temporary folder: keys, the store of the bus, and temporary files of the processes. */
  readonly folder: string;
  readonly key = `fc-chaos-${crypto.randomUUID()}`;
  readonly #env: Record<string, string>;
  readonly #port: number;
  readonly #natsArgs: string[];
  /** Output of the processes that were stopped or killed. */
  #earlierOutput = '';
  #nats: NatsServer | undefined;

  private constructor(folder: string, nats: NatsServer, members: readonly Member[], options: MeshOptions) {
    this.folder = folder;
    this.members = members;
    this.#nats = nats;
    this.#port = nats.port;
    this.#natsArgs = options.natsArgs ?? [];
    this.#env = {
      KEYS_FILE: join(folder, 'keys.json'),
      API_KEY: this.key,
      LOG_LEVEL: 'info',
      ...options.env,
    };
  }

  /** Starts the bus and all processes and waits until they are ready. */
  static async start(options: MeshOptions): Promise<Mesh> {
    const folder = await mkdtemp(join(tmpdir(), 'parsemesh-chaos-'));
    const nats = await startNatsServer({ storeDir: join(folder, 'store'), args: options.natsArgs ?? [] });
    const { copies } = options;
    const members: Member[] = [];
    for (const service of SERVICE_NAMES)
      for (let number = 1; number <= (typeof copies === 'number' ? copies : (copies[service] ?? 0)); number++) {
        const name = `${service}-${number}`;
        const temporary = join(folder, 'tmp', name);
        await mkdir(temporary, { recursive: true });
        members.push({ name, service, product: undefined, network: await startTcpProxy(nats.port), temporary });
      }
    const mesh = new Mesh(folder, nats, members, options);
    try {
      await Promise.all(mesh.members.map((member) => mesh.launch(member)));
      return mesh;
    } catch (error) {
      await mesh.stop();
      throw error;
    }
  }

  get natsUrl(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  get natsPid(): number | undefined {
    return this.#nats?.pid;
  }

  /** The running processes of a service. */
  running(service: ServiceName): { member: Member; product: Product }[] {
    return this.members.flatMap((member) =>
      member.service === service && member.product ? [{ member, product: member.product }] : [],
    );
  }

  /** Starts the process of a member and waits until it is ready. */
  async launch(member: Member, { env = {}, waitFor = 'ready' }: LaunchOptions = {}): Promise<void> {
    member.product = await startProduct({
      transport: 'nats',
      natsUrl: member.network.url,
      services: [member.service],
      env: { ...this.#env, TMPDIR: member.temporary, ...env },
      waitFor,
    });
  }

  /** Kills the process of a member with SIGKILL, like a power failure. `launch` starts it again. */
  async kill(member: Member): Promise<void> {
    const { product } = member;
    if (!product) return;
    member.product = undefined;
    process.kill(product.gatewayPid, 'SIGKILL');
    await product.stop();
    this.#earlierOutput += product.output();
  }

  /** Stops the process of a member with SIGTERM: it finishes its work first. `launch` starts it again. */
  async terminate(member: Member): Promise<void> {
    const { product } = member;
    // The load sends no more requests to it.
    member.product = undefined;
    await product?.stop();
    this.#earlierOutput += product?.output() ?? '';
  }

  /** Stops nats-server and keeps its store. */
  async stopNats(signal: NodeJS.Signals): Promise<void> {
    await this.#nats?.stop(signal);
    this.#nats = undefined;
  }

  /**
   * Starts nats-server again with the same port.
   * @param args additional arguments for this start only
   * @param store `empty` deletes the store first
   */
  async startNats(args: readonly string[] = [], store: 'kept' | 'empty' = 'kept'): Promise<void> {
    const storeDir = join(this.folder, 'store');
    if (store === 'empty') await rm(storeDir, { recursive: true, force: true });
    this.#nats = await startNatsServer({ storeDir, port: this.#port, args: [...this.#natsArgs, ...args] });
  }

  /** The output of all processes. */
  output(): string {
    return this.#earlierOutput + this.members.map((member) => member.product?.output() ?? '').join('');
  }

  /** Stops the processes with SIGTERM, gateways first. @returns the processes that did not exit with code 0 */
  async drain(): Promise<string[]> {
    const bad: string[] = [];
    const end = async (member: Member) => {
      const exits = (await member.product?.stop()) ?? [];
      for (const { code, signal } of exits) if (code !== 0) bad.push(`${member.name}: ${signal ?? code}`);
      this.#earlierOutput += member.product?.output() ?? '';
      member.product = undefined;
    };
    await Promise.all(this.members.filter(({ service }) => service === 'gateway').map(end));
    await Promise.all(this.members.filter(({ service }) => service !== 'gateway').map(end));
    return bad;
  }

  /** Drains the processes, stops nats-server and removes the folder. @returns as `drain` */
  async stop(): Promise<string[]> {
    const bad = await this.drain();
    await this.#nats?.stop();
    await Promise.all(this.members.map(({ network }) => network.close()));
    await rm(this.folder, { recursive: true, force: true });
    return bad;
  }
}
