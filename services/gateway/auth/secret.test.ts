// Tests how Secrets become keys: valid and invalid fields, the Secrets that the command writes, and an index that follows lists and events.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Secret } from '@kubernetes/client-node';
import { type Key, makeKey, NEW_KEY_PLAN, randomToken } from './keys.ts';
import { buildSecret, parseSecret, SecretError } from './secret.ts';
import { SecretIndex } from './secret-index.ts';

const HASH = 'ab'.repeat(32);
const SELECTOR = 'parsemesh.dev/api-key=true';

function secret(fields: Record<string, string>, name = 'key-one', resourceVersion = '1'): V1Secret {
  const data = Object.fromEntries(
    Object.entries(fields).map(([field, text]) => [field, Buffer.from(text).toString('base64')]),
  );
  return { metadata: { name, resourceVersion, creationTimestamp: new Date('2026-01-02T03:04:05Z') }, data };
}

/** The Secret of a key as the API server returns it. */
function storedSecret(key: Key, resourceVersion = '1'): V1Secret {
  const built = buildSecret(key, { namespace: 'ns', selector: SELECTOR });
  const stored = secret(built.stringData ?? {}, built.metadata?.name, resourceVersion);
  return { ...stored, metadata: { ...built.metadata, ...stored.metadata } };
}

test('a Secret with only a hash is a key with the plan of a new key and the name of the Secret', () => {
  assert.deepEqual(parseSecret(secret({ sha256: HASH })), {
    ...NEW_KEY_PLAN,
    team: 'team-key-one',
    id: 'key-one',
    sha256: HASH,
    createdAt: '2026-01-02T03:04:05.000Z',
  });
});

test('reads every field, and accepts surrounding whitespace and capital letters', () => {
  const fields = {
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
  assert.deepEqual(parseSecret(secret(fields)), {
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

const INVALID: readonly (readonly [name: string, fields: Record<string, string>, message: RegExp])[] = [
  ['no hash', {}, /^sha256: /],
  ['the key value instead of its hash', { sha256: 'pm-secret-value' }, /^sha256: /],
  ['a field with a misspelled name', { sha256: HASH, concurency: '5' }, /concurency/],
  ['the key value in an additional field', { sha256: HASH, key: 'pm-secret-value' }, /"key"/],
  ['a rate that is not a number', { sha256: HASH, rate: 'fast' }, /^rate: /],
  ['a rate of 0', { sha256: HASH, rate: '0' }, /^rate: /],
  ['an unknown permission', { sha256: HASH, allow: 'parse,root' }, /^allow/],
  ['an expiry that is not a date', { sha256: HASH, expires: '90d' }, /^expires: /],
  ['a revocation that is not a date', { sha256: HASH, revokedAt: 'soon' }, /^revokedAt: /],
];
for (const [name, fields, message] of INVALID)
  test(`a Secret with ${name} is invalid, and the error names the field but not its value`, () => {
    assert.throws(
      () => parseSecret(secret(fields)),
      (error) => {
        assert.ok(error instanceof SecretError);
        assert.match(error.message, message);
        assert.equal(error.message.includes('pm-secret-value'), false);
        return true;
      },
    );
  });

test('reads the expiry as a date or a timestamp, and who created and revoked the key from annotations', () => {
  const at = (expires: string) => parseSecret(secret({ sha256: HASH, expires })).expires;
  assert.equal(at('2027-01-31\n'), '2027-01-31T00:00:00.000Z');
  assert.equal(at('2027-01-31T12:00:00Z'), '2027-01-31T12:00:00Z');
  const annotated = secret({ sha256: HASH });
  annotated.metadata = {
    ...annotated.metadata,
    annotations: { 'parsemesh.dev/created-by': 'ada@desk', 'parsemesh.dev/revoked-by': 'bob@desk', other: 'x' },
  };
  const { createdBy, revokedBy } = parseSecret(annotated);
  assert.deepEqual([createdBy, revokedBy], ['ada@desk', 'bob@desk']);
});

test('the gateway reads the Secret that the command writes', () => {
  for (const credits of [null, 12]) {
    const plan = { ...NEW_KEY_PLAN, credits, allow: ['parse', 'audit'] as const, expires: '2027-01-31T00:00:00.000Z' };
    const key = makeKey(randomToken(), { ...plan, allow: [...plan.allow], createdBy: 'ada@desk' });
    assert.deepEqual({ ...parseSecret(storedSecret(key)), createdAt: key.createdAt }, key);
  }
});

test('a new Secret has the labels that the selector matches, and a selector without name=value terms is an error', () => {
  const key = makeKey(randomToken(), NEW_KEY_PLAN);
  const labels = (selector: string) => buildSecret(key, { namespace: 'n', selector }).metadata?.labels;
  assert.deepEqual(labels('a=b, example.com/c==d'), { a: 'b', 'example.com/c': 'd' });
  for (const selector of ['a', '!a', 'a!=b', 'a in (b,c)']) assert.throws(() => labels(selector), SecretError);
});

test('the index follows lists and events, and logs an invalid Secret once by its name', () => {
  const logged: unknown[] = [];
  const observed: string[][] = [];
  const index = new SecretIndex({ error: (line: unknown) => logged.push(line) } as never, (stored) => {
    observed.push(stored.map(({ key, version }) => `${key.id} ${version}${key.revokedAt ? ' revoked' : ''}`));
  });
  const tokens = [randomToken(), randomToken(), randomToken()] as const;
  const keys = tokens.map((token) => makeKey(token, NEW_KEY_PLAN));
  const [first, second, third] = keys;
  assert.ok(first && second && third);
  const found = () => tokens.map((token) => index.find(token)?.id);

  index.replaceAll([storedSecret(first), storedSecret(second), secret({ rate: '5' }, 'broken')]);
  assert.deepEqual(found(), [first.id, second.id, undefined]);
  assert.equal(index.size, 2);
  index.set(secret({ rate: '5' }, 'broken'));
  assert.equal(logged.length, 1);
  const { reason, ...rest } = logged[0] as { reason: string };
  assert.deepEqual(rest, { secret: 'broken' });
  assert.match(reason, /^sha256: /);

  index.set(storedSecret(third));
  index.delete(storedSecret(first));
  assert.deepEqual(found(), [undefined, second.id, third.id]);
  index.set(storedSecret({ ...second, revokedAt: '2026-03-04T05:06:07Z' }, '2'));
  assert.deepEqual(found(), [undefined, undefined, third.id], 'the second key is revoked');

  // The next list does not contain a Secret that was deleted while the gateway was not connected. An invalid Secret gives no key.
  const invalid = { ...storedSecret(third, '3'), data: {} };
  index.replaceAll([storedSecret(second, '4'), invalid]);
  assert.deepEqual(found(), [undefined, second.id, undefined]);
  assert.equal(logged.length, 2);
  assert.deepEqual(
    observed,
    [
      [`${first.id} 1`, `${second.id} 1`],
      [`${first.id} 1`, `${second.id} 1`, `${third.id} 1`],
      [`${second.id} 1`, `${third.id} 1`],
      [`${second.id} 2 revoked`, `${third.id} 1`],
      [`${second.id} 4`],
    ],
    'the keys after each list and each change',
  );
});
