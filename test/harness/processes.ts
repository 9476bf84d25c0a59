// Starts the processes of a product for a test and makes sure that none outlives the test.
import { type ChildProcess, spawn } from 'node:child_process';

/** How long to wait for something that must happen. A busy machine needs far less: the limit only ends a test that hangs. */
export const WAIT_LIMIT_MS = 300_000;

export interface Exit {
  service: string;
  /** Exit code, or null if a signal ended the process. */
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ServiceProcess {
  service: string;
  child: ChildProcess;
  exited: Promise<Exit>;
}

interface Launch {
  service: string;
  /** The program and its arguments. */
  command: readonly string[];
  env: Record<string, string>;
  cwd: string;
  /** Gets everything that the process writes. */
  log: (text: string) => void;
}

/** Process groups that are killed when this process exits. */
const groups = new Set<number>();

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes of the group have exited.
  }
  groups.delete(pid);
}

process.on('exit', () => {
  for (const pid of groups) killGroup(pid);
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

/** Starts a process in a process group of its own. */
export function launch({ service, command, env, cwd, log }: Launch): ServiceProcess {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined) groups.add(child.pid);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', log);
  }
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => {
      log(`\n${service} did not start: ${error.message}\n`);
      resolve({ service, code: null, signal: null });
    });
    child.once('exit', (code, signal) => resolve({ service, code, signal }));
  });
  return { service, child, exited };
}

export const hasExited = ({ child }: ServiceProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Sends SIGTERM, and SIGKILL if the process does not exit. Then kills whatever it has left in its group. */
export async function stopProcess({ child, exited }: ServiceProcess): Promise<Exit> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), WAIT_LIMIT_MS);
  const exit = await exited;
  clearTimeout(timer);
  if (child.pid !== undefined) killGroup(child.pid);
  return exit;
}
