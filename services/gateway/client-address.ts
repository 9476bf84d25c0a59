// Determines the address of the client of a request, also behind proxies.
import { isIP } from 'node:net';
import type { Request } from 'express';

/**
 * Returns the address that the setting TRUST_PROXY determines. If a proxy sends something else than an IP address, it is the
 * address of the connection, because the client may have written the header.
 */
export function clientAddress(request: Request): string | undefined {
  const { ip = '' } = request;
  const address = isIP(ip) === 0 ? request.socket.remoteAddress : ip;
  // An IPv4 client of a socket that listens on both protocols.
  return address?.replace(/^::ffff:(?=\d+\.)/i, '');
}
