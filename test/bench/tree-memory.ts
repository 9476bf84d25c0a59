// Samples the memory of process trees, because the peak of a request lies between the start and the end of its processes.
import { readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;
const KIB = 1024;
/** Milliseconds between two samples. */
const SAMPLE_MS = 40;

interface TreeMemory {
  /** Resident bytes. Pages that processes share count once for each. */
  resident: number;
  /** Proportional bytes: a page that n processes share counts 1/n for each (proc_pid_smaps(5), `Pss`). */
  proportional: number;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function pidsBelow(root: number): number[] {
  const children = read(`/proc/${root}/task/${root}/children`).split(' ').filter(Boolean).map(Number);
  return [root, ...children.flatMap(pidsBelow)];
}

/** The memory of processes and all their descendants. */
function treeMemory(roots: Iterable<number>): TreeMemory {
  const memory: TreeMemory = { resident: 0, proportional: 0 };
  for (const root of roots)
    for (const pid of pidsBelow(root)) {
      memory.resident += Number(read(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * PAGE_BYTES;
      memory.proportional += Number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * KIB;
    }
  return memory;
}

/** Runs `work` and returns how far the memory of these process trees rises above its value at the start. */
export async function peakGrowth(roots: () => Iterable<number>, work: () => Promise<unknown>): Promise<TreeMemory> {
  const idle = treeMemory(roots());
  const peak = { ...idle };
  const sample = (): void => {
    const now = treeMemory(roots());
    peak.resident = Math.max(peak.resident, now.resident);
    peak.proportional = Math.max(peak.proportional, now.proportional);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return { resident: peak.resident - idle.resident, proportional: peak.proportional - idle.proportional };
}
