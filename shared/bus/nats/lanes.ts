// Tracks the lanes of one queue at a worker: which may have waiting jobs, and which of their consumers exist.
import { TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import type { BusConnection } from './connection.ts';
import type { Durability, LaneStream } from './topology.ts';

interface LaneMark {
  /** Number of the last note. A pull that finds no job clears the mark only if no job was noted meanwhile. */
  noted: number;
  waiting: boolean;
}

interface Lane {
  marks: Record<Durability, LaneMark>;
  /** The stream of which the lane's next job is taken, if jobs wait in both: they alternate. */
  first: Durability;
}

/** A pull that a worker is about to send. */
export interface LaneTurn extends LaneStream {
  noted: number;
}

/** A text that identifies the lane and the stream. */
export const keyOf = ({ durability, lane }: LaneStream): string => `${durability} ${lane}`;
const otherOf = (durability: Durability): Durability => (durability === 'durable' ? 'volatile' : 'durable');

/** Lanes that may have waiting jobs. Noting too much costs one pull; what is missed, the next scan notes. */
export class WaitingLanes {
  readonly #lanes = new Map<string, Lane>();
  #notes = 0;

  note({ durability, lane }: LaneStream): void {
    let known = this.#lanes.get(lane);
    if (!known) {
      const nothing: LaneMark = { noted: 0, waiting: false };
      known = { marks: { durable: nothing, volatile: nothing }, first: 'durable' };
      this.#lanes.set(lane, known);
    }
    this.#notes += 1;
    known.marks[durability] = { noted: this.#notes, waiting: true };
  }

  names(): Iterable<string> {
    return this.#lanes.keys();
  }

  /** The stream of the lane to pull from next. */
  turn(lane: string): LaneTurn | undefined {
    const known = this.#lanes.get(lane);
    if (!known) return undefined;
    const durability = known.marks[known.first].waiting ? known.first : otherOf(known.first);
    known.first = otherOf(durability);
    return { durability, lane, noted: known.marks[durability].noted };
  }

  /** The pull of this turn found that no more job waits. */
  empty({ durability, lane, noted }: LaneTurn): void {
    const known = this.#lanes.get(lane);
    if (!known || known.marks[durability].noted !== noted) return;
    known.marks[durability] = { noted, waiting: false };
    if (!known.marks[otherOf(durability)].waiting) this.#lanes.delete(lane);
  }
}

interface LaneConsumer {
  name: string;
  /** When this worker last pulled from it, in milliseconds of `performance.now()`. */
  lastPull: number;
}

/** Creates the consumers of lanes when they are needed. */
export class LaneConsumers {
  readonly #connection: BusConnection;
  readonly #queue: string;
  /** The consumers from which this worker has pulled, by lane and stream, in the order of the last pulls. */
  readonly #consumers = new Map<string, LaneConsumer>();

  constructor(connection: BusConnection, queue: string) {
    this.#connection = connection;
    this.#queue = queue;
  }

  /** Returns the name of the lane's consumer. Creates it, unless this worker has pulled from it so recently that it exists. */
  async ensure(lane: LaneStream): Promise<string> {
    const key = keyOf(lane);
    const now = performance.now();
    this.#forgetIdle(now);
    const name = this.#consumers.get(key)?.name ?? (await this.#connection.admin.ensureLane(this.#queue, lane));
    this.#consumers.delete(key);
    this.#consumers.set(key, { name, lastPull: now });
    return name;
  }

  /** The consumer may be missing. */
  forget(lane: LaneStream): void {
    this.#consumers.delete(keyOf(lane));
  }

  /** All consumers may be missing: a server that restarts loses those of the streams that it keeps in memory. */
  forgetAll(): void {
    this.#consumers.clear();
  }

  #forgetIdle(now: number): void {
    for (const [key, { lastPull }] of this.#consumers) {
      if (now - lastPull <= TRANSPORT_LIMITS.laneIdleMs / 2) return;
      this.#consumers.delete(key);
    }
  }
}
