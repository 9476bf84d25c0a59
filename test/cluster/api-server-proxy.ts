// Proxies connections to a real API server, so that a test can interrupt them in the ways that networks fail.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';

/** `forward`: forwards all data. `disconnect`: closes every connection. `stall`: keeps connections open and forwards nothing. */
type ProxyMode = 'forward' | 'disconnect' | 'stall';

export interface ApiServerProxy {
  url: string;
  /** Sets the mode of new connections. `disconnect` also closes existing connections, `stall` stalls them permanently. */
  setMode(mode: ProxyMode): void;
  /** Ends every watch with 410, as the API server does when the resource version of the watch has been compacted. */
  expireWatches(): void;
  /** Number of watches since the start. */
  watchCount(): number;
  close(): Promise<void>;
}

const EXPIRED = {
  type: 'ERROR',
  object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' },
};

/**
 * Starts a proxy on 127.0.0.1.
 * @param server `https://host:port` of the API server
 * @param ca certificate authority (PEM), or undefined to accept any certificate
 */
export async function startApiServerProxy(server: string, ca: string | Buffer | undefined): Promise<ApiServerProxy> {
  const target = new URL(server);
  let mode: ProxyMode = 'forward';
  let watchCount = 0;
  const sockets = new Set<Socket>();
  const stalled = new WeakSet<Socket>();
  const watches = new Set<ServerResponse>();

  const forward = (request: IncomingMessage, response: ServerResponse): void => {
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
        if (stalled.has(request.socket)) return void answer.destroy();
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.on('data', (chunk: Buffer) => {
          if (!stalled.has(request.socket)) response.write(chunk);
        });
        answer.on('end', () => {
          if (!stalled.has(request.socket)) response.end();
        });
        answer.on('error', () => response.destroy());
      },
    );
    upstream.on('error', () => response.destroy());
    response.on('close', () => {
      upstream.destroy();
      watches.delete(response);
    });
    if (/[?&]watch=true/.test(request.url ?? '')) {
      watchCount += 1;
      watches.add(response);
    }
    request.pipe(upstream);
  };

  const proxy = createServer((request, response) => {
    if (!stalled.has(request.socket)) forward(request, response);
  });
  proxy.on('connection', (socket) => {
    if (mode === 'disconnect') return void socket.destroy();
    if (mode === 'stall') stalled.add(socket);
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    setMode(next) {
      mode = next;
      if (next === 'stall') for (const socket of sockets) stalled.add(socket);
      if (next === 'disconnect') for (const socket of sockets) socket.destroy();
    },
    expireWatches() {
      for (const response of watches) {
        response.write(`${JSON.stringify(EXPIRED)}\n`);
        response.end();
      }
    },
    watchCount: () => watchCount,
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
