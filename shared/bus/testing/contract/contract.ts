// Runs all contract tests against one kind of bus.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inMs, job, lateDeadline, newQueue } from '../jobs.ts';
import { testDeadlines } from './deadlines.ts';
import { testFairness } from './fairness.ts';
import { testPayloads } from './payloads.ts';
import type { BusUnderTest, Peers } from './peers.ts';
import { testProgress } from './progress.ts';
import { testQueueDepth } from './queue-depth.ts';
import { testRequests } from './requests.ts';
import { testSharedState } from './shared-state.ts';

export function testContract(startBus: () => Promise<BusUnderTest>): void {
  let started: Peers | undefined;
  before(async () => {
    const bus = await startBus();
    started = { bus, startBus, requester: await bus.connect(), worker: await bus.connect() };
  });
  after(() => started?.bus.close());
  const peers = (): Peers => {
    assert.ok(started, 'the bus is started');
    return started;
  };

  describe('requests', () => testRequests(peers));
  describe('teams', () => testFairness(peers));
  describe('progress', () => testProgress(peers));
  describe('deadlines and cancellation', () => testDeadlines(peers));
  describe('queue depth', () => testQueueDepth(peers));
  describe('payloads', () => testPayloads(peers));
  describe('shared state', () => testSharedState(peers));

  it('rejects running and new requests with BusUnavailableError when the transport is closed', async () => {
    const bus = await peers().startBus();
    const transport = await bus.connect();
    const request = transport.bus.request(newQueue(), job(), { deadline: lateDeadline() });
    const rejected = assert.rejects(request, { name: 'BusUnavailableError' });
    await bus.close();
    await rejected;
    assert.equal(transport.bus.connected(), false);
    await assert.rejects(transport.bus.request(newQueue(), job(), { deadline: inMs(1_000) }), {
      name: 'BusUnavailableError',
    });
  });
}
