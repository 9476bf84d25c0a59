// Decides what a request gets that reached its timeout while it waited for the bus, and how many requests may wait for it.
import { type Bus, BusUnavailableError, DeadlineError } from '#shared/bus/bus.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';

/** A connected bus answers in a few milliseconds. One that did not answer for this long is the fault, and not the timeout. */
const BUS_ANSWER_MS = 1_000;

/**
 * The error for an operation of the bus that did not end before the timeout of its request.
 * @param startedAt when the operation started, epoch milliseconds
 */
export function busTimeout(bus: Bus, startedAt: number): Error {
  return bus.connected() && Date.now() - startedAt < BUS_ANSWER_MS
    ? new DeadlineError('the message bus did not respond before the deadline')
    : new BusUnavailableError('the message bus did not respond before the deadline');
}

/** Counts the requests that one gateway processes, so that those that wait for an unavailable bus need a bounded amount of memory. */
export class BusWaitLimit {
  readonly #bus: Bus;
  #active = 0;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** Counts a request until the returned function is called. @throws BusUnavailableError if too many wait for the bus */
  enter(): () => void {
    if (this.#active >= REQUEST_LIMITS.waitingForBus && !this.#bus.connected())
      throw new BusUnavailableError('too many requests already wait for the message bus');
    this.#active += 1;
    return () => {
      this.#active -= 1;
    };
  }
}
