// Runs kubectl and helm, and tells what they said when they fail.
import { spawn } from 'node:child_process';

export interface CommandOptions {
  input?: string | Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
  timeoutMs?: number;
}

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end, whatever that is. */
export function attempt(program: string, args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...options.env },
      cwd: options.cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: options.timeoutMs ?? 600_000,
    });
    const said = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...said }));
    // A program that ends before it has read everything is judged by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/** What the program wrote. @throws Error with both streams where it fails */
export async function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await attempt(program, args, options);
  if (code !== 0)
    throw new Error(
      `${program} ${args.join(' ')} ended with ${code}:\n${stderr.slice(-4_000)}\n${stdout.slice(-4_000)}`,
    );
  return stdout;
}

export const kubectl = (...args: string[]): Promise<string> => run('kubectl', args);
export const helm = (...args: string[]): Promise<string> => run('helm', args);

/** A list or an object of the API server, as it gives it. */
export async function get<T>(...args: string[]): Promise<T> {
  return JSON.parse(await kubectl('get', ...args, '-o', 'json')) as T;
}

/** Asks until the answer is one. @throws Error naming what was waited for */
export async function until<T>(
  what: string,
  seconds: number,
  ask: () => Promise<T | undefined | false>,
  pauseMs = 500,
): Promise<T> {
  const end = Date.now() + seconds * 1_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
