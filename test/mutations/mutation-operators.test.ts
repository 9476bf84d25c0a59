// Tests the mutation operators, and that the code behaves as before while no mutant is active.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMutants } from './mutation-operators.ts';

const CODE = `
const MOST = 4;
export function run(numbers: readonly number[], strict: boolean): string {
  const small = numbers.filter((n) => n < MOST && n >= 0);
  if (strict || small.length > 2) return 'many';
  return small.length > 0 ? 'some' : 'none';
}`;

type Run = (numbers: readonly number[], strict: boolean) => string;
interface WithActiveMutant {
  isMutantActive(id: number): boolean;
}

async function load(constants = false): Promise<{ run: Run; changes: string[]; activate(id: number): void }> {
  const { source, mutants } = createMutants('some.ts', CODE, 7, constants);
  let active = -1;
  (globalThis as unknown as WithActiveMutant).isMutantActive = (id) => id === active;
  const { run } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as { run: Run };
  const changes = mutants.map(({ id, line, change, code }) => `${id} ${line} ${change} ${code}`);
  return { run, changes, activate: (id) => void (active = id) };
}

test('creates a mutant for each operand, condition and filter, and each mutant changes only its own result', async () => {
  const { run, changes, activate } = await load();
  assert.deepEqual(changes.toSorted(), [
    '10 5 false strict',
    '11 5 false small.length > 2',
    '12 6 true small.length > 0',
    '13 6 false small.length > 0',
    '7 4 true n < MOST',
    '8 4 true n >= 0',
    '9 4 everything (n) => n < MOST && n >= 0',
  ]);
  const results = () => [run([1, 9], false), run([-1], false), run([1, 2, 3], false), run([], true)];
  const unchanged = ['some', 'none', 'many', 'many'];
  assert.deepEqual(results(), unchanged);
  activate(10);
  assert.deepEqual(results(), ['some', 'none', 'many', 'none']);
  activate(11);
  assert.deepEqual(results(), ['some', 'none', 'some', 'many']);
  activate(8);
  assert.deepEqual(results(), ['some', 'some', 'many', 'many']);
  activate(-1);
  assert.deepEqual(results(), unchanged);
});

test('creates a larger and a smaller mutant for each named number when constants are requested', async () => {
  const { changes } = await load(true);
  assert.deepEqual(
    changes.filter((one) => one.includes('*')).map((one) => one.slice(-9)),
    ['*1.5 MOST', '0.67 MOST'],
  );
});
