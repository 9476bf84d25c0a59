// Tests that the generated pages are up to date, and that the generator rejects missing descriptions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVICE_NAMES } from '#shared/contract/services.ts';
import { committed, distinct, limitDescriptions, pages } from './tables.ts';

for (const [path, text] of await pages())
  test(`${path} is up to date`, async () => {
    assert.equal(await committed(path), text, 'run `npm run docs` and commit the result');
  });

const LIMITS: readonly (readonly [condition: string, source: string, message: RegExp])[] = [
  ['has no comment', '  /** Bytes of a part. */\n  partBytes: 1,\n  nameBytes: 2,', /`nameBytes` has no description/],
  [
    'shares the description of another limit',
    '  /** Bytes of a part. */\n  partBytes: 1,\n  /** Bytes of a part. */\n  nameBytes: 2,',
    /`partBytes` and `nameBytes` have the same description/,
  ],
  ['has a description without its unit', '  /** A pause. */\n  pauseMs: 1,', /`pauseMs` does not name its unit/],
];
for (const [condition, source, message] of LIMITS)
  test(`the generator fails if a limit ${condition}`, () => assert.throws(() => limitDescriptions(source), message));

test('the generator fails if a variable has no description', () =>
  assert.throws(() => distinct('variable', new Map([['PORT', '']])), /the variable `PORT` has no description/));

test('docs/architecture.md describes every service in its table of services', async () => {
  const [, section = ''] = (await committed('docs/architecture.md')).split('\n## Services\n');
  const described = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(described.sort(), [...SERVICE_NAMES].sort());
});
