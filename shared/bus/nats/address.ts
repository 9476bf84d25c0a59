// Takes the credentials out of NATS_URL, which the client library looks for in its options alone.

export interface ServerAddress {
  servers: string[];
  user?: string;
  pass?: string;
  token?: string;
}

/**
 * Servers and credentials of `nats://user:password@host:4222` or `tls://token@host`, or several of those divided by commas.
 * The first that carries credentials speaks for all: the servers of one cluster share them. A part may be percent-encoded.
 */
export function readAddress(urls: string): ServerAddress {
  const address: ServerAddress = { servers: [] };
  for (const url of urls.split(',').map((one) => one.trim())) {
    // The last @ before a path: a password that was not encoded may hold one.
    const [, scheme = '', credentials, rest = ''] = /^([a-z]+:\/\/)?(?:(.*)@)?([^@]*)$/i.exec(url) ?? [];
    if (rest !== '') address.servers.push(scheme + rest);
    if (!credentials || address.user !== undefined || address.token !== undefined) continue;
    const colon = credentials.indexOf(':');
    if (colon < 0) address.token = decoded(credentials);
    else {
      address.user = decoded(credentials.slice(0, colon));
      address.pass = decoded(credentials.slice(colon + 1));
    }
  }
  return address;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone % stands for itself.
    return text;
  }
}
