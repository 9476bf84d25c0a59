// Tests what a request gets that waits for the bus, and how many requests may wait for it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryTransport } from '#shared/bus/memory.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { BusWaitLimit, busTimeout } from './bus-wait.ts';

test('a bounded number of requests is processed while the bus is away, and any number otherwise', async () => {
  const transport = createMemoryTransport();
  const limit = new BusWaitLimit(transport.bus);
  const leave = Array.from({ length: REQUEST_LIMITS.waitingForBus + 1 }, () => limit.enter());
  await transport.close();
  assert.throws(() => limit.enter(), { name: 'BusUnavailableError' });
  leave.pop()?.();
  assert.throws(() => limit.enter(), { name: 'BusUnavailableError' });
  leave.pop()?.();
  limit.enter();
});

test('a timeout is the fault of the bus if it is away or did not answer for a second', async () => {
  const transport = createMemoryTransport();
  const { bus } = transport;
  assert.equal(busTimeout(bus, Date.now()).name, 'DeadlineError');
  assert.equal(busTimeout(bus, Date.now() - 1_000).name, 'BusUnavailableError');
  await transport.close();
  assert.equal(busTimeout(bus, Date.now()).name, 'BusUnavailableError');
});
