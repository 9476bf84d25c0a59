// Rounds over inputs, one request at a time, and the median of what a round cost.
import type { Input } from './inputs.ts';
import type { Subject } from './subject.ts';

export interface Cost {
  /** CPU ms a request, median of the rounds. */
  cpuMs: number;
  /** Inputs that were not read (their cost counts all the same). */
  refused: number;
}

export interface Rounds {
  warm: number;
  rounds: number;
  /** Times that one round sends each input: the clock ticks in 10 ms, so a round must last. */
  repeat: number;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** What these inputs cost a subject. */
export async function costOf(
  subject: Subject,
  inputs: readonly Input[],
  { warm, rounds, repeat }: Rounds,
  options?: Record<string, unknown>,
): Promise<Cost> {
  const refused = new Set<string>();
  const round = async (times: number) => {
    for (let time = 0; time < times; time++)
      for (const input of inputs) if (!(await subject.take(input, options))) refused.add(input.name);
  };
  await round(warm);
  const costs: number[] = [];
  for (let index = 0; index < rounds; index++) {
    const before = subject.cpuMs();
    await round(repeat);
    costs.push((subject.cpuMs() - before) / (repeat * inputs.length));
  }
  return { cpuMs: median(costs), refused: refused.size };
}
