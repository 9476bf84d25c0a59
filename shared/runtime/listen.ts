// Opens the port of a server, and tells the operator which variable to change if the operating system refuses it.
import type { Server } from 'node:http';
import { ConfigError } from './config.ts';

/** An address of this process, and the variables that set it. */
interface ListenAddress {
  host: string;
  /** 0 picks a free port. */
  port: number;
  variables: { host: string; port: string };
}

/** The variables of the API's address. */
export const API_VARIABLES = { host: 'HOST', port: 'PORT' } as const;
/** The variables of the address of the probes and metrics. */
export const OPS_VARIABLES = { host: 'OPS_HOST', port: 'OPS_PORT' } as const;

/**
 * Starts listening.
 * @returns the port
 * @throws ConfigError if the port is in use or reserved for root, or if this machine has no such address; the listen error for any other cause
 */
export function listen(server: Server, at: ListenAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(explain(error, at));
    server.once('error', onError);
    server.listen(at.port, at.host, () => {
      server.off('error', onError);
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : at.port);
    });
  });
}

function explain(error: NodeJS.ErrnoException, { host, port, variables }: ListenAddress): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new ConfigError(
        `the port is in use: another program listens on port ${port} of ${host}. Set ${variables.port} to another port, for example: ${variables.port}=${port < 65_535 ? port + 1 : port - 1}`,
      );
    case 'EACCES':
      return new ConfigError(
        `this user may not listen on port ${port} of ${host}. Set ${variables.port} to a port from 1024 on, for example: ${variables.port}=8080`,
      );
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError(
        `this machine has no address ${host}. Set ${variables.host} to one of its addresses, for example: ${variables.host}=127.0.0.1, or ${variables.host}=0.0.0.0 for all of them`,
      );
    default:
      return error;
  }
}
