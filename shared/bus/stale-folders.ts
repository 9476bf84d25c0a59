// Removes the folders that killed processes have left, because only the owner of a folder removes it otherwise.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes folders whose name is the prefix and the id of a process that does not run. An unreadable parent is left alone.
 * @param prefix names this host too, because containers can share a folder but have their own process ids
 * @param own folders of this process
 */
export function removeStaleFolders(parent: string, prefix: string, own: ReadonlySet<string>): void {
  let names: string[];
  try {
    names = readdirSync(parent);
  } catch {
    return;
  }
  for (const name of names) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(parent, name);
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (own.has(folder) || (pid !== process.pid && isAlive(pid))) continue;
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // The folder belongs to another user.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
