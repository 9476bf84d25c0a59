// Tests the keys file: stored hashes, file mode, changes while the gateway runs, invalid files, and `npm run keys`.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Logger } from '#shared/runtime/log.ts';
import { createLogger } from '#shared/runtime/log.ts';
import { until } from '../testing/clock.ts';
import { openFileKeys } from './file-source.ts';
import { changeKeyFile, readKeyFile } from './key-file.ts';
import { FIRST_KEY_PLAN, hashToken, type KeySource, makeKey, randomToken } from './keys.ts';

const silent = createLogger({ logLevel: 'silent' }, 'test');
let folder = '';
let counter = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parsemesh-keys-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const freshPath = (): string => join(folder, `sub${++counter}`, 'keys.json');
const open = (path: string, apiKey?: string, log: Logger = silent): Promise<KeySource> =>
  openFileKeys({ path, apiKey, log, onKeys: () => undefined });

function keysCommand(path: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = fileURLToPath(new URL('../../keys.ts', import.meta.url));
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [command, ...args],
      { env: { ...process.env, KEYS_FILE: path } },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    ),
  );
}

test('the first start creates one key, stores only its hash, and lets only the owner read the file', async () => {
  const path = freshPath();
  const keys = await open(path);
  const token = keys.firstKey ?? '';
  assert.match(token, /^pm-[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(keys.find(token)?.allow, ['parse', 'zdr', 'audit']);
  assert.equal(keys.find(`${token}x`), undefined);
  const text = await readFile(path, 'utf8');
  assert.equal(text.includes(token), false);
  assert.ok(text.includes(hashToken(token)));
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  await keys.close();
  const again = await open(path);
  assert.equal(again.firstKey, undefined, 'a later start does not show the key');
  assert.ok(again.find(token));
  await again.close();
});

test('API_KEY becomes the first key, is added to an existing file, and is not added again after it was revoked', async () => {
  const path = freshPath();
  const first = await open(path, 'given-by-the-operator');
  assert.equal(first.firstKey, 'given-by-the-operator');
  await first.close();
  const second = await open(path, 'another-by-the-operator');
  assert.equal(second.firstKey, undefined);
  assert.ok(second.find('given-by-the-operator') && second.find('another-by-the-operator'));
  await second.close();
  assert.equal((await keysCommand(path, 'revoke', 'another-by-the-operator')).code, 0);
  const third = await open(path, 'another-by-the-operator');
  assert.equal(third.find('another-by-the-operator'), undefined);
  await third.close();
});

test('a key that the command creates or revokes takes effect without a restart', async () => {
  const path = freshPath();
  const keys = await open(path);
  const flags = '--team blue --rate 7 --concurrency 2 --queue 0 --credits 9 --allow parse,zdr'.split(' ');
  const created = await keysCommand(path, 'create', ...flags);
  assert.equal(created.code, 0, created.stderr);
  const token = created.stdout.trimEnd().split('\n').at(-1) ?? '';
  await until(() => keys.find(token) !== undefined);
  const { team, rate, concurrency, queue, credits, allow } = keys.find(token) ?? FIRST_KEY_PLAN;
  assert.deepEqual(
    { team, rate, concurrency, queue, credits, allow },
    { team: 'blue', rate: 7, concurrency: 2, queue: 0, credits: 9, allow: ['parse', 'zdr'] },
  );
  const listed = await keysCommand(path, 'list');
  assert.match(listed.stdout, /blue +7 +2 +0 +9 +parse,zdr .*active/);
  assert.equal(listed.stdout.includes(token), false);
  assert.equal((await keysCommand(path, 'revoke', token)).code, 0);
  await until(() => keys.find(token) === undefined);
  assert.equal((await keysCommand(path, 'revoke', token)).code, 1, 'the key is already revoked');
  await keys.close();
});

test('a key with an expiry is listed with its date, and with its state when it has expired', async () => {
  const path = freshPath();
  await changeKeyFile(path, () => {
    const plan = { ...FIRST_KEY_PLAN, team: 'old', expires: '2020-02-03T00:00:00.000Z' };
    return { keys: [makeKey(randomToken(), plan)], result: undefined };
  });
  const year = new Date().getUTCFullYear() + 1;
  const created = await keysCommand(path, 'create', '--team', 'date', '--expires', `${year}-01-31`);
  assert.match(created.stdout, new RegExp(`expires: ${year}-01-31T00:00:00.000Z`));
  const before = Date.now();
  await keysCommand(path, 'create', '--team', 'days', '--expires', '90d');
  const [, , days] = (await readKeyFile(path)) ?? [];
  const lifetime = Date.parse(days?.expires ?? '') - Date.parse(days?.createdAt ?? '');
  assert.ok(Math.abs(lifetime - 90 * 24 * 3_600_000) < Date.now() - before, `${lifetime} ms`);
  const { stdout } = await keysCommand(path, 'list');
  assert.match(stdout, /old .* 2020-02-03 +expired/);
  assert.match(stdout, new RegExp(`date .* ${year}-01-31 +active`));
});

test('the command exits with 1 and a message for wrong arguments, and changes nothing', async () => {
  const path = freshPath();
  for (const args of [
    [],
    ['make'],
    ['create', '--rate', 'x'],
    ['create', '--rate', '0'],
    ['create', '--allow', 'root'],
    ['create', '--expires', '90'],
    ['create', '--expires', '0d'],
    ['create', '--expires', '99999d'],
    ['create', '--expires', '2020-01-01'],
    ['create', '--expires', '2999-02-30'],
    ['create', '--nope'],
    ['revoke'],
  ]) {
    const result = await keysCommand(path, ...args);
    assert.equal(result.code, 1, args.join(' '));
    assert.notEqual(result.stderr.trim(), '');
    assert.doesNotMatch(result.stderr, /at .*:\d+:\d+/);
  }
  assert.equal(await readKeyFile(path), undefined);
});

test('an invalid or missing file keeps the last valid keys, and a corrected file takes effect', async () => {
  const path = freshPath();
  const problems: string[] = [];
  const record = (first: unknown, message?: string): number => problems.push(message ?? String(first));
  const keys = await open(path, undefined, { warn: record, error: record } as unknown as Logger);
  const token = keys.firstKey ?? '';
  const valid = await readFile(path, 'utf8');
  for (const invalid of ['{', '{"version":1}', valid.slice(0, -40)]) {
    problems.length = 0;
    await writeFile(path, invalid);
    await until(() => problems.some((message) => message.includes('the keys file is invalid')));
    assert.ok(keys.find(token), invalid.slice(0, 20));
  }
  await rm(path);
  await until(() => problems.some((message) => message.includes('the keys file is missing')));
  assert.ok(keys.find(token), 'the file is missing');
  await writeFile(path, '{"version":1,"keys":[]}');
  await until(() => keys.find(token) === undefined);
  await keys.close();
  await writeFile(path, '{');
  await assert.rejects(open(path), { name: 'KeyFileError' });
});

test('parallel changes of the file lose no key', async () => {
  const path = freshPath();
  const tokens = Array.from({ length: 20 }, randomToken);
  await Promise.all(
    tokens.map((token) =>
      changeKeyFile(path, (keys) => ({ keys: [...(keys ?? []), makeKey(token, FIRST_KEY_PLAN)], result: undefined })),
    ),
  );
  const stored = (await readKeyFile(path)) ?? [];
  assert.deepEqual(new Set(stored.map((key) => key.sha256)), new Set(tokens.map(hashToken)));
});
