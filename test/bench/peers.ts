// The programs and servers that people use today for the same work, measured beside us where this machine has them.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../harness/nats-server.ts';
import type { Input } from './inputs.ts';
import { cpuOf, type Subject } from './subject.ts';

const run = promisify(execFile);
const has = (command: string, ...args: string[]) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** Processor ms of the children that this process has waited for (proc(5), cutime and cstime). */
function waitedMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const field = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(field[13]) + Number(field[14])) * 10;
}

/** A program that is started once a document. */
function programSubject(
  name: string,
  extensions: readonly string[],
  work: (path: string, folder: string) => Promise<unknown>,
): Subject {
  return {
    name,
    take: async (input: Input) => {
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
    cpuMs: waitedMs,
    stop: async () => undefined,
  };
}

interface ServerPeer {
  name: string;
  command: string;
  args: (port: number) => string[];
  method: string;
  path: string;
}

async function serverSubject({ name, command, args, method, path }: ServerPeer): Promise<Subject | undefined> {
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
    take: async ({ name: fileName, bytes }) => {
      const headers = {
        accept: 'text/plain',
        'x-file-name': encodeURIComponent(fileName),
        'content-disposition': `attachment; filename="${encodeURIComponent(fileName)}"`,
      };
      const response = await fetch(url, { method, body: new Uint8Array(bytes), headers }).catch(() => undefined);
      await response?.arrayBuffer();
      return response?.status === 200;
    },
    cpuMs: () => cpuOf([child.pid ?? 0]),
    stop: async () => child.kill('SIGTERM'),
  };
}

/** Peers for documents: Tika (TIKA_JAR names its server's jar), markitdown (PYTHON names the interpreter that has it), pdftotext. */
export async function documentPeers(): Promise<Subject[]> {
  const peers: (Subject | undefined)[] = [];
  const jar = process.env.TIKA_JAR;
  if (jar && has('java', '-version'))
    peers.push(
      await serverSubject({
        name: 'Tika server',
        command: 'java',
        args: (port) => ['-jar', jar, '-h', '127.0.0.1', '-p', String(port)],
        method: 'PUT',
        path: '/tika',
      }),
    );
  const python = process.env.PYTHON ?? 'python3';
  if (has(python, '-c', 'import markitdown')) {
    const script = fileURLToPath(new URL('./markitdown-server.py', import.meta.url));
    peers.push(
      await serverSubject({
        name: 'markitdown',
        command: python,
        args: (port) => [script, String(port)],
        method: 'POST',
        path: '/',
      }),
    );
  }
  if (has('pdftotext', '-v'))
    peers.push(
      programSubject('pdftotext', ['.pdf'], (path) => run('pdftotext', ['-layout', path, '-'], { maxBuffer: 1 << 28 })),
    );
  return peers.filter((peer) => peer !== undefined);
}

/** Resolution of a document's first image, as poppler tells it; 200 without one. */
async function ownResolution(path: string): Promise<number> {
  const { stdout } = await run('pdfimages', ['-list', path]);
  return Number(stdout.split('\n').at(2)?.trim().split(/\s+/).at(12)) || 200;
}

/**
 * Native tesseract on one thread, over pages that poppler draws in grey.
 * @param resolution dots an inch; `own` for the scan's own, which is the least work and reads best.
 */
export function tesseractPeer(resolution: number | 'own'): Subject | undefined {
  if (!has('tesseract', '--version') || !has('pdftoppm', '-v')) return undefined;
  const env = { ...process.env, OMP_THREAD_LIMIT: '1' };
  const name = `pdftoppm + tesseract, ${resolution === 'own' ? 'own resolution' : `${resolution} dpi`}`;
  return programSubject(name, ['.pdf'], async (path, folder) => {
    const dpi = String(resolution === 'own' ? await ownResolution(path) : resolution);
    await run('pdftoppm', ['-gray', '-r', dpi, path, join(folder, 'page')]);
    for (const page of (await readdir(folder)).filter((file) => file.endsWith('.pgm')))
      await run('tesseract', [join(folder, page), '-', '-l', 'eng', '--dpi', dpi], { env });
  });
}
