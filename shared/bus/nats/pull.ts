// One job asked of a JetStream pull consumer, with a way to stop asking that loses no job already on its way.
import { setTimeout as sleep } from 'node:timers/promises';

import { createInbox, nanos } from '@nats-io/nats-core';
import type { Link } from './link.ts';
import { TakenJob } from './taken.ts';

export type PullResult = { job: TakenJob } | { job: undefined; missing: boolean };

export interface Pull {
  /** Settles once: with a job, or without one after the wait or `stop`. `missing`: the consumer is not there. */
  readonly result: Promise<PullResult>;
  /** Takes the question back. A job that the server had already sent still becomes the result. */
  stop(): void;
}

/** Answers that are late by more than this are not waited for. */
const GRACE_MS = 1_000;
/** The server says nothing to a question for what is there when that was withdrawn a moment ago; stopping loses nothing. */
const QUICK_MS = 150;
const NOTHING: PullResult = { job: undefined, missing: false };
const NO_RESPONDERS = 503;
const NOT_FOUND_OR_DELETED = /consumer (deleted|not found)/i;

/** Asks for one job, waiting up to `waitMs` for one to come (0: only what is there). */
export function pullOne(link: Link, stream: string, consumer: string, waitMs: number): Pull {
  const { connection } = link;
  const inbox = createInbox();
  let stopping = false;
  let settle: (result: PullResult) => void = () => undefined;
  const result = new Promise<PullResult>((resolve) => {
    settle = resolve;
  });
  const subscription = connection.subscribe(inbox, {
    callback(error, message) {
      const code = message?.headers?.code ?? 0;
      if (error) settle(NOTHING);
      else if (code === 0) settle({ job: new TakenJob(message) });
      else
        settle({
          job: undefined,
          missing: code === NO_RESPONDERS || NOT_FOUND_OR_DELETED.test(message.headers?.description ?? ''),
        });
      if (!stopping) subscription.unsubscribe();
      clearTimeout(timer);
    },
  });
  const stop = (missing = false): void => {
    if (stopping || subscription.isClosed()) return;
    stopping = true;
    clearTimeout(timer);
    // Draining asks the server to forget us and waits for what it sent before it did.
    void Promise.race([subscription.drain().catch(() => undefined), sleep(GRACE_MS, undefined, { ref: false })]).then(
      () => settle({ job: undefined, missing }),
    );
  };
  // A consumer that is not there is not told from one with nothing to give, until the server fails to end the wait.
  const timer = setTimeout(() => stop(waitMs > 0), waitMs === 0 ? QUICK_MS : waitMs + GRACE_MS);
  const question = waitMs === 0 ? { batch: 1, no_wait: true } : { batch: 1, expires: nanos(waitMs) };
  connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(question), { reply: inbox });
  return { result, stop: () => stop() };
}
