// Wraps one message that a JetStream consumer delivered, and sends its acknowledgements: ack, nak, term, in progress.
import { type Msg, nanos } from '@nats-io/nats-core';

export class JetStreamDelivery {
  readonly data: Uint8Array;
  readonly stream: string;
  /** Identifies this delivery of this message. A redelivery has another id. */
  readonly id: string;
  /** How many times the server has delivered the message, including this time. */
  readonly deliveryCount: number;
  readonly #message: Msg;
  #settled = false;

  /** @throws RangeError if the message does not come from a JetStream consumer */
  constructor(message: Msg) {
    // $JS.ACK.<stream>.<consumer>.<delivery count>..., on newer servers with <domain>.<account> after ACK (NATS ADR-15).
    const tokens = message.reply?.split('.') ?? [];
    const [stream, , count] = tokens.slice(tokens.length >= 11 ? 4 : 2);
    if (tokens[1] !== 'ACK' || stream === undefined || count === undefined)
      throw new RangeError('the message is not a delivery of a JetStream consumer');
    this.#message = message;
    this.data = message.data;
    this.stream = stream;
    this.id = message.reply ?? '';
    this.deliveryCount = Number(count);
  }

  /** Restarts the server's ack timeout. */
  inProgress(): void {
    if (!this.#settled) this.#respond('+WPI');
  }

  /** The job is done: removes it from the queue. */
  ack(): void {
    this.#settle('+ACK');
  }

  /** Requests a redelivery, at once or after `delayMs`. */
  nak(delayMs = 0): void {
    this.#settle(delayMs > 0 ? `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}` : '-NAK');
  }

  /** Removes the job from the queue although it is not done. */
  term(): void {
    this.#settle('+TERM');
  }

  #settle(acknowledgement: string): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#respond(acknowledgement);
  }

  #respond(acknowledgement: string): void {
    try {
      this.#message.respond(acknowledgement);
    } catch {
      // The connection is closed. The server redelivers the job after its ack timeout.
    }
  }
}
