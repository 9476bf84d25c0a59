// Keys on disk: hashed, private to their owner, followed while they change, and never lost to a broken or half-written file.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createLogger } from '#shared/runtime/log.ts';
import { openFileKeys } from './file-source.ts';
import { changeKeyFile, readKeyFile } from './key-file.ts';
import { FIRST_KEY_PLAN, hashToken, type KeySource, makeKey, randomToken } from './keys.ts';

const log = createLogger({ logLevel: 'silent' }, 'test');
let folder = '';
let counter = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parsemesh-keys-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const freshPath = (): string => join(folder, `sub${++counter}`, 'keys.json');
const open = (path: string, apiKey?: string): Promise<KeySource> => openFileKeys({ path, apiKey, log });

async function within(milliseconds: number, condition: () => boolean): Promise<void> {
  const end = Date.now() + milliseconds;
  while (!condition() && Date.now() < end) await sleep(20);
  assert.ok(condition(), `not within ${milliseconds} ms`);
}

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

test('the first start makes one key, which the file holds only as a hash, for its owner alone', async () => {
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
  assert.equal(again.firstKey, undefined, 'shown once');
  assert.ok(again.find(token));
  await again.close();
});

test('API_KEY is the first key, is added to a file that lacks it, and does not come back once revoked', async () => {
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

test('a key that is made or revoked on the command line counts within a second', async () => {
  const path = freshPath();
  const keys = await open(path);
  const made = await keysCommand(
    path,
    'create',
    '--team',
    'blue',
    '--rate',
    '7',
    '--concurrency',
    '2',
    '--queue',
    '0',
    '--credits',
    '9',
    '--allow',
    'parse,zdr',
  );
  assert.equal(made.code, 0, made.stderr);
  const token = made.stdout.trimEnd().split('\n').at(-1) ?? '';
  await within(1_000, () => keys.find(token) !== undefined);
  const { team, rate, concurrency, queue, credits, allow } = keys.find(token) ?? FIRST_KEY_PLAN;
  assert.deepEqual(
    { team, rate, concurrency, queue, credits, allow },
    { team: 'blue', rate: 7, concurrency: 2, queue: 0, credits: 9, allow: ['parse', 'zdr'] },
  );
  const listed = await keysCommand(path, 'list');
  assert.match(listed.stdout, /blue +7 +2 +0 +9 +parse,zdr .*active/);
  assert.equal(listed.stdout.includes(token), false);
  assert.equal((await keysCommand(path, 'revoke', token)).code, 0);
  await within(1_000, () => keys.find(token) === undefined);
  assert.equal((await keysCommand(path, 'revoke', token)).code, 1, 'there is nothing left to revoke');
  await keys.close();
});

test('wrong flags are told and change nothing', async () => {
  const path = freshPath();
  for (const args of [
    [],
    ['make'],
    ['create', '--rate', 'x'],
    ['create', '--rate', '0'],
    ['create', '--allow', 'root'],
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

test('a file that breaks keeps the last known keys, and counts again once it is mended', async () => {
  const path = freshPath();
  const keys = await open(path);
  const token = keys.firstKey ?? '';
  const good = await readFile(path, 'utf8');
  for (const broken of ['{', '{"version":1}', good.slice(0, -40)]) {
    await writeFile(path, broken);
    await sleep(600);
    assert.ok(keys.find(token), broken.slice(0, 20));
  }
  await rm(path);
  await sleep(600);
  assert.ok(keys.find(token), 'gone');
  await writeFile(path, '{"version":1,"keys":[]}');
  await within(1_000, () => keys.find(token) === undefined);
  await keys.close();
  await writeFile(path, '{');
  await assert.rejects(open(path), { name: 'KeyFileError' });
});

test('writers at the same time lose nothing', async () => {
  const path = freshPath();
  const tokens = Array.from({ length: 20 }, randomToken);
  await Promise.all(
    tokens.map((token) =>
      changeKeyFile(path, (keys) => ({ keys: [...(keys ?? []), makeKey(token, FIRST_KEY_PLAN)], result: undefined })),
    ),
  );
  const kept = (await readKeyFile(path)) ?? [];
  assert.deepEqual(new Set(kept.map((key) => key.sha256)), new Set(tokens.map(hashToken)));
});
