// How much memory a process and all it started hold, by /proc; apart from the process itself, since metrics look at it too.
import { readFile } from 'node:fs/promises';

const PAGE_MIB = 4096 / (1024 * 1024);

/** Resident MiB of a process and everything below it; 0 where the system does not tell. */
export async function residentMiB(pid: number): Promise<number> {
  try {
    const [statm, children] = await Promise.all([
      readFile(`/proc/${pid}/statm`, 'utf8'),
      readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''),
    ]);
    const below = await Promise.all(
      children
        .split(' ')
        .filter(Boolean)
        .map((child) => residentMiB(Number(child))),
    );
    return Number(statm.split(' ')[1]) * PAGE_MIB + below.reduce((sum, size) => sum + size, 0);
  } catch {
    return 0;
  }
}
