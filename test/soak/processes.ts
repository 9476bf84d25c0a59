// Reads the memory of a product's processes, and finds the processes and files that it leaves behind (Linux, /proc).
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { childPids } from '../bench/process-tree.ts';
import { residentMemory } from '../harness/product.ts';

/** Names a process after the service whose worker module it runs, or after its program. */
async function processName(pid: number): Promise<string> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const service = /services\/(\w+)\/worker\.ts/.exec(command)?.[1];
  return service ? `${service} conversion` : (/[^/\0]+(?=\0|$)/.exec(command)?.[0] ?? 'exited');
}

/** Resident bytes of a process and its descendants by name. Several processes can have one name. */
export async function residentBytesByName(pid: number, name: string): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  const visit = async (current: number, currentName: string): Promise<void> => {
    const now = await residentMemory(current).then(
      (memory) => memory.now,
      () => 0,
    );
    if (now > 0) found.set(currentName, [...(found.get(currentName) ?? []), now]);
    for (const child of await childPids(current)) await visit(child, `${name} > ${await processName(child)}`);
  };
  await visit(pid, name);
  return found;
}

/** Processes with this folder in their environment. All processes of a product inherit its TMPDIR. */
export async function processesWithFolder(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.includes(folder)) found.push(`${await processName(Number(pid))} (${pid})`);
  }
  return found;
}

/** Paths of the files below a folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}
