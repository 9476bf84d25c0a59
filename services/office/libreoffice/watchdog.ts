// Ends a LibreOffice that hangs or that uses too much CPU time, long before the timeout of the request.
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { processCpuMs } from '#shared/runtime/isolation/process-cpu.ts';

/** How long LibreOffice may work on one file. */
export interface WorkLimits {
  /** Milliseconds of CPU time. */
  cpuMs: number;
  /** Milliseconds without any CPU time. */
  idleMs: number;
}

const CHECK_MS = 250;
const MIB = 1024 * 1024;

/** The limits for a file of this many bytes. */
export function workLimits(bytes: number): WorkLimits {
  const { libreOfficeCpuMs, libreOfficeCpuMsPerMiB, libreOfficeIdleMs } = DOCUMENT_LIMITS;
  return { cpuMs: libreOfficeCpuMs + (bytes / MIB) * libreOfficeCpuMsPerMiB, idleMs: libreOfficeIdleMs };
}

/**
 * Calls `onEnd` once if the process exceeds a limit: `hung` if it used no CPU time for too long, `cpu` if it used too much.
 * Counts checks and not elapsed time, so that a machine that pauses this process too does not end LibreOffice.
 * @returns a function that stops the watchdog
 */
export function watchWork(
  pid: number | undefined,
  limits: WorkLimits,
  onEnd: (why: 'hung' | 'cpu') => void,
): () => void {
  if (pid === undefined) return () => undefined;
  const before = processCpuMs(pid);
  if (before === undefined) return () => undefined;
  let last = before;
  let idleChecks = 0;
  const timer = setInterval(() => {
    const now = processCpuMs(pid) ?? last;
    idleChecks = now > last ? 0 : idleChecks + 1;
    last = now;
    const why = now - before > limits.cpuMs ? 'cpu' : idleChecks * CHECK_MS >= limits.idleMs ? 'hung' : undefined;
    if (why === undefined) return;
    clearInterval(timer);
    onEnd(why);
  }, CHECK_MS);
  return () => clearInterval(timer);
}
