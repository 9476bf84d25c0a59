// Fixture of report.test.ts: throws after the test that caused it has passed.
import { test } from 'node:test';

test('passes', () => {
  setTimeout(() => {
    throw new Error('thrown too late');
  }, 1);
});
test('takes longer', () => new Promise((resolve) => setTimeout(resolve, 50)));
