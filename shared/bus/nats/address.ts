// Splits NATS_URL into servers and credentials, because the client library reads credentials only from its options.

export interface ServerAddress {
  servers: string[];
  user?: string;
  pass?: string;
  token?: string;
}

/**
 * Reads `nats://user:password@host:4222` or `tls://token@host`, or several of them separated by commas. The first
 * credentials apply to all servers, because all servers of a cluster accept them. Credentials may be percent-encoded.
 */
export function readAddress(urls: string): ServerAddress {
  const address: ServerAddress = { servers: [] };
  for (const url of urls.split(',').map((one) => one.trim())) {
    // Splits at the last @, because a password that is not percent-encoded may contain one.
    const [, scheme = '', credentials, rest = ''] = /^([a-z]+:\/\/)?(?:(.*)@)?([^@]*)$/i.exec(url) ?? [];
    if (rest !== '') address.servers.push(scheme + rest);
    if (!credentials || address.user !== undefined || address.token !== undefined) continue;
    const colon = credentials.indexOf(':');
    if (colon < 0) address.token = decodePercent(credentials);
    else {
      address.user = decodePercent(credentials.slice(0, colon));
      address.pass = decodePercent(credentials.slice(colon + 1));
    }
  }
  return address;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The text is not percent-encoded: it contains a plain %.
    return text;
  }
}
