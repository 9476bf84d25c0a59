// Tests when a worker starts an idle process for its spare slot.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { SpareProcess } from './spare-process.ts';

/** A pool with one process for each slot. */
function poolOf(concurrency: number) {
  const pool = {
    size: concurrency,
    async warm() {
      pool.size += 1;
    },
  };
  return pool;
}

function start(context: TestContext, concurrency: number) {
  context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  const pool = poolOf(concurrency);
  const spare = new SpareProcess(pool, concurrency, { checkMs: 1_000 });
  const pass = (ms: number): void => context.mock.timers.tick(ms);
  return { spare, pass, size: (): number => pool.size, endProcess: () => void (pool.size -= 1) };
}

test('starts one process while all slots are used, and a new one if it has ended', (context) => {
  const { spare, pass, size, endProcess } = start(context, 2);
  spare.begin();
  pass(5_000);
  assert.equal(size(), 2, 'a slot is free');
  spare.begin();
  pass(900);
  assert.equal(size(), 2, 'not for short work');
  pass(5_000);
  assert.equal(size(), 3);
  endProcess();
  pass(1_000);
  assert.equal(size(), 3);
});

test('many short jobs one after the other count as work, a pause does not', (context) => {
  const { spare, pass, size } = start(context, 1);
  for (let count = 0; count < 4; count++) {
    spare.begin();
    pass(50);
    spare.end();
    pass(900);
  }
  assert.equal(size(), 1);
  for (let count = 0; count < 20; count++) {
    spare.begin();
    pass(90);
    spare.end();
    pass(10);
  }
  assert.equal(size(), 2);
});
