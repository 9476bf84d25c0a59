// Holds what is a mutant, and that the code is what it was while none is switched on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutate } from './mutants.ts';

const CODE = `
const MOST = 4;
export function run(numbers: readonly number[], strict: boolean): string {
  const small = numbers.filter((n) => n < MOST && n >= 0);
  if (strict || small.length > 2) return 'many';
  return small.length > 0 ? 'some' : 'none';
}`;

type Run = (numbers: readonly number[], strict: boolean) => string;
interface Switched {
  mutant(id: number): boolean;
}

async function load(constants = false): Promise<{ run: Run; changes: string[]; on(id: number): void }> {
  const { source, mutants } = mutate('some.ts', CODE, 7, constants);
  let chosen = -1;
  (globalThis as unknown as Switched).mutant = (id) => id === chosen;
  const { run } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as { run: Run };
  const changes = mutants.map(({ id, line, change, code }) => `${id} ${line} ${change} ${code}`);
  return { run, changes, on: (id) => void (chosen = id) };
}

test('operands, conditions and filters can be switched off one at a time, and nothing else changes', async () => {
  const { run, changes, on } = await load();
  assert.deepEqual(changes.toSorted(), [
    '10 5 false strict',
    '11 5 false small.length > 2',
    '12 6 true small.length > 0',
    '13 6 false small.length > 0',
    '7 4 true n < MOST',
    '8 4 true n >= 0',
    '9 4 everything (n) => n < MOST && n >= 0',
  ]);
  const all = () => [run([1, 9], false), run([-1], false), run([1, 2, 3], false), run([], true)];
  const usual = ['some', 'none', 'many', 'many'];
  assert.deepEqual(all(), usual);
  on(10);
  assert.deepEqual(all(), ['some', 'none', 'many', 'none']);
  on(11);
  assert.deepEqual(all(), ['some', 'none', 'some', 'many']);
  on(8);
  assert.deepEqual(all(), ['some', 'some', 'many', 'many']);
  on(-1);
  assert.deepEqual(all(), usual);
});

test('numbers that stand by their name at the head of a file are tried larger and smaller where that is asked for', async () => {
  const { changes } = await load(true);
  assert.deepEqual(
    changes.filter((one) => one.includes('*')).map((one) => one.slice(-9)),
    ['*1.5 MOST', '0.67 MOST'],
  );
});
