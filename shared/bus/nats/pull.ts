// Sends one pull request to a JetStream consumer; docs/packages.md explains why this is not `consumer.next()` of the package.
import { nanos, TimeoutError } from '@nats-io/nats-core';
import type { BusConnection } from './connection.ts';
import { JetStreamDelivery } from './delivery.ts';

/** `no answer`: the server did not answer in time, so the consumer may not exist. */
type PullResult = JetStreamDelivery | 'no message' | 'no answer';

/** How long the client still waits for the server's answer after the pull request has expired. */
const GRACE_MS = 1_000;

/**
 * Requests one message and waits up to `waitMs` for it. With `waitMs` 0, the server answers at once.
 * A pull request cannot be withdrawn safely: a server older than 2.10 may still deliver a message to it, and redelivers this
 * message only after the ack timeout.
 * @throws RequestError if the connection is closed or JetStream is not running
 */
export async function pullOne(
  connection: BusConnection,
  stream: string,
  consumer: string,
  waitMs: number,
): Promise<PullResult> {
  const request = waitMs === 0 ? { batch: 1, no_wait: true } : { batch: 1, expires: nanos(waitMs) };
  try {
    const message = await connection.nats.request(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
      JSON.stringify(request),
      // `noMux` gives this request an inbox subscription of its own. The shared inbox finds a request by the subject of the
      // answer, but a delivery keeps the subject on which the job was published.
      { noMux: true, timeout: waitMs + GRACE_MS },
    );
    // A status, such as 404 (no messages) or 408 (request timeout), means that there is no message.
    return (message.headers?.code ?? 0) === 0 ? new JetStreamDelivery(message) : 'no message';
  } catch (error) {
    if (error instanceof TimeoutError) return 'no answer';
    throw error;
  }
}
