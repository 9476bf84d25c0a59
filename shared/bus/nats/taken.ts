// A job as a pull consumer delivers it, with the four words that can be said back about it (NATS acknowledgement protocol).
import { type Msg, nanos } from '@nats-io/nats-core';

export class TakenJob {
  readonly data: Uint8Array;
  readonly stream: string;
  /** Names this delivery of this job, and no other. */
  readonly delivery: string;
  /** How many times it was delivered, this time included. */
  readonly deliveries: number;
  readonly #message: Msg;
  #ended = false;

  /** @throws RangeError when the message did not come from a consumer */
  constructor(message: Msg) {
    // $JS.ACK.<stream>.<consumer>.<deliveries>. ..., with <domain>.<account> after ACK on newer servers.
    const tokens = message.reply?.split('.') ?? [];
    const [stream, , count] = tokens.slice(tokens.length >= 11 ? 4 : 2);
    if (tokens[1] !== 'ACK' || stream === undefined || count === undefined)
      throw new RangeError('the message is not a delivery of a JetStream consumer');
    this.#message = message;
    this.data = message.data;
    this.stream = stream;
    this.delivery = message.reply ?? '';
    this.deliveries = Number(count);
  }

  /** Still at it: the server waits on. */
  working(): void {
    if (this.#ended) return;
    this.#message.respond('+WPI');
  }

  /** Done; leaves the queue. */
  ack(): void {
    this.#end('+ACK');
  }

  /** For whoever asks next, or asks after `delayMs`. */
  giveBack(delayMs = 0): void {
    this.#end(delayMs > 0 ? `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}` : '-NAK');
  }

  /** Leaves the queue without having been done. */
  drop(): void {
    this.#end('+TERM');
  }

  #end(word: string): void {
    if (this.#ended) return;
    this.#ended = true;
    try {
      this.#message.respond(word);
    } catch {
      // The connection was closed for good: the server finds out by the silence and gives the job to another.
    }
  }
}
