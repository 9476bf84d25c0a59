// Serves a queue of the bus, and leaves it to other workers while this one cannot work.
import type { Bus, Consumer, ServeOptions } from '../bus/bus.ts';
import type { Logger } from './log.ts';
import { WorkerCondition } from './worker-condition.ts';

export class QueueService {
  readonly condition: WorkerCondition;
  readonly #bus: Bus;
  readonly #queue: string;
  readonly #options: ServeOptions;
  readonly #log: Logger;
  /** Undefined while other workers serve the queue alone. */
  #consumer: Consumer | undefined;
  readonly #draining = new Set<Promise<void>>();
  #closed = false;

  constructor(bus: Bus, queue: string, options: ServeOptions, log: Logger) {
    this.#bus = bus;
    this.#queue = queue;
    this.#options = options;
    this.#log = log;
    this.condition = new WorkerCondition({ queue, log, onCheck: () => this.#adjust() });
  }

  /** Starts to serve. @throws BusUnavailableError */
  async start(): Promise<void> {
    this.#consumer = await this.#bus.serve(this.#queue, this.#options);
  }

  /** Whether other workers serve the queue. */
  get hasOthers(): boolean {
    return this.#bus.workers(this.#queue) > (this.#consumer ? 1 : 0);
  }

  /** A worker that cannot work takes no jobs if others can. If it is the only one, it answers each job with the reason, so that no caller waits in vain. */
  async #adjust(): Promise<void> {
    if (this.#closed) return;
    const isFaulty = this.condition.fault !== undefined;
    if (this.#consumer && isFaulty && this.hasOthers) this.#release(this.#consumer);
    else if (!this.#consumer && !(isFaulty && this.hasOthers))
      await this.start().catch((err: unknown) =>
        this.#log.warn({ err, queue: this.#queue }, 'the queue is not served'),
      );
  }

  #release(consumer: Consumer): void {
    this.#consumer = undefined;
    const draining = consumer.drain().finally(() => this.#draining.delete(draining));
    this.#draining.add(draining);
  }

  /** Accepts no new job. Resolves when the running jobs are finished. */
  async drain(): Promise<void> {
    this.#closed = true;
    this.condition.close();
    if (this.#consumer) this.#release(this.#consumer);
    await Promise.all(this.#draining);
  }
}
