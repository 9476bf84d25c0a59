// One job asked of a JetStream pull consumer.
import { createInbox, nanos } from '@nats-io/nats-core';
import type { Link } from './link.ts';
import { TakenJob } from './taken.ts';

/** A job, or none within the wait. `missing`: the server did not even end the wait, so the consumer may not be there. */
export type PullResult = { job: TakenJob } | { job: undefined; missing: boolean };

/** Answers that are late by more than this are not waited for. */
const GRACE_MS = 1_000;
/** A server says nothing, instead of "none", when the only job was withdrawn a moment ago. */
const QUICK_MS = 150;

/**
 * Asks for one job, waiting up to `waitMs` for one to come (0: only what is there).
 * A question once asked stands: servers before 2.10 may give a job twice, or count it as given, when it is taken back.
 * @param late called with a job that comes after the result said there was none
 */
export function pullOne(
  link: Link,
  stream: string,
  consumer: string,
  waitMs: number,
  late: (job: TakenJob) => void,
): Promise<PullResult> {
  const { connection } = link;
  const inbox = createInbox();
  return new Promise((resolve) => {
    let resolved = false;
    const settle = (result: PullResult): void => {
      if (resolved && result.job) late(result.job);
      resolved = true;
      resolve(result);
    };
    const end = (): void => {
      clearTimeout(quick);
      clearTimeout(patience);
      subscription.unsubscribe();
    };
    const subscription = connection.subscribe(inbox, {
      callback(error, message) {
        end();
        if (error) settle({ job: undefined, missing: false });
        else if ((message.headers?.code ?? 0) === 0) settle({ job: new TakenJob(message) });
        else settle({ job: undefined, missing: false });
      },
    });
    const quick = waitMs === 0 ? setTimeout(() => settle({ job: undefined, missing: false }), QUICK_MS) : undefined;
    const patience = setTimeout(() => {
      end();
      settle({ job: undefined, missing: true });
    }, waitMs + GRACE_MS);
    const question = waitMs === 0 ? { batch: 1, no_wait: true } : { batch: 1, expires: nanos(waitMs) };
    connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(question), { reply: inbox });
  });
}
