// Describes a server that already runs, such as a container, to the tests: PRODUCT_URL is its URL and PRODUCT_KEY its API key.
import { spawnSync } from 'node:child_process';
import type { Product } from './product.ts';

/** What a test needs is not known of a running server. The test is skipped. */
export class NotAvailableError extends Error {
  override readonly name = 'NotAvailableError';
}

function notAvailable(what: string): never {
  throw new NotAvailableError(`a server at PRODUCT_URL does not show its ${what}`);
}

/**
 * Runs PRODUCT_KEYS with these arguments, for example `docker compose exec -T gateway node services/keys.ts`.
 * @returns the last line of its output
 */
function runKeys(...args: string[]): string {
  const command = process.env.PRODUCT_KEYS;
  if (command === undefined) return notAvailable('command for keys: set PRODUCT_KEYS');
  const [program = '', ...first] = command.split(' ');
  const { status, stdout, stderr } = spawnSync(program, [...first, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout.trim().split('\n').at(-1) ?? '';
}

/** The server at PRODUCT_URL, or undefined if the variable is not set. */
export function runningProduct(): Product | undefined {
  const { PRODUCT_URL: url, PRODUCT_KEY: key, PRODUCT_OPS_URL: opsUrl } = process.env;
  if (url === undefined) return undefined;
  if (key === undefined) throw new Error('PRODUCT_URL needs PRODUCT_KEY, an API key of that server');
  return {
    // The tests use it in names, and where the two layouts differ.
    transport: 'nats',
    url: url.replace(/\/$/, ''),
    key,
    natsUrl: undefined,
    get opsUrl() {
      return opsUrl ?? notAvailable('operations endpoints: set PRODUCT_OPS_URL');
    },
    get opsUrls() {
      return notAvailable('operations endpoints');
    },
    get keysFile() {
      return notAvailable('keys file');
    },
    get gatewayPid() {
      return notAvailable('processes');
    },
    get pids() {
      return notAvailable('processes');
    },
    output: () => notAvailable('output'),
    async createKey(...flags) {
      const created = runKeys('create', ...flags);
      for (let attempt = 0; attempt < 600; attempt++) {
        const headers = { authorization: `Bearer ${created}` };
        const response = await fetch(`${url}/v2/parse/formats`, { headers });
        await response.arrayBuffer();
        if (response.status !== 401) return created;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error('the server does not accept a new key');
    },
    revokeKey: async (revoked) => void runKeys('revoke', revoked),
    stop: async () => [],
  };
}
