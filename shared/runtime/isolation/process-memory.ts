// Measures the resident memory of a process tree from /proc, for the memory limit of isolated processes and for the metrics.
import { readFileSync } from 'node:fs';

const PAGE_MIB = 4096 / (1024 * 1024);

/**
 * Resident MiB of a process and its descendants; 0 if the system does not report it (no /proc, or the process has exited).
 * The reads are synchronous: /proc is not on a disk, and asynchronous reads use twenty times as much CPU time. Each running job is measured
 * four times a second.
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
