// Tests the measurement of the server's clock: which samples count, and that a real server's clock is measured.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startNatsServer } from '#test/harness/nats-server.ts';
import { skipReason } from '#test/harness/product.ts';
import { openConnection } from './connection.ts';
import { ClockFilter } from './server-clock.ts';

describe('the filter of clock samples', () => {
  const filterOf = (...samples: [offsetMs: number, errorMs: number][]): ClockFilter => {
    const filter = new ClockFilter();
    for (const [index, [offsetMs, errorMs]] of samples.entries()) filter.add({ offsetMs, errorMs, at: index * 10_000 });
    return filter;
  };

  it('has no offset before the first sample', () => {
    assert.equal(filterOf().offsetMs(), undefined);
  });

  it('prefers a sample with a short round trip to a later one with a long round trip', () => {
    assert.equal(filterOf([5_000, 1], [4_600, 500]).offsetMs(), 5_000);
  });

  it('prefers the latest of several samples that are equally good', () => {
    assert.equal(filterOf([5_000, 1], [5_001, 1]).offsetMs(), 5_001);
  });

  it('follows a clock that was set, although the sample has a long round trip', () => {
    assert.equal(filterOf([5_000, 1], [-10_000, 500]).offsetMs(), -10_000);
  });

  it('keeps good samples when the clocks drift apart slowly', () => {
    assert.equal(filterOf([100, 1], [106, 3]).offsetMs(), 100);
  });

  it('forgets old samples', () => {
    const old = Array.from({ length: 8 }, (): [number, number] => [110, 50]);
    assert.equal(filterOf([100, 1], ...old).offsetMs(), 110);
  });
});

describe('the clock of a NATS server', { skip: skipReason('nats') }, () => {
  it('agrees with the clock of this machine, on which the server runs', async () => {
    const server = await startNatsServer();
    const connection = await openConnection({ url: server.url, name: 'clock-test' });
    const now = connection.clock.now();
    assert.ok(now !== undefined && Math.abs(now - Date.now()) < 100, `differs by ${(now ?? 0) - Date.now()} ms`);
    await connection.close();
    await server.stop();
  });
});
