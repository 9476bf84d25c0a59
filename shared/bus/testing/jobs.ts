// Builds jobs and handlers for the tests of the bus.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery, JobAnswer, JobMessage, ServeOptions } from '../bus.ts';

const EMPTY = new Uint8Array();
/** Longer than a passing test needs, even on a slow machine. */
const MAX_WAIT_MS = 60_000;

export const newQueue = (): string => `q-${randomUUID().slice(0, 8)}`;
export const inMs = (ms: number): number => Date.now() + ms;
/** A deadline that a passing test never reaches. */
export const lateDeadline = (): number => inMs(2 * MAX_WAIT_MS);

export function job(body: Uint8Array = EMPTY, header: unknown = {}): JobMessage {
  return { id: randomUUID(), header, body };
}

export const answerOf = (header: unknown, body: Uint8Array = EMPTY): JobAnswer => ({ header, body });

/** Waits until a condition is true. It does not use `Date`, so that a test can mock the clock. */
export async function until(condition: () => boolean | Promise<boolean>, description: string): Promise<void> {
  const end = performance.now() + MAX_WAIT_MS;
  while (!(await condition())) {
    if (performance.now() > end) assert.fail(`did not become true within ${MAX_WAIT_MS} ms: ${description}`);
    await sleep(10);
  }
}

interface Gate {
  handler: ServeOptions['handler'];
  /** The deliveries that the handler received. */
  received: Delivery[];
  /** Makes the handler answer all current and later jobs with the header `done`. */
  open(): void;
}

/** A handler that does not answer before the gate is opened. */
export function createGate(): Gate {
  const received: Delivery[] = [];
  const opened = Promise.withResolvers<void>();
  return {
    received,
    open: opened.resolve,
    async handler(delivery) {
      received.push(delivery);
      await opened.promise;
      return answerOf('done');
    },
  };
}
