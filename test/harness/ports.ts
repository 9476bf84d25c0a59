// Reserves TCP ports for the servers that tests start, so that two tests, or a test and an outgoing connection, never get the same port.
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below the range from which Linux takes the ports of outgoing connections (net.ipv4.ip_local_port_range: 32768 to 60999). */
const FIRST_PORT = 20_000;
const PORT_COUNT = 12_000;
const ATTEMPTS = 1_000;

/** Open until this process exits, which releases the ports. */
const reservations: Socket[] = [];

/** Binds the UDP port of the same number, which marks the port as reserved for every other process that runs tests. */
function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      socket.unref();
      reservations.push(socket);
      resolve(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A port of 127.0.0.1 on which nothing listens. It stays reserved until this process exits.
 * @throws Error if no port could be reserved
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORT_COUNT);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
  throw new Error(`no free port was found in ${ATTEMPTS} attempts`);
}
