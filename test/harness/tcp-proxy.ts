// Forwards TCP connections to a server, so that a test can cut or stall the network between a client and its server.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './ports.ts';

export interface TcpProxy {
  /** Port of the proxy on 127.0.0.1. It stays the same after a cut. */
  port: number;
  /** The address of the proxy for NATS clients: `nats://127.0.0.1:PORT`. */
  url: string;
  /** Closes all connections and refuses new ones. Both sides notice at once. */
  cut(): Promise<void>;
  /**
   * Stops forwarding without closing anything, as a network that loses all packets: only a timeout tells the two sides. The
   * operating system holds what they still send.
   * @param which `all`: also new connections, which are accepted but not forwarded. `open`: only those that are open now, as
   * when a firewall has forgotten them
   */
  stall(which?: 'all' | 'open'): void;
  /** Ends a cut or a stall. Stalled connections that are still open go on, with the bytes that were held. */
  resume(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a proxy on a free port of 127.0.0.1. @param targetPort port of the server on 127.0.0.1 */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const proxy = new ForwardingServer(targetPort, await freePort());
  await proxy.resume();
  return proxy;
}

/** One client and its connection to the server. */
class Pair {
  readonly #client: Socket;
  readonly #server: Socket;
  #forwards = false;

  constructor(client: Socket, server: Socket, onClosed: () => void) {
    this.#client = client;
    this.#server = server;
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => this.destroy());
      from.on('close', () => {
        to.destroy();
        onClosed();
      });
    }
    this.resume();
  }

  stall(): void {
    this.#forwards = false;
    for (const socket of [this.#client, this.#server]) {
      socket.unpipe();
      socket.pause();
    }
  }

  resume(): void {
    // A second `pipe` would send everything twice.
    if (this.#forwards) return;
    this.#forwards = true;
    this.#client.pipe(this.#server);
    this.#server.pipe(this.#client);
  }

  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }
}

class ForwardingServer implements TcpProxy {
  readonly port: number;
  readonly url: string;
  readonly #targetPort: number;
  readonly #pairs = new Set<Pair>();
  /** Clients that connected while new connections stall. */
  readonly #waiting = new Set<Socket>();
  #server: Server | undefined;
  #stallsNew = false;

  constructor(targetPort: number, port: number) {
    this.#targetPort = targetPort;
    this.port = port;
    this.url = `nats://127.0.0.1:${port}`;
  }

  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const each of [...this.#pairs, ...this.#waiting]) each.destroy();
    this.#pairs.clear();
    this.#waiting.clear();
    if (!server) return;
    server.close();
    await once(server, 'close');
  }

  stall(which: 'all' | 'open' = 'all'): void {
    this.#stallsNew = which === 'all';
    for (const pair of this.#pairs) pair.stall();
  }

  async resume(): Promise<void> {
    this.#stallsNew = false;
    for (const pair of this.#pairs) pair.resume();
    for (const client of this.#waiting) this.#forward(client);
    this.#waiting.clear();
    if (this.#server) return;
    this.#server = createServer({ pauseOnConnect: true }, (client) => this.#accept(client));
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    await this.cut();
  }

  #accept(client: Socket): void {
    if (!this.#stallsNew) {
      this.#forward(client);
      return;
    }
    this.#waiting.add(client);
    client.on('error', () => client.destroy());
    client.once('close', () => this.#waiting.delete(client));
  }

  #forward(client: Socket): void {
    const pair: Pair = new Pair(client, connect(this.#targetPort, '127.0.0.1'), () => this.#pairs.delete(pair));
    this.#pairs.add(pair);
  }
}
