// `npm run keys`: creates, lists and revokes API keys in the keys file or in Secrets of a Kubernetes cluster.
import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { KEYS_LIMITS } from '#shared/contract/limits.ts';
import { type Config, ConfigError, readConfig } from '#shared/runtime/config.ts';
import { KeyFileError } from './gateway/auth/key-file.ts';
import { type KeyStore, openFileStore } from './gateway/auth/key-store.ts';
import { isExpired, makeKey, NEW_KEY_PLAN, PERMISSIONS, planSchema, randomToken } from './gateway/auth/keys.ts';
import { SecretError } from './gateway/auth/secret.ts';

const USAGE = `usage:
  npm run keys -- create [options]    creates a key and prints its value
  npm run keys -- list                lists all keys, without their values
  npm run keys -- revoke KEY|ID       revokes the key with this value or id

Options of create:
  --team T           team of the key; keys of a team share its concurrency (default: a new team)
  --rate N           requests per minute (default: ${NEW_KEY_PLAN.rate})
  --concurrency N    documents that are converted at the same time (default: ${NEW_KEY_PLAN.concurrency})
  --queue N          requests that may wait for a slot (default: ${NEW_KEY_PLAN.queue})
  --credits N        credits in total (default: unlimited)
  --allow LIST       permissions, comma-separated: ${PERMISSIONS.join(', ')} (default: ${NEW_KEY_PLAN.allow.join(',')})
  --expires WHEN     a number of days such as 90d, or a date such as 2027-01-31, at whose start (UTC) it expires (default: never)
  --print-manifest   prints the manifest of the Kubernetes Secret instead of storing the key

Options of every command, for keys in Kubernetes Secrets:
  --kubernetes       uses Secrets instead of the keys file
  --namespace N      namespace of the Secrets
  --context C        context of the kubeconfig file`;

/** The command line is invalid. The message is meant for the user. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

const text = { type: 'string' } as const;
const boolean = { type: 'boolean' } as const;
const STORE_FLAGS = { kubernetes: boolean, namespace: text, context: text };
const PLAN_FLAGS = {
  team: text,
  rate: text,
  concurrency: text,
  queue: text,
  credits: text,
  allow: text,
  expires: text,
};

interface StoreFlags {
  kubernetes?: boolean | undefined;
  namespace?: string | undefined;
  context?: string | undefined;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const printError = (line: string): void => void process.stderr.write(`${line}\n`);
const DAY_MS = 24 * 60 * 60_000;
const day = (timestamp: string): string => timestamp.slice(0, 10);

function wholeNumber(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,12}$/.test(value)) throw new UsageError(`--${flag} must be an integer, not "${value}"`);
  return Number(value);
}

/** Reads `90d` or `2027-01-31`. @returns an ISO timestamp in the future */
function readExpiry(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const days = /^(\d{1,5})d$/.exec(value)?.[1];
  const date = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(`${value}T00:00:00Z`) : Number.NaN;
  const expires = days === undefined ? date : Date.now() + Number(days) * DAY_MS;
  // Date.parse accepts some days that a month does not have.
  const exists = days !== undefined || (!Number.isNaN(date) && new Date(date).toISOString().startsWith(value));
  if (!exists)
    throw new UsageError(`--expires must be a number of days such as 90d or a date such as 2027-01-31, not "${value}"`);
  if (expires <= Date.now() || expires > Date.now() + KEYS_LIMITS.expiryDays * DAY_MS)
    throw new UsageError(`--expires must be in the future, and at most ${KEYS_LIMITS.expiryDays} days away`);
  return new Date(expires).toISOString();
}

/** The user and host that run this command. */
function actor(): string {
  let user = `uid ${process.getuid?.() ?? 'unknown'}`;
  try {
    user = userInfo().username;
  } catch {
    // A container may run with a user id that has no name.
  }
  const { SUDO_USER } = process.env;
  return `${SUDO_USER ? `${SUDO_USER} as ` : ''}${user}@${hostname()}`.slice(0, 256);
}

/** The configuration with the values of the flags. */
function withStoreFlags(config: Config, flags: StoreFlags): Config {
  const inCluster = flags.kubernetes ?? config.keys.source === 'kubernetes';
  if (!inCluster && (flags.namespace !== undefined || flags.context !== undefined))
    throw new UsageError('--namespace and --context require --kubernetes');
  return {
    ...config,
    keys: {
      ...config.keys,
      source: inCluster ? 'kubernetes' : 'file',
      namespace: flags.namespace ?? config.keys.namespace,
    },
  };
}

async function openStore(config: Config, flags: StoreFlags): Promise<KeyStore> {
  const effective = withStoreFlags(config, flags);
  if (effective.keys.source === 'file') return openFileStore(effective);
  // Loaded only here, because the Kubernetes client takes seconds to load.
  const { openCluster } = await import('./gateway/auth/cluster.ts');
  const { openSecretStore } = await import('./gateway/auth/secret-store.ts');
  return openSecretStore(openCluster(effective.keys, flags.context), printError);
}

async function printManifest(config: Config, flags: StoreFlags, key: ReturnType<typeof makeKey>): Promise<void> {
  const { secretManifest } = await import('./gateway/auth/secret-store.ts');
  const { namespace, selector } = withStoreFlags(config, { ...flags, kubernetes: true }).keys;
  print(secretManifest(key, { namespace, selector }));
}

async function create(config: Config, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { ...PLAN_FLAGS, ...STORE_FLAGS, 'print-manifest': boolean } });
  const requested = {
    team: values.team,
    rate: wholeNumber('rate', values.rate) ?? NEW_KEY_PLAN.rate,
    concurrency: wholeNumber('concurrency', values.concurrency) ?? NEW_KEY_PLAN.concurrency,
    queue: wholeNumber('queue', values.queue) ?? NEW_KEY_PLAN.queue,
    credits: wholeNumber('credits', values.credits) ?? NEW_KEY_PLAN.credits,
    allow:
      values.allow === undefined
        ? NEW_KEY_PLAN.allow
        : values.allow
            .split(',')
            .map((name) => name.trim())
            .filter(Boolean),
  };
  const plan = planSchema.partial({ team: true }).safeParse(requested);
  if (!plan.success)
    throw new UsageError(plan.error.issues.map((issue) => `--${String(issue.path[0])}: ${issue.message}`).join('\n'));
  const expires = readExpiry(values.expires);
  const token = randomToken();
  const key = makeKey(token, { ...plan.data, createdBy: actor(), ...(expires === undefined ? {} : { expires }) });
  const manifest = values['print-manifest'] === true;
  if (manifest) await printManifest(config, values, key);
  else await (await openStore(config, values)).add(key);
  // Users redirect a manifest to a file, which must not contain the value of the key.
  const write = manifest ? printError : print;
  write(
    `key ${key.id} of team ${key.team}: ${key.rate} requests per minute, ${key.concurrency} at the same time, ${key.queue} waiting, ${key.credits ?? 'unlimited'} credits, permissions: ${key.allow.join(', ') || 'none'}, expires: ${key.expires ?? 'never'}`,
  );
  write('The value of the key is shown only once:');
  write(token);
}

async function list(config: Config, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: STORE_FLAGS });
  const keys = await (await openStore(config, values)).list();
  const rows = keys.map((key) => [
    key.id,
    key.team,
    String(key.rate),
    String(key.concurrency),
    String(key.queue),
    String(key.credits ?? 'unlimited'),
    key.allow.join(',') || '-',
    day(key.createdAt),
    key.expires ? day(key.expires) : 'never',
    key.revokedAt ? `revoked ${day(key.revokedAt)}` : isExpired(key, Date.now()) ? 'expired' : 'active',
  ]);
  const table = [
    ['id', 'team', 'rate', 'concurrency', 'queue', 'credits', 'allow', 'created', 'expires', 'state'],
    ...rows,
  ];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? [];
  for (const row of table)
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

async function revoke(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: STORE_FLAGS, allowPositionals: true });
  const [wanted] = positionals;
  if (wanted === undefined) throw new UsageError(USAGE);
  const revoked = await (await openStore(config, values)).revoke(wanted, actor());
  if (!revoked) throw new UsageError('no active key has this value or id; list all keys with: npm run keys -- list');
  print(`revoked key ${revoked.id} of team ${revoked.team}`);
}

async function main(args: string[]): Promise<void> {
  const config = readConfig();
  const [command, ...rest] = args;
  if (command === 'create') return create(config, rest);
  if (command === 'list') return list(config, rest);
  if (command === 'revoke') return revoke(config, rest);
  throw new UsageError(USAGE);
}

function isUserError(error: unknown): boolean {
  if (error instanceof TypeError && 'code' in error) return String(error.code).startsWith('ERR_PARSE_ARGS');
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof KeyFileError) return true;
  return error instanceof SecretError || (error instanceof Error && error.name === 'ClusterError');
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!isUserError(error)) throw error;
  printError(error instanceof Error ? error.message : '');
  process.exitCode = 1;
}
