// Gives conversions less CPU time than the processes that answer callers and send heartbeats, if both want the same core.
import { writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** How much larger the nice value of a conversion is than that of its service: it gets about two thirds of the CPU time (sched(7)). A larger step would delay conversions on a machine that other programs use, too. */
const NICE_STEP = 2;

/** Lowers the priority of a process that was just started. The programs that it starts inherit it. Without effect where the system does not allow it. */
export function lowerPriority(pid: number): void {
  try {
    const nice = Math.min(getPriority() + NICE_STEP, constants.priority.PRIORITY_LOW);
    setPriority(pid, nice);
    // Each isolated process is a session of its own. Where autogrouping is enabled, as on most desktops, the kernel compares
    // the nice values of sessions instead of those of processes (sched(7), "The autogroup feature").
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // The process has ended, or the kernel has no autogroups.
  }
}
