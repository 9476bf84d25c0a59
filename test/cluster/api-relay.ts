// Stands between a gateway and a real API server, so that a test can take the way to it away in each of the manners in which networks do.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';

/** `open`: passes all on. `cut`: ends every connection at once. `silent`: keeps them, and lets nothing through. */
export type RelayMode = 'open' | 'cut' | 'silent';

export interface ApiRelay {
  url: string;
  /** Changes the way for connections to come; `cut` ends, and `silent` mutes for good, those that are there. */
  set(mode: RelayMode): void;
  /** Ends every watch as the API server does where the version it was to start from is compacted away. */
  expireWatches(): void;
  /** Watches that were asked for so far. */
  watches(): number;
  close(): Promise<void>;
}

const GONE = {
  type: 'ERROR',
  object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' },
};

/** @param server `https://host:port` of the API server @param ca PEM, or undefined to accept any certificate */
export async function startApiRelay(server: string, ca: string | Buffer | undefined): Promise<ApiRelay> {
  const target = new URL(server);
  let mode: RelayMode = 'open';
  let asked = 0;
  const sockets = new Set<Socket>();
  const muted = new WeakSet<Socket>();
  const watching = new Set<ServerResponse>();

  const pass = (request: IncomingMessage, response: ServerResponse): void => {
    const upstream = httpsRequest(
      {
        host: target.hostname,
        port: target.port,
        path: request.url,
        method: request.method,
        headers: { ...request.headers, host: target.host },
        agent: false,
        ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
      },
      (answer) => {
        if (muted.has(request.socket)) return void answer.destroy();
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.on('data', (chunk: Buffer) => {
          if (!muted.has(request.socket)) response.write(chunk);
        });
        answer.on('end', () => {
          if (!muted.has(request.socket)) response.end();
        });
        answer.on('error', () => response.destroy());
      },
    );
    upstream.on('error', () => response.destroy());
    response.on('close', () => {
      upstream.destroy();
      watching.delete(response);
    });
    if (/[?&]watch=true/.test(request.url ?? '')) {
      asked += 1;
      watching.add(response);
    }
    request.pipe(upstream);
  };

  const relay = createServer((request, response) => {
    if (!muted.has(request.socket)) pass(request, response);
  });
  relay.on('connection', (socket) => {
    if (mode === 'cut') return void socket.destroy();
    if (mode === 'silent') muted.add(socket);
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const address = relay.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    set(next) {
      mode = next;
      if (next === 'silent') for (const socket of sockets) muted.add(socket);
      if (next === 'cut') for (const socket of sockets) socket.destroy();
    },
    expireWatches() {
      for (const response of watching) {
        response.write(`${JSON.stringify(GONE)}\n`);
        response.end();
      }
    },
    watches: () => asked,
    async close() {
      for (const socket of sockets) socket.destroy();
      relay.close();
      await once(relay, 'close');
    },
  };
}
