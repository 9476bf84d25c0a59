// The product as a cluster runs it: one nats-server, several gateways and workers, each a process that a suite may kill and start again.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SERVICE_NAMES, type ServiceName } from '#shared/contract/services.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { type Product, startProduct } from '../harness/product.ts';

/** One process of the mesh, which keeps its place when it is killed and started again. */
export interface Member {
  /** `pdf-1`: its service and its number. */
  readonly name: string;
  readonly service: ServiceName;
  /** Undefined between a kill and the next start. */
  product: Product | undefined;
}

export interface MeshOptions {
  /** Processes of each service, or of those that are named alone. */
  copies: number | Partial<Record<ServiceName, number>>;
  /** Laid over every process's environment. */
  env?: Record<string, string>;
  /** More of nats-server's command line. */
  natsArgs?: string[];
}

export class Mesh {
  readonly members: readonly Member[];
  /** Private folder: keys, the bus's store, the processes' temporary files. */
  readonly folder: string;
  readonly key = `fc-chaos-${crypto.randomUUID()}`;
  readonly #env: Record<string, string>;
  readonly #port: number;
  readonly #natsArgs: string[];
  /** What processes wrote that are gone. */
  #said = '';
  #nats: NatsServer | undefined;

  private constructor(folder: string, nats: NatsServer, options: MeshOptions) {
    this.folder = folder;
    this.#nats = nats;
    this.#port = nats.port;
    this.#natsArgs = options.natsArgs ?? [];
    this.#env = {
      KEYS_FILE: join(folder, 'keys.json'),
      API_KEY: this.key,
      TMPDIR: join(folder, 'tmp'),
      LOG_LEVEL: 'info',
      ...options.env,
    };
    const { copies } = options;
    this.members = SERVICE_NAMES.flatMap((service) =>
      Array.from({ length: typeof copies === 'number' ? copies : (copies[service] ?? 0) }, (_, index): Member => {
        return { name: `${service}-${index + 1}`, service, product: undefined };
      }),
    );
  }

  /** Starts the bus and every process, and resolves once all are ready. */
  static async start(options: MeshOptions): Promise<Mesh> {
    const folder = await mkdtemp(join(tmpdir(), 'parsemesh-chaos-'));
    const nats = await startNatsServer({ storeDir: join(folder, 'store'), args: options.natsArgs ?? [] });
    const mesh = new Mesh(folder, nats, options);
    try {
      await mkdir(join(folder, 'tmp'));
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

  /** Processes of a service that are there. */
  of(service: ServiceName): { member: Member; product: Product }[] {
    return this.members.flatMap((member) =>
      member.service === service && member.product ? [{ member, product: member.product }] : [],
    );
  }

  /** Starts a member's process and waits until it is ready. */
  async launch(member: Member): Promise<void> {
    member.product = await startProduct({
      transport: 'nats',
      natsUrl: this.natsUrl,
      services: [member.service],
      env: this.#env,
    });
  }

  /** Kills a member's process as a machine that loses power would. Its place stays empty until `launch`. */
  async kill(member: Member): Promise<void> {
    const { product } = member;
    if (!product) return;
    member.product = undefined;
    process.kill(product.gatewayPid, 'SIGKILL');
    await product.stop();
    this.#said += product.output();
  }

  /** Ends the bus; its store stays. */
  async stopNats(signal: NodeJS.Signals): Promise<void> {
    await this.#nats?.stop(signal);
    this.#nats = undefined;
  }

  /** Starts the bus again on the same store and port. `args`: more of its command line, this time. */
  async startNats(args: readonly string[] = []): Promise<void> {
    const storeDir = join(this.folder, 'store');
    this.#nats = await startNatsServer({ storeDir, port: this.#port, args: [...this.#natsArgs, ...args] });
  }

  /** Everything that the processes wrote. */
  output(): string {
    return this.#said + this.members.map((member) => member.product?.output() ?? '').join('');
  }

  /** Ends the product's processes the polite way, gateways first. @returns those that did not end by themselves with 0 */
  async drain(): Promise<string[]> {
    const bad: string[] = [];
    const end = async (member: Member) => {
      const exits = (await member.product?.stop()) ?? [];
      for (const { code, signal } of exits) if (code !== 0) bad.push(`${member.name}: ${signal ?? code}`);
      this.#said += member.product?.output() ?? '';
      member.product = undefined;
    };
    await Promise.all(this.members.filter(({ service }) => service === 'gateway').map(end));
    await Promise.all(this.members.filter(({ service }) => service !== 'gateway').map(end));
    return bad;
  }

  /** Drains, ends the bus and removes the folder. */
  async stop(): Promise<string[]> {
    const bad = await this.drain();
    await this.#nats?.stop();
    await rm(this.folder, { recursive: true, force: true });
    return bad;
  }
}
