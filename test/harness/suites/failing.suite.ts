// Fixture of report.test.ts: fails in each way in which a test can fail.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

console.error('text that explains the failure');
describe('a suite', () => {
  test('fails with a diff', () => assert.deepEqual({ boats: 2 }, { boats: 3 }));
  test('passes', () => undefined);
});
describe('a suite whose before hook fails', () => {
  before(() => {
    throw new Error('the before hook failed');
  });
  test('is cancelled', () => undefined);
});
describe('a suite whose after hook fails', () => {
  after(() => {
    throw new Error('the after hook failed');
  });
  test('passes', () => undefined);
});
test('times out', { timeout: 20 }, () => new Promise((resolve) => setTimeout(resolve, 60_000).unref()));
