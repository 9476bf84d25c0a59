// What a running product takes of the machine: resident memory by process, and what is left of it once it has ended (Linux, /proc).
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { residentMemory } from '../harness/product.ts';

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

/** What an isolated process is named after: the service whose worker module it loads, or its program. */
async function nameOf(pid: number): Promise<string> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const service = /services\/(\w+)\/worker\.ts/.exec(command)?.[1];
  return service ? `${service} conversion` : (/[^/\0]+(?=\0|$)/.exec(command)?.[0] ?? 'gone');
}

/** Resident bytes of a process and of all below it, each under its name; processes of one name in a list. */
export async function residentByName(pid: number, name: string): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>();
  const visit = async (one: number, called: string): Promise<void> => {
    const now = await residentMemory(one).then(
      (memory) => memory.now,
      () => 0,
    );
    if (now > 0) found.set(called, [...(found.get(called) ?? []), now]);
    for (const child of await childrenOf(one)) await visit(child, `${name} > ${await nameOf(child)}`);
  };
  await visit(pid, name);
  return found;
}

/** Processes whose environment names the folder: all that the product started inherits its TMPDIR. */
export async function processesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.includes(folder)) found.push(`${await nameOf(Number(pid))} (${pid})`);
  }
  return found;
}

/** Files (not folders) below a folder. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}
