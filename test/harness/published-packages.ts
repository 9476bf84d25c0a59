// Installs published client packages from npm and PyPI into a cache, for tests that run them as users do. They are no dependencies of this repository, because they are large and few tests need them.
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const PYTHON_SDK = 'firecrawl-py==4.53.0';
export const CLI = 'firecrawl-cli@1.23.3';
export const MCP_SERVER = 'firecrawl-mcp@3.26.0';
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/packages', import.meta.url));
const INSTALL_TIMEOUT_MS = 600_000;

/** The packages cannot be installed on this machine. `message` says which ones and why. */
class NotInstallableError extends Error {
  override readonly name = 'NotInstallableError';
}

const installations = new Map<string, Promise<string>>();

/**
 * Returns the folder of an installation, and installs it first if the cache does not have it.
 * @param packages names with exact versions
 * @param install writes the installation into an empty folder
 * @throws NotInstallableError
 */
function installed(packages: readonly string[], install: (folder: string) => Promise<void>): Promise<string> {
  const name = packages.join('+').replaceAll(/[^\w.+-]+/g, '-');
  const running =
    installations.get(name) ??
    (async () => {
      const target = join(CACHE, name);
      try {
        await access(target);
        return target;
      } catch {
        // It is not in the cache yet.
      }
      await mkdir(CACHE, { recursive: true });
      const folder = await mkdtemp(join(CACHE, '.installing-'));
      try {
        await install(folder);
        // Another process may have installed the same packages in the meantime. Then its installation stays.
        await rename(folder, target).catch(() => access(target));
        return target;
      } catch (cause) {
        const { stderr = '', message = '' } = cause as { stderr?: string; message?: string };
        const lines = (stderr.trim() || message).split('\n').filter((line) => !/^\s*$|^\[notice\]/.test(line));
        throw new NotInstallableError(`${packages.join(', ')} cannot be installed: ${lines.at(-1) ?? ''}`, { cause });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    })();
  installations.set(name, running);
  return running;
}

/** Returns a folder whose `node_modules` has these npm packages. Their install scripts do not run. @throws NotInstallableError */
export function npmPackages(...packages: string[]): Promise<string> {
  return installed(packages, async (folder) => {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
    await run('npm', ['install', '--prefix', folder, ...flags, ...packages], {
      cwd: folder,
      timeout: INSTALL_TIMEOUT_MS,
    });
  });
}

/** Returns the path of a Python that has these packages. @throws NotInstallableError, also if there is no Python */
export async function pythonPackages(...packages: string[]): Promise<string> {
  const folder = await installed(packages, async (environment) => {
    await run('python3', ['-m', 'venv', environment], { timeout: INSTALL_TIMEOUT_MS });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1'];
    await run(join(environment, 'bin/python'), [...pip, ...packages], { timeout: INSTALL_TIMEOUT_MS });
  });
  return join(folder, 'bin/python');
}

/** Returns the installation, or undefined after it has marked the test as skipped with the reason. */
export async function orSkip(context: TestContext, installation: Promise<string>): Promise<string | undefined> {
  try {
    return await installation;
  } catch (error) {
    if (!(error instanceof NotInstallableError)) throw error;
    context.skip(`SKIPPED: ${error.message}`);
    return undefined;
  }
}
