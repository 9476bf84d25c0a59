// Runs the corpora's Python scripts with the packages they need, kept in a cache of their own and never in the system's Python.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A run that cannot begin, with words for the person who started it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

export interface Shell {
  baseUrl: string;
  has(program: string): boolean;
  /** Runs a program and shows what it prints. @throws Error where it fails */
  show(...command: [{ env: Record<string, string> } | string, ...string[]]): Promise<void>;
  /** Runs a program and gives what it prints. @throws Error where it fails */
  read(...command: [string, ...string[]]): Promise<string>;
}

function start(command: readonly string[], env: Record<string, string>, show: boolean): Promise<string> {
  const [program, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program ?? '', args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', show ? 'inherit' : 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${program} ${args[0] ?? ''} ended with ${code}`)),
    );
  });
}

/** A shell whose programs find the product by `BASE_URL` and `API_KEY`. */
export function makeShell(product: { BASE_URL: string; API_KEY: string }): Shell {
  return {
    baseUrl: product.BASE_URL,
    has: (program) => spawnSync(program, ['-v'], { stdio: 'ignore' }).error === undefined,
    show: async (first, ...rest) => {
      const [env, command] = typeof first === 'string' ? [{}, [first, ...rest]] : [first.env, rest];
      await start(command, { ...product, ...env }, true);
    },
    read: (...command) => start(command, product, false),
  };
}

/**
 * A Python with these PyPI packages, in a virtual environment that is made once.
 * @throws Refusal where there is no python3, or its packages cannot be installed.
 */
export async function pythonWith(packages: readonly string[]): Promise<string> {
  if (spawnSync('python3', ['--version']).status !== 0)
    throw new Refusal(
      'The corpora score with Python scripts, and there is no python3 here: apt-get install python3 python3-venv.',
    );
  const id = createHash('sha256')
    .update([...packages].sort().join(' '))
    .digest('hex')
    .slice(0, 12);
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'parsemesh', `quality-${id}`);
  const python = join(folder, 'bin/python3');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return python;
  console.error(`making a Python environment with ${packages.join(', ')}`);
  try {
    await start(['python3', '-m', 'venv', '--clear', folder], {}, false);
    await start([python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages], {}, false);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Refusal(
      `The Python packages ${packages.join(', ')} could not be installed (${error instanceof Error ? error.message : error}); on Debian a virtual environment needs python3-venv.`,
    );
  }
  writeFileSync(complete, '');
  return python;
}
