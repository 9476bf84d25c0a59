// Runs the Python scripts of the corpora in a virtual environment with the packages that they need.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Thrown if the run cannot start. The message states what the user must do. */
export class SetupError extends Error {
  override readonly name = 'SetupError';
}

export interface Shell {
  baseUrl: string;
  isInstalled(program: string): boolean;
  /** Runs a program and prints its output. @throws Error if it fails */
  run(...command: [string, ...string[]]): Promise<void>;
  /** Runs a program. @returns its output @throws Error if it fails */
  read(...command: [string, ...string[]]): Promise<string>;
}

function start(command: readonly string[], env: Record<string, string>, print: boolean): Promise<string> {
  const [program, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program ?? '', args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', print ? 'inherit' : 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${program} ${args[0] ?? ''} exited with ${code}`)),
    );
  });
}

/** Creates a shell whose programs get `BASE_URL` and `API_KEY` of the product. */
export function createShell(product: { BASE_URL: string; API_KEY: string }): Shell {
  return {
    baseUrl: product.BASE_URL,
    isInstalled: (program) => spawnSync(program, ['-v'], { stdio: 'ignore' }).error === undefined,
    run: async (...command) => void (await start(command, product, true)),
    read: (...command) => start(command, product, false),
  };
}

/**
 * Path of a Python with these PyPI packages, in a virtual environment in the user's cache folder.
 * @throws SetupError if there is no python3, or if the packages cannot be installed
 */
export async function pythonWith(packages: readonly string[]): Promise<string> {
  if (spawnSync('python3', ['--version']).status !== 0)
    throw new SetupError('The scripts of the corpora need python3. Install it: apt-get install python3 python3-venv.');
  const id = createHash('sha256')
    .update([...packages].sort().join(' '))
    .digest('hex')
    .slice(0, 12);
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'parsemesh', `quality-${id}`);
  const python = join(folder, 'bin/python3');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return python;
  console.error(`creating a Python environment with ${packages.join(', ')}`);
  try {
    await start(['python3', '-m', 'venv', '--clear', folder], {}, false);
    await start([python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages], {}, false);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new SetupError(
      `The Python packages ${packages.join(', ')} could not be installed (${error instanceof Error ? error.message : error}). On Debian, install python3-venv first.`,
    );
  }
  writeFileSync(complete, '');
  return python;
}
