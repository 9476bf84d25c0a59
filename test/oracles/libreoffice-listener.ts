// Keeps one LibreOffice open for the oracle tests, because its start costs 1 s of CPU time and a conversion 0.1 s.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

export interface LibreOfficeListener {
  /** A program to call instead of `soffice`: it hands its arguments to the open LibreOffice and waits for the result. */
  program: string;
  close(): Promise<void>;
}

/** The pipe on which LibreOffice accepts the arguments of later calls (desktop/source/app/officeipcthread.cxx). */
function pipeOf(profileUrl: string): string {
  const digest = createHash('md5').update(Buffer.from(profileUrl, 'utf16le')).digest();
  const hash = [...digest].map((byte) => byte.toString(16)).join('');
  return `/tmp/OSL_PIPE_${process.getuid?.() ?? 0}_SingleOfficeIPC_${hash}`;
}

/** Whether it sends its greeting, which it does once it accepts requests. */
function greets(pipe: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(pipe);
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  // The complete process group: `soffice` is a script that starts two more processes.
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  await exited;
}

/**
 * Starts LibreOffice with a profile of its own and waits until it accepts requests.
 * @param soffice path of the installed program
 * @throws Error if it exits before that
 */
export async function startLibreOfficeListener(soffice: string): Promise<LibreOfficeListener> {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-oracle-'));
  const profileUrl = pathToFileURL(join(folder, 'profile')).href;
  const profile = `-env:UserInstallation=${profileUrl}`;
  const child = spawn(soffice, [profile, '--headless', '--nologo', '--norestore', 'private:factory/swriter'], {
    stdio: 'ignore',
    detached: true,
  });
  const program = join(folder, 'soffice');
  // libreoffice-convert names a new profile in its first argument; this one replaces it.
  await writeFile(program, `#!/bin/sh\nshift\nexec '${soffice}' '${profile}' "$@"\n`, { mode: 0o755 });
  const pipe = pipeOf(profileUrl);
  while (!(await greets(pipe))) {
    if (child.exitCode !== null) throw new Error(`LibreOffice exited with ${child.exitCode} before it was ready`);
    await pause(50);
  }
  return {
    program,
    async close() {
      await stop(child);
      await Promise.all([folder, pipe].map((path) => rm(path, { recursive: true, force: true, maxRetries: 10 })));
    },
  };
}
