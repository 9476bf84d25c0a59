// Runs kubectl, helm and other programs, and reports their output when they fail.
import { spawn } from 'node:child_process';

interface CommandOptions {
  input?: string | Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
  timeoutMs?: number;
}

interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program. Does not throw if it fails. */
export function attempt(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...options.env },
      cwd: options.cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: options.timeoutMs ?? 600_000,
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
    // A program may exit before it has read all input. Its exit code decides.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/** Runs a program. @returns its output @throws Error with both streams if it fails */
export async function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await attempt(program, args, options);
  if (code !== 0)
    throw new Error(
      `${program} ${args.join(' ')} exited with ${code}:\n${stderr.slice(-4_000)}\n${stdout.slice(-4_000)}`,
    );
  return stdout;
}

export const kubectl = (...args: string[]): Promise<string> => run('kubectl', args);
export const helm = (...args: string[]): Promise<string> => run('helm', args);

/** Gets an object or a list from the API server. */
export async function get<T>(...args: string[]): Promise<T> {
  return JSON.parse(await kubectl('get', ...args, '-o', 'json')) as T;
}

/** Calls `check` until it returns a value. @throws Error with `what` after `seconds` */
export async function waitFor<T>(
  what: string,
  seconds: number,
  check: () => Promise<T | undefined | false>,
  pauseMs = 500,
): Promise<T> {
  const end = Date.now() + seconds * 1_000;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`timed out after ${seconds} s waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
