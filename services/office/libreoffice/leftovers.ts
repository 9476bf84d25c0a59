// Removes the folder and the socket of a LibreOffice whose parent process was killed and could not remove them itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The name of a folder is this prefix, the process id of its owner, `-`, and a random ending. */
const FOLDER_PREFIX = 'parsemesh-office-';

/** The prefix of a folder of this process, for `mkdtemp`. */
export function folderPrefix(base: string): string {
  return join(base, `${FOLDER_PREFIX}${process.pid}-`);
}

export function profileUrl(folder: string): string {
  return pathToFileURL(join(folder, 'profile')).href;
}

/**
 * The socket of LibreOffice's single-instance IPC. Its name has the MD5 of the profile's URL in UTF-16, with the bytes
 * in hexadecimal without leading zeros (desktop/source/app/officeipcthread.cxx).
 */
export function socketPath(folder: string): string {
  const digest = createHash('md5')
    .update(Buffer.from(profileUrl(folder), 'utf16le'))
    .digest();
  const hash = [...digest].map((byte) => byte.toString(16)).join('');
  return `/tmp/OSL_PIPE_${process.getuid?.() ?? 0}_SingleOfficeIPC_${hash}`;
}

/**
 * Starts a shell that removes the folder and the socket when this process exits, even if it is killed. The shell waits
 * until its standard input closes. It has a process group of its own, because the group of this process is killed at a
 * deadline. It tries twice, because LibreOffice may still write during the first attempt.
 */
export function startWatcher(folder: string): ChildProcess {
  const script = 'read _; rm -rf "$0" "$1" || { sleep 0.2; rm -rf "$0" "$1"; }';
  const watcher = spawn('sh', ['-c', script, folder, socketPath(folder)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  watcher.once('error', () => undefined);
  watcher.stdin.once('error', () => undefined);
  watcher.unref();
  return watcher;
}

/** Removes the folders and sockets of processes that no longer run, if their watchers were killed too. */
export function removeLeftovers(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = name.startsWith(FOLDER_PREFIX) ? Number(name.slice(FOLDER_PREFIX.length).split('-', 1)[0]) : 0;
    if (pid <= 0 || existsSync(`/proc/${pid}`)) continue;
    const folder = join(base, name);
    rmSync(folder, { recursive: true, force: true });
    rmSync(socketPath(folder), { force: true });
  }
}
