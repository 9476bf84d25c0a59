// Sends inputs to a subject in rounds, one request at a time, and returns the median CPU time.
import type { Input } from './inputs.ts';
import type { Subject } from './subject.ts';

interface Cost {
  /** CPU ms per request, median of the rounds. */
  cpuMs: number;
  /** Inputs that the subject did not read. Their cost is included. */
  rejected: number;
}

export interface Rounds {
  /** Rounds before the measured ones. */
  warm: number;
  rounds: number;
  /** How often a round sends each input. A round must be long, because Linux counts CPU time in steps of 10 ms. */
  repeat: number;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Measures what these inputs cost a subject. */
export async function measureCost(
  subject: Subject,
  inputs: readonly Input[],
  { warm, rounds, repeat }: Rounds,
  options?: Record<string, unknown>,
): Promise<Cost> {
  const rejected = new Set<string>();
  const round = async (times: number) => {
    for (let time = 0; time < times; time++)
      for (const input of inputs) if (!(await subject.convert(input, options))) rejected.add(input.name);
  };
  await round(warm);
  const costs: number[] = [];
  for (let index = 0; index < rounds; index++) {
    const before = subject.cpuMs();
    await round(repeat);
    costs.push((subject.cpuMs() - before) / (repeat * inputs.length));
  }
  return { cpuMs: median(costs), rejected: rejected.size };
}
