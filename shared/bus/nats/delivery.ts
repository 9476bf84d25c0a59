// Wraps one message that a JetStream consumer delivered, and sends its acknowledgements: ack, nak, term, in progress.
import { type Msg, nanos } from '@nats-io/nats-core';

export class JetStreamDelivery {
  readonly data: Uint8Array;
  /** Number of the message in its stream. */
  readonly sequence: number;
  /** Number of messages that waited in the lane after this one, without redeliveries. */
  readonly pending: number;
  /** Identifies this delivery of this message. A redelivery has another id. */
  readonly id: string;
  /** How many times the server has delivered the message, including this time. */
  readonly deliveryCount: number;
  /** When the server stored the job: epoch milliseconds on the server's clock. */
  readonly storedAt: number;
  readonly #message: Msg;
  #returned = false;
  /** The acknowledgement that settled the delivery. */
  #settlement: string | undefined;
  /** A later delivery of the same job to this worker, which is acknowledged in place of this one. */
  #later: JetStreamDelivery | undefined;

  /** @throws RangeError if the message does not come from a JetStream consumer */
  constructor(message: Msg) {
    // $JS.ACK.<stream>.<consumer>.<delivery count>.<stream sequence>.<consumer sequence>.<nanoseconds>.<pending>, on newer
    // servers with <domain>.<account> after ACK (NATS ADR-15).
    const tokens = message.reply?.split('.') ?? [];
    const [stream, , count, sequence, , nanoseconds, pending] = tokens.slice(tokens.length >= 11 ? 4 : 2);
    if (tokens[1] !== 'ACK' || stream === undefined || count === undefined)
      throw new RangeError('the message is not a delivery of a JetStream consumer');
    this.#message = message;
    this.data = message.data;
    this.sequence = Number(sequence);
    this.pending = Number(pending);
    this.id = message.reply ?? '';
    this.deliveryCount = Number(count);
    this.storedAt = Number(nanoseconds) / 1_000_000;
  }

  /** Restarts the server's ack timeout. */
  inProgress(): void {
    if (this.#later) this.#later.inProgress();
    else if (this.#settlement === undefined) this.#respond('+WPI');
  }

  /**
   * Acknowledges a later delivery of the same job in place of this one. The server delivers a job again if it did not hear
   * from the worker for the ack timeout, for example while the worker was cut off.
   */
  continueAs(later: JetStreamDelivery): void {
    if (this.#later) this.#later.continueAs(later);
    else {
      this.#later = later;
      if (this.#settlement !== undefined) later.#settle(this.#settlement);
    }
  }

  /** The job is done: removes it from the queue. */
  ack(): void {
    this.#settle('+ACK');
  }

  /** Whether the job was returned for a redelivery at once. */
  get returned(): boolean {
    return this.#returned;
  }

  /** Requests a redelivery, at once or after `delayMs`. */
  nak(delayMs = 0): void {
    if (this.#settlement === undefined && delayMs === 0) this.#returned = true;
    this.#settle(delayMs > 0 ? `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}` : '-NAK');
  }

  /** Removes the job from the queue although it is not done. */
  term(): void {
    this.#settle('+TERM');
  }

  #settle(acknowledgement: string): void {
    if (this.#later) this.#later.#settle(acknowledgement);
    if (this.#settlement !== undefined) return;
    this.#settlement = acknowledgement;
    if (!this.#later) this.#respond(acknowledgement);
  }

  #respond(acknowledgement: string): void {
    try {
      this.#message.respond(acknowledgement);
    } catch {
      // The connection is closed. The server redelivers the job after its ack timeout.
    }
  }
}
