// `npm run keys`: makes, lists and revokes API keys in the keys file that a running gateway watches.
import { parseArgs } from 'node:util';
import { ConfigError, readConfig } from '#shared/runtime/config.ts';
import { changeKeyFile, KeyFileError, readKeyFile } from './gateway/auth/key-file.ts';
import { hashToken, makeKey, NEW_KEY_PLAN, PERMISSIONS, planSchema, randomToken } from './gateway/auth/keys.ts';

const USAGE = `usage:
  npm run keys -- create [--team T] [--rate N] [--concurrency N] [--queue N] [--credits N] [--allow ${PERMISSIONS.join(',')}]
  npm run keys -- list
  npm run keys -- revoke KEY|ID
rate: requests a minute (${NEW_KEY_PLAN.rate}); concurrency: documents at once (${NEW_KEY_PLAN.concurrency}); queue: requests that may wait (${NEW_KEY_PLAN.queue});
credits: in all (unlimited); allow: permissions, comma-separated (${NEW_KEY_PLAN.allow.join(',')}); team: keys of a team share its concurrency (a team of its own)`;

/** Words for whoever typed the command. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const day = (timestamp: string): string => timestamp.slice(0, 10);

function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,12}$/.test(text)) throw new UsageError(`--${flag} takes a whole number, not "${text}"`);
  return Number(text);
}

async function create(path: string, args: string[]): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: { team: text, rate: text, concurrency: text, queue: text, credits: text, allow: text },
  });
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
  await changeKeyFile(path, (keys) => ({ keys: [...(keys ?? []), key], result: undefined }));
  print(
    `key ${key.id} of team ${key.team}: ${key.rate} requests a minute, ${key.concurrency} at once, ${key.queue} waiting, ${key.credits ?? 'unlimited'} credits, allowed: ${key.allow.join(', ') || 'nothing'}`,
  );
  print('Its value is shown this once:');
  print(token);
}

async function list(path: string): Promise<void> {
  const keys = (await readKeyFile(path)) ?? [];
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
  ]); // prettier-ignore
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

async function revoke(path: string, wanted: string | undefined): Promise<void> {
  if (wanted === undefined) throw new UsageError(USAGE);
  const hash = hashToken(wanted);
  const revoked = await changeKeyFile(path, (keys = []) => {
    const key = keys.find((one) => one.revokedAt === undefined && (one.sha256 === hash || one.id === wanted));
    if (!key) return { keys: undefined, result: undefined };
    const marked = { ...key, revokedAt: new Date().toISOString() };
    return { keys: keys.map((one) => (one === key ? marked : one)), result: marked };
  });
  if (!revoked) throw new UsageError('no live key has this value or id; see: npm run keys -- list');
  print(`revoked key ${revoked.id} of team ${revoked.team}`);
}

async function main(args: string[]): Promise<void> {
  const path = readConfig().keysFile;
  const [command, ...rest] = args;
  if (command === 'create') return create(path, rest);
  if (command === 'list') return list(path);
  if (command === 'revoke') return revoke(path, rest[0]);
  throw new UsageError(USAGE);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isArgument = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  if (!(isArgument || error instanceof UsageError || error instanceof ConfigError || error instanceof KeyFileError))
    throw error;
  process.stderr.write(`${error instanceof Error ? error.message : ''}\n`);
  process.exitCode = 1;
}
