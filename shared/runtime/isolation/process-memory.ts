// How much memory a process and all it started hold, by /proc; apart from the process itself, since metrics look at it too.
import { readFileSync } from 'node:fs';

const PAGE_MIB = 4096 / (1024 * 1024);

/**
 * Resident MiB of a process and everything below it; 0 where the system does not tell.
 * It waits for the answer: /proc answers at once, and four trips to the thread pool cost twenty times as much, four times a second for each job.
 */
export function residentMiB(pid: number): number {
  try {
    const own = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_MIB;
    return childrenOf(pid).reduce((sum, child) => sum + residentMiB(child), own);
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
