// Reads what a tree of processes has spent and holds from /proc, since wall times say nothing on a machine that others use too.
import { readdirSync, readFileSync } from 'node:fs';

/** Linux reports processor time in hundredths of a second, whatever the kernel's own tick (proc(5), USER_HZ). */
const MS_A_TICK = 10;
const PAGE_BYTES = 4096;

export interface ProcessFacts {
  pid: number;
  parent: number;
  /** Ticks since boot; with the pid it names one process for good. */
  startedAt: number;
  /** Ended, and not yet waited for by its parent. */
  zombie: boolean;
  command: string;
  /** User and system time of its own and of the children it has waited for, ms. */
  cpuMs: number;
  residentBytes: number;
}

/** One process, or undefined where it is gone. A zombie holds its time until it is waited for. */
export function processFacts(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const close = stat.lastIndexOf(')');
    // Fields from the third on (proc(5)): state, ppid, ..., utime 14, stime 15, cutime 16, cstime 17, ..., starttime 22, vsize 23, rss 24.
    const field = stat.slice(close + 2).split(' ');
    const at = (number: number) => Number(field[number - 3]);
    return {
      pid,
      parent: at(4),
      startedAt: at(22),
      zombie: field[0] === 'Z',
      command: stat.slice(stat.indexOf('(') + 1, close),
      cpuMs: (at(14) + at(15) + at(16) + at(17)) * MS_A_TICK,
      residentBytes: at(24) * PAGE_BYTES,
    };
  } catch {
    return undefined;
  }
}

/** Everything below a process (without it), however deep. */
export function descendants(root: number): ProcessFacts[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processFacts(Number(name)) ?? []);
  const below: ProcessFacts[] = [];
  const parents = new Set([root]);
  for (let found = true; found; ) {
    found = false;
    for (const facts of all)
      if (parents.has(facts.parent) && !parents.has(facts.pid)) {
        parents.add(facts.pid);
        below.push(facts);
        found = true;
      }
  }
  return below;
}

const sum = (facts: readonly ProcessFacts[], of: (facts: ProcessFacts) => number) =>
  facts.reduce((total, one) => total + of(one), 0);

/** Processor ms that everything below a process has spent so far; a child that ended is counted by the parent that waited for it. */
export const cpuBelow = (root: number): number => sum(descendants(root), (facts) => facts.cpuMs);
export const residentBelow = (root: number): number => sum(descendants(root), (facts) => facts.residentBytes);

/** Whether exactly this process (and no later one of its number) still runs. */
export function stillRuns(known: Pick<ProcessFacts, 'pid' | 'startedAt'>): boolean {
  const facts = processFacts(known.pid);
  return facts?.startedAt === known.startedAt && !facts.zombie;
}
