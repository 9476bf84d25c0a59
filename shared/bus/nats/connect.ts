// Builds the connect options that say who this process is to the NATS server: address, credentials, certificates, inbox.
import type { NodeConnectionOptions } from '@nats-io/transport-node';
import { readAddress } from './address.ts';

/** Files with PEM certificates. The client reads them at each connect, so a rotated certificate applies at the next reconnect. */
interface TlsFiles {
  /** Certificate authorities that sign the server's certificate. Without it, the authorities of the system apply. */
  ca?: string;
  /** Client certificate and its key: both or neither. */
  cert?: string;
  key?: string;
}

export interface ServerOptions {
  /** `nats://host:4222`, or several servers separated by commas. May contain `user:password@` or `token@`. */
  url: string;
  /** Shown in the server's list of connections. */
  name: string;
  /** Name of the service. The process receives replies only below `_INBOX.<service>` and `parsemesh.reply.<service>`. */
  service?: string;
  /** The connection must use TLS. The server's certificate must be valid for its host name. */
  tls?: TlsFiles;
}

/** The service of a process that is all of them, such as a test. */
export const DEFAULT_SERVICE = 'parsemesh';
/** All inboxes of a service are below this subject. */
export const inboxPrefix = (service: string): string => `_INBOX.${service}`;

/** The options of one process for `connect` of the client. */
export function connectOptions({ url, name, service = DEFAULT_SERVICE, tls }: ServerOptions): NodeConnectionOptions {
  return {
    ...readAddress(url),
    name,
    inboxPrefix: inboxPrefix(service),
    ...(tls ? { tls: tlsOptions(tls) } : {}),
  };
}

function tlsOptions({ ca, cert, key }: TlsFiles): NonNullable<NodeConnectionOptions['tls']> {
  return {
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(cert === undefined ? {} : { certFile: cert }),
    ...(key === undefined ? {} : { keyFile: key }),
  };
}
