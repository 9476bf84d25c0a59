// Reads CPU time and memory of process trees from /proc, because elapsed time depends on the other load of the machine.
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** USER_HZ of proc(5): Linux reports CPU time in hundredths of a second. */
const MS_PER_TICK = 10;
const PAGE_BYTES = 4096;

export interface ProcessFacts {
  pid: number;
  parent: number;
  /** Ticks since boot. Together with the pid it identifies a process, because pids are reused. */
  startedAt: number;
  /** The process has exited, but its parent has not waited for it yet. */
  zombie: boolean;
  command: string;
  /** User and system time, in ms, of the process and of the children that it has waited for. */
  cpuMs: number;
  residentBytes: number;
}

/** Reads one process, or returns undefined if it does not exist. A zombie keeps its CPU time. */
export function processFacts(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const close = stat.lastIndexOf(')');
    // Fields from the third on (proc(5)): state, ppid, ..., utime 14, stime 15, cutime 16, cstime 17, ..., starttime 22, vsize 23, rss 24.
    const field = stat.slice(close + 2).split(' ');
    const fieldAt = (number: number) => Number(field[number - 3]);
    return {
      pid,
      parent: fieldAt(4),
      startedAt: fieldAt(22),
      zombie: field[0] === 'Z',
      command: stat.slice(stat.indexOf('(') + 1, close),
      cpuMs: (fieldAt(14) + fieldAt(15) + fieldAt(16) + fieldAt(17)) * MS_PER_TICK,
      residentBytes: fieldAt(24) * PAGE_BYTES,
    };
  } catch {
    return undefined;
  }
}

/** All descendants of a process, without the process itself. */
export function descendants(root: number): ProcessFacts[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processFacts(Number(name)) ?? []);
  const found: ProcessFacts[] = [];
  const parents = new Set([root]);
  for (let changed = true; changed; ) {
    changed = false;
    for (const facts of all)
      if (parents.has(facts.parent) && !parents.has(facts.pid)) {
        parents.add(facts.pid);
        found.push(facts);
        changed = true;
      }
  }
  return found;
}

/** Pids of the direct children of a process. Faster than `descendants`, because it reads only this process. */
export async function childPids(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/** Resident bytes of all descendants of a process. */
export const residentBytesBelow = (root: number): number =>
  descendants(root).reduce((total, { residentBytes }) => total + residentBytes, 0);

/** Whether this process still runs. A later process with the same pid does not count. */
export function isRunning(known: Pick<ProcessFacts, 'pid' | 'startedAt'>): boolean {
  const facts = processFacts(known.pid);
  return facts?.startedAt === known.startedAt && !facts.zombie;
}
