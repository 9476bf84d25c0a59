// Fixture of report.test.ts: passes and is skipped, and writes text that a green run must not show.
import { describe, test } from 'node:test';

console.log('noise on standard output');
console.error('noise on standard error');
test('passes', () => undefined);
describe('a skipped suite', { skip: 'the tool is not installed' }, () => {
  test('is not run', () => undefined);
});
