// `npm run keys`: makes, lists and revokes API keys where running gateways look for them: in the keys file, or in Secrets of a cluster.
import { parseArgs } from 'node:util';
import { type Config, ConfigError, readConfig } from '#shared/runtime/config.ts';
import { KeyFileError } from './gateway/auth/key-file.ts';
import { type KeyStore, openFileStore } from './gateway/auth/key-store.ts';
import { makeKey, NEW_KEY_PLAN, PERMISSIONS, planSchema, randomToken } from './gateway/auth/keys.ts';
import { SecretError } from './gateway/auth/secret.ts';

const USAGE = `usage:
  npm run keys -- create [--team T] [--rate N] [--concurrency N] [--queue N] [--credits N] [--allow ${PERMISSIONS.join(',')}]
  npm run keys -- create --print-manifest ...   (writes the Secret's manifest instead of making it)
  npm run keys -- list
  npm run keys -- revoke KEY|ID
  and where keys are Secrets of a cluster, each with: --kubernetes [--namespace N] [--context C]
rate: requests a minute (${NEW_KEY_PLAN.rate}); concurrency: documents at once (${NEW_KEY_PLAN.concurrency}); queue: requests that may wait (${NEW_KEY_PLAN.queue});
credits: in all (unlimited); allow: permissions, comma-separated (${NEW_KEY_PLAN.allow.join(',')}); team: keys of a team share its concurrency (a team of its own)`;

/** Words for whoever typed the command. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

const text = { type: 'string' } as const;
const yes = { type: 'boolean' } as const;
const PLACE_FLAGS = { kubernetes: yes, namespace: text, context: text };
const PLAN_FLAGS = { team: text, rate: text, concurrency: text, queue: text, credits: text, allow: text };

interface PlaceFlags {
  kubernetes?: boolean | undefined;
  namespace?: string | undefined;
  context?: string | undefined;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const day = (timestamp: string): string => timestamp.slice(0, 10);

function wholeNumber(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,12}$/.test(value)) throw new UsageError(`--${flag} takes a whole number, not "${value}"`);
  return Number(value);
}

/** The configuration with what the flags say of the cluster laid over it. */
function placeOf(config: Config, flags: PlaceFlags): Config {
  const inCluster = flags.kubernetes ?? config.keys.source === 'kubernetes';
  if (!inCluster && (flags.namespace !== undefined || flags.context !== undefined))
    throw new UsageError('--namespace and --context count only with --kubernetes');
  return {
    ...config,
    keys: {
      ...config.keys,
      source: inCluster ? 'kubernetes' : 'file',
      namespace: flags.namespace ?? config.keys.namespace,
    },
  };
}

async function openStore(config: Config, flags: PlaceFlags): Promise<KeyStore> {
  const placed = placeOf(config, flags);
  if (placed.keys.source === 'file') return openFileStore(placed);
  // The cluster's client takes seconds to load, and most never ask it anything.
  const { findCluster } = await import('./gateway/auth/cluster.ts');
  const { openSecretStore } = await import('./gateway/auth/secret-store.ts');
  return openSecretStore(findCluster(placed.keys, flags.context), say);
}

async function printManifest(config: Config, flags: PlaceFlags, key: ReturnType<typeof makeKey>): Promise<void> {
  const { secretManifest } = await import('./gateway/auth/secret-store.ts');
  const { namespace, selector } = placeOf(config, { ...flags, kubernetes: true }).keys;
  print(secretManifest(key, { namespace, selector }));
}

async function create(config: Config, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { ...PLAN_FLAGS, ...PLACE_FLAGS, 'print-manifest': yes } });
  const asked = {
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
  const plan = planSchema.partial({ team: true }).safeParse(asked);
  if (!plan.success)
    throw new UsageError(plan.error.issues.map((issue) => `--${String(issue.path[0])}: ${issue.message}`).join('\n'));
  const token = randomToken();
  const key = makeKey(token, plan.data);
  const manifest = values['print-manifest'] === true;
  if (manifest) await printManifest(config, values, key);
  else await (await openStore(config, values)).add(key);
  // A manifest goes into a file, and the key's value may not.
  const tell = manifest ? say : print;
  tell(
    `key ${key.id} of team ${key.team}: ${key.rate} requests a minute, ${key.concurrency} at once, ${key.queue} waiting, ${key.credits ?? 'unlimited'} credits, allowed: ${key.allow.join(', ') || 'nothing'}`,
  );
  tell('Its value is shown this once:');
  tell(token);
}

async function list(config: Config, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: PLACE_FLAGS });
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
    key.revokedAt ? `revoked ${day(key.revokedAt)}` : 'live',
  ]);
  const table = [['id', 'team', 'rate', 'concurrency', 'queue', 'credits', 'allow', 'created', 'state'], ...rows];
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
  const { values, positionals } = parseArgs({ args, options: PLACE_FLAGS, allowPositionals: true });
  const [wanted] = positionals;
  if (wanted === undefined) throw new UsageError(USAGE);
  const revoked = await (await openStore(config, values)).revoke(wanted);
  if (!revoked) throw new UsageError('no live key has this value or id; see: npm run keys -- list');
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

function isForWhoTyped(error: unknown): boolean {
  if (error instanceof TypeError && 'code' in error) return String(error.code).startsWith('ERR_PARSE_ARGS');
  if (error instanceof UsageError || error instanceof ConfigError || error instanceof KeyFileError) return true;
  return error instanceof SecretError || (error instanceof Error && error.name === 'ClusterError');
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!isForWhoTyped(error)) throw error;
  say(error instanceof Error ? error.message : '');
  process.exitCode = 1;
}
