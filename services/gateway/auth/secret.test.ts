// Secrets as people and tools write them: which become keys, which are refused and with what words, and what a list and a watch make of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Secret } from '@kubernetes/client-node';
import { type Key, makeKey, NEW_KEY_PLAN, randomToken } from './keys.ts';
import { SecretRing } from './kubernetes-source.ts';
import { DEFAULT_SELECTOR, readSecret, SecretError, writeSecret } from './secret.ts';

const HASH = 'ab'.repeat(32);

function secret(fields: Record<string, string>, name = 'key-one', resourceVersion = '1'): V1Secret {
  const data = Object.fromEntries(
    Object.entries(fields).map(([field, text]) => [field, Buffer.from(text).toString('base64')]),
  );
  return { metadata: { name, resourceVersion, creationTimestamp: new Date('2026-01-02T03:04:05Z') }, data };
}

/** As the API server gives back what `writeSecret` made. */
function stored(key: Key, resourceVersion = '1'): V1Secret {
  const made = writeSecret(key, { namespace: 'ns', selector: DEFAULT_SELECTOR });
  return secret(made.stringData ?? {}, made.metadata?.name, resourceVersion);
}

test('a hash alone is a key with the plan of a new one, named as its Secret', () => {
  assert.deepEqual(readSecret(secret({ sha256: HASH })), {
    ...NEW_KEY_PLAN,
    team: 'team-key-one',
    id: 'key-one',
    sha256: HASH,
    createdAt: '2026-01-02T03:04:05.000Z',
  });
});

test('every field counts, with the line feeds and capitals that editors and tools leave', () => {
  const written = {
    sha256: `${HASH.toUpperCase()}\n`,
    id: 'blue-1',
    team: 'blue ',
    rate: '7\n',
    concurrency: '2',
    queue: '0',
    credits: '9',
    allow: 'parse, zdr\n',
    revokedAt: '2026-03-04T05:06:07Z\n',
  };
  assert.deepEqual(readSecret(secret(written)), {
    id: 'blue-1',
    sha256: HASH,
    team: 'blue',
    rate: 7,
    concurrency: 2,
    queue: 0,
    credits: 9,
    allow: ['parse', 'zdr'],
    revokedAt: '2026-03-04T05:06:07Z',
    createdAt: '2026-01-02T03:04:05.000Z',
  });
});

const BAD: readonly (readonly [what: string, fields: Record<string, string>, words: RegExp])[] = [
  ['no hash', {}, /^sha256: /],
  ['the key itself for its hash', { sha256: 'pm-secret-value' }, /^sha256: /],
  ['a field of another name', { sha256: HASH, concurency: '5' }, /concurency/],
  ['the key beside its hash', { sha256: HASH, key: 'pm-secret-value' }, /"key"/],
  ['a rate that is no number', { sha256: HASH, rate: 'fast' }, /^rate: /],
  ['a rate of nothing', { sha256: HASH, rate: '0' }, /^rate: /],
  ['a permission that is none', { sha256: HASH, allow: 'parse,root' }, /^allow/],
  ['a revocation that is no date', { sha256: HASH, revokedAt: 'soon' }, /^revokedAt: /],
];
for (const [what, fields, words] of BAD)
  test(`refused: ${what}`, () => {
    assert.throws(
      () => readSecret(secret(fields)),
      (error) => {
        assert.ok(error instanceof SecretError);
        assert.match(error.message, words);
        assert.equal(error.message.includes('pm-secret-value'), false, 'a value is never said');
        return true;
      },
    );
  });

test('what the command makes is what the gateway reads', () => {
  for (const credits of [null, 12]) {
    const key = makeKey(randomToken(), { ...NEW_KEY_PLAN, credits, allow: ['parse', 'audit'] });
    assert.deepEqual({ ...readSecret(stored(key)), createdAt: key.createdAt }, key);
  }
});

test('the labels of a Secret are those that the selector asks for', () => {
  const key = makeKey(randomToken(), NEW_KEY_PLAN);
  const labels = (selector: string) => writeSecret(key, { namespace: 'n', selector }).metadata?.labels;
  assert.deepEqual(labels('a=b, example.com/c==d'), { a: 'b', 'example.com/c': 'd' });
  for (const selector of ['a', '!a', 'a!=b', 'a in (b,c)']) assert.throws(() => labels(selector), SecretError);
});

test('a ring follows lists and events, and a Secret that is not valid is said once, by its name, and opens nothing', () => {
  const said: unknown[] = [];
  const ring = new SecretRing({ error: (line: unknown) => said.push(line) } as never);
  const tokens = [randomToken(), randomToken(), randomToken()] as const;
  const keys = tokens.map((token) => makeKey(token, NEW_KEY_PLAN));
  const [first, second, third] = keys;
  assert.ok(first && second && third);
  const known = () => tokens.map((token) => ring.find(token)?.id);

  ring.replace([stored(first), stored(second), secret({ rate: '5' }, 'broken')]);
  assert.deepEqual(known(), [first.id, second.id, undefined]);
  assert.equal(ring.size, 2);
  ring.put(secret({ rate: '5' }, 'broken'));
  assert.deepEqual(said, [{ secret: 'broken', reason: said.length ? (said[0] as { reason: string }).reason : '' }]);

  ring.put(stored(third));
  ring.remove(stored(first));
  assert.deepEqual(known(), [undefined, second.id, third.id]);
  ring.put(stored({ ...second, revokedAt: '2026-03-04T05:06:07Z' }, '2'));
  assert.deepEqual(known(), [undefined, undefined, third.id], 'marked as revoked');

  // What was deleted while nobody watched is missing from the next list, and what broke meanwhile is a key no more.
  const broken = { ...stored(third, '3'), data: {} };
  ring.replace([stored(second, '4'), broken]);
  assert.deepEqual(known(), [undefined, second.id, undefined]);
  assert.equal(said.length, 2);
});
