// Holds the pages under docs/ to the code they are written from.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { committed, pages } from './tables.ts';

for (const [path, text] of await pages())
  test(`${path} says what the code says`, async () => {
    assert.equal(await committed(path), text, 'run `npm run docs` and commit what it writes');
  });
