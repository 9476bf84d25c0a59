// Knows whether a worker can work. After a job failed because of the machine, it checks the disk until the machine works again.
import { describeFault, type MachineFault, machineFaultOf } from '../contract/machine-fault.ts';
import type { Logger } from './log.ts';
import { temporaryDiskError } from './temporary-disk.ts';

const CHECK_MS = 1_000;

interface WorkerConditionOptions {
  queue: string;
  log: Logger;
  /** Called after each check while there is a fault, and when it has ended. It must not throw. */
  onCheck: () => Promise<void>;
}

export class WorkerCondition {
  readonly #options: WorkerConditionOptions;
  #fault: MachineFault | undefined;
  #checks: Promise<void> | undefined;
  #closed = false;

  constructor(options: WorkerConditionOptions) {
    this.#options = options;
  }

  /** Why the worker cannot work; undefined if it can. */
  get fault(): MachineFault | undefined {
    return this.#fault;
  }

  /** What is wrong and what to do, for the operator; undefined if the worker can work. */
  get problem(): string | undefined {
    return this.#fault && `${this.#options.queue}: ${describeFault(this.#fault)}`;
  }

  /** Checks the disk now, because a job failed. If it is faulty, checks it again until it works. */
  async examine(): Promise<void> {
    await this.#check();
    if (this.#fault === undefined || this.#checks || this.#closed) return;
    this.#options.log.warn({ queue: this.#options.queue, fault: this.#fault }, 'the worker cannot work');
    this.#checks = this.#checkUntilWorking().finally(() => {
      this.#checks = undefined;
    });
  }

  async #check(): Promise<void> {
    this.#fault = machineFaultOf(await temporaryDiskError());
  }

  async #checkUntilWorking(): Promise<void> {
    while (this.#fault !== undefined && !this.#closed) {
      await this.#options.onCheck();
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS).unref());
      await this.#check();
    }
    if (this.#closed) return;
    this.#options.log.warn({ queue: this.#options.queue }, 'the worker can work again');
    await this.#options.onCheck();
  }

  close(): void {
    this.#closed = true;
  }
}
