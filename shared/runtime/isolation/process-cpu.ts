// Measures the CPU time of a process from /proc, because elapsed time depends on the other load of the machine.
import { readFileSync } from 'node:fs';

/** USER_HZ of proc(5): Linux reports CPU time in hundredths of a second. */
const MS_PER_TICK = 10;

/** Milliseconds of CPU time of a process and of the children that it has waited for (proc(5), fields 14 to 17); undefined if there is no /proc or no such process. */
export function processCpuMs(pid: number | 'self'): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * MS_PER_TICK;
  } catch {
    return undefined;
  }
}
