// Sends one pull request to a JetStream consumer; docs/packages.md explains why this is not `consumer.next()` of the package.
import { TimeoutError } from '@nats-io/nats-core';
import type { BusConnection } from './connection.ts';
import { JetStreamDelivery } from './delivery.ts';

/** `no answer`: the server did not answer in time, so the consumer may not exist. */
type PullResult = JetStreamDelivery | 'no message' | 'no answer';

const REQUEST = JSON.stringify({ batch: 1, no_wait: true });
const ANSWER_TIMEOUT_MS = 1_000;

/**
 * Requests one message. The server answers at once, except that it sends no answer if the consumer does not exist or if its
 * only waiting message was deleted a moment ago.
 * @throws RequestError if the connection is closed or JetStream is not running
 */
export async function pullOne(connection: BusConnection, stream: string, consumer: string): Promise<PullResult> {
  try {
    const message = await connection.nats.request(
      `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
      REQUEST,
      // `noMux` gives this request an inbox subscription of its own. The shared inbox finds a request by the subject of the
      // answer, but a delivery keeps the subject on which the job was published.
      { noMux: true, timeout: ANSWER_TIMEOUT_MS },
    );
    // A status, such as 404 (no messages), means that there is no message.
    return (message.headers?.code ?? 0) === 0 ? new JetStreamDelivery(message) : 'no message';
  } catch (error) {
    if (error instanceof TimeoutError) return 'no answer';
    throw error;
  }
}
