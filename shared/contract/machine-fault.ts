// Recognizes the errors of a machine that cannot work now (its disk, its memory, its open files), so that no document is blamed for them.
import { ParseError } from './errors.ts';

/** What is wrong and what the operator can do, by `errno` of the system. */
const FAULTS = {
  ENOSPC: 'the disk for temporary files is full. Free space there, or give it a larger volume',
  EDQUOT: 'the quota of the disk for temporary files is used up. Free space there, or raise the quota',
  EROFS:
    'the folder for temporary files cannot be written. Mount it writable for this user, or set TMPDIR to another folder',
  EIO: 'a disk reports errors. Check it',
  EMFILE: 'this process has too many open files. Raise its limit (ulimit -n)',
  ENFILE: 'the system has too many open files. Raise its limit (fs.file-max)',
  EAGAIN:
    'the system cannot start another process now. Raise its limit (ulimit -u, or the pids limit of the container)',
  ENOMEM: 'the system has not enough memory. Give this process more memory, or run fewer jobs at once',
} as const;

export type MachineFault = keyof typeof FAULTS;

const RETRY_AFTER_SECONDS = 5;
/** `cause` of an error, of that error, and so on, up to this many levels. */
const MAX_CAUSES = 5;

const isMachineFault = (code: unknown): code is MachineFault => typeof code === 'string' && Object.hasOwn(FAULTS, code);

/** The fault of the machine that caused an error; undefined if there is none. */
export function machineFaultOf(error: unknown): MachineFault | undefined {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++) {
    if ('code' in cause && isMachineFault(cause.code)) return cause.code;
    cause = cause.cause;
  }
  return undefined;
}

/** What the operator must know and can do. */
export const describeFault = (fault: MachineFault): string => `${FAULTS[fault]}.`;

/** The error of a folder for temporary files. One that this user may not write, or that does not exist, is as good as a read-only one. */
export function folderError(message: string, cause: unknown): Error {
  const error = new Error(message, { cause });
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return code === 'EACCES' || code === 'EPERM' || code === 'ENOENT' ? Object.assign(error, { code: 'EROFS' }) : error;
}

/** The caller's error for an error that a machine caused: a 503 that may be sent again. Undefined for any other error. */
export function machineFaultError(error: unknown): ParseError | undefined {
  const fault = machineFaultOf(error);
  if (fault === undefined) return undefined;
  const [what = ''] = FAULTS[fault].split('. ', 1);
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    `Service Unavailable: a server cannot work now, because ${what}. Wait ${RETRY_AFTER_SECONDS} s and send the request again.`,
    { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** The caller's error for a program that the system ended twice in the middle of its work, as it does when memory runs out. */
export function endedBySystemError(program: string, cause: unknown): ParseError {
  return new ParseError(
    'SERVICE_UNAVAILABLE',
    `Service Unavailable: the system ended ${program} while it worked, probably because memory ran out. Wait ${RETRY_AFTER_SECONDS} s and send the request again.`,
    { cause, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** Signals that a program causes itself by a defect. Any other one was sent to it. */
const CRASH_SIGNALS: ReadonlySet<string> = new Set([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGILL',
  'SIGFPE',
  'SIGTRAP',
  'SIGSYS',
]);

/** Whether the system, and not the program or its input, ended a process. @param signal the signal that ended it; null if it exited by itself */
export function endedBySystem(signal: string | null): boolean {
  // SIGXCPU: it used more CPU time than its own limit.
  return signal !== null && signal !== 'SIGXCPU' && !CRASH_SIGNALS.has(signal);
}
