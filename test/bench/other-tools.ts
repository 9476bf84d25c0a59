// Starts other document tools that are installed here, to compare them with the product.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../harness/ports.ts';
import type { Input } from './inputs.ts';
import { cpuMsOf, type Subject } from './subject.ts';

const run = promisify(execFile);
const isInstalled = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** CPU ms of the children that this process has waited for (proc(5), cutime and cstime). */
function cpuMsOfExitedChildren(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const field = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(field[13]) + Number(field[14])) * 10;
}

/** A program that is started for each document. */
function programSubject(
  name: string,
  extensions: readonly string[],
  work: (path: string, folder: string) => Promise<unknown>,
): Subject {
  return {
    name,
    convert: async (input: Input) => {
      if (!extensions.includes(input.extension)) return false;
      const folder = await mkdtemp(join(tmpdir(), 'bench-peer-'));
      const path = join(folder, `input${input.extension}`);
      try {
        await writeFile(path, input.bytes);
        await work(path, folder);
        return true;
      } catch {
        return false;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    cpuMs: cpuMsOfExitedChildren,
    stop: async () => undefined,
  };
}

interface ServerTool {
  name: string;
  command: string;
  args: (port: number) => string[];
  method: string;
  path: string;
}

async function serverSubject({ name, command, args, method, path }: ServerTool): Promise<Subject | undefined> {
  const port = await freePort();
  const child = spawn(command, args(port), { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}${path}`;
  for (let left = 240; left > 0 && child.exitCode === null; left--) {
    if (
      await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    )
      break;
    await sleep(250);
  }
  if (child.exitCode !== null) return undefined;
  return {
    name,
    convert: async ({ name: fileName, bytes }) => {
      const headers = {
        accept: 'text/plain',
        'x-file-name': encodeURIComponent(fileName),
        'content-disposition': `attachment; filename="${encodeURIComponent(fileName)}"`,
      };
      const response = await fetch(url, { method, body: new Uint8Array(bytes), headers }).catch(() => undefined);
      await response?.arrayBuffer();
      return response?.status === 200;
    },
    cpuMs: () => cpuMsOf([child.pid ?? 0]),
    stop: async () => child.kill('SIGTERM'),
  };
}

/** Starts Tika (TIKA_JAR is its server jar), markitdown (PYTHON is an interpreter that has it) and pdftotext, if they are installed. */
export async function documentTools(): Promise<Subject[]> {
  const tools: (Subject | undefined)[] = [];
  const jar = process.env.TIKA_JAR;
  if (jar && isInstalled('java', '-version'))
    tools.push(
      await serverSubject({
        name: 'Tika server',
        command: 'java',
        args: (port) => ['-jar', jar, '-h', '127.0.0.1', '-p', String(port)],
        method: 'PUT',
        path: '/tika',
      }),
    );
  const python = process.env.PYTHON ?? 'python3';
  if (isInstalled(python, '-c', 'import markitdown')) {
    const script = fileURLToPath(new URL('./markitdown-server.py', import.meta.url));
    tools.push(
      await serverSubject({
        name: 'markitdown',
        command: python,
        args: (port) => [script, String(port)],
        method: 'POST',
        path: '/',
      }),
    );
  }
  if (isInstalled('pdftotext', '-v'))
    tools.push(
      programSubject('pdftotext', ['.pdf'], (path) => run('pdftotext', ['-layout', path, '-'], { maxBuffer: 1 << 28 })),
    );
  return tools.filter((tool) => tool !== undefined);
}

/** Resolution in dpi of the first image of a PDF, by pdfimages; 200 if it has no image. */
async function imageResolution(path: string): Promise<number> {
  const { stdout } = await run('pdfimages', ['-list', path]);
  return Number(stdout.split('\n').at(2)?.trim().split(/\s+/).at(12)) || 200;
}

/**
 * Native tesseract on one thread, on grey pages that pdftoppm renders.
 * @param resolution in dpi; `scan` uses the resolution of the scan, which costs the least CPU time and gives the best text
 */
export function tesseractTool(resolution: number | 'scan'): Subject | undefined {
  if (!isInstalled('tesseract', '--version') || !isInstalled('pdftoppm', '-v')) return undefined;
  const env = { ...process.env, OMP_THREAD_LIMIT: '1' };
  const name = `pdftoppm + tesseract, ${resolution === 'scan' ? 'resolution of the scan' : `${resolution} dpi`}`;
  return programSubject(name, ['.pdf'], async (path, folder) => {
    const dpi = String(resolution === 'scan' ? await imageResolution(path) : resolution);
    await run('pdftoppm', ['-gray', '-r', dpi, path, join(folder, 'page')]);
    for (const page of (await readdir(folder)).filter((file) => file.endsWith('.pgm')))
      await run('tesseract', [join(folder, page), '-', '-l', 'eng', '--dpi', dpi], { env });
  });
}
