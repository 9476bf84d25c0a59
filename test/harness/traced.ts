// Runs the product under strace and reads back what its processes, and all that they started, asked of the system.
import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Named whole: a product may be started with a PATH that leads nowhere. */
const STRACE = '/usr/bin/strace';

/** Why nothing can be traced here, as a skip notice, or false where it can. Under CI a missing strace is a failure, a kernel that forbids it is not. */
export function traceSkipReason(): string | false {
  const { error, status } = spawnSync(STRACE, ['-f', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
  if (error && !process.env.CI) return 'SKIPPED: strace is not installed (apt-get install strace)';
  if (!error && status !== 0) return 'SKIPPED: this system does not let one process trace another';
  return false;
}

/** The command that watches a process from before its first instruction. It stays the process that was asked for: signals reach it, and its id is its own. */
export function traced(folder: string, calls: readonly string[]): (service: string) => readonly string[] {
  return (service) => [
    STRACE,
    '-f',
    '-qq',
    '-D',
    '-y',
    '--seccomp-bpf',
    '-s',
    '128',
    '-e',
    `trace=${calls.join(',')}`,
    '-o',
    join(folder, `${service}.strace`),
  ];
}

/** Calls by name, as strace writes them; those that two lines tell are put together again. */
export async function callsIn(folder: string): Promise<string[]> {
  const calls: string[] = [];
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.strace')) continue;
    const open = new Map<string, string>();
    for (const line of (await readFile(join(folder, name), 'latin1')).split('\n')) {
      const [, pid = '', call = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
      const begun = /^(.*?)\s*<unfinished \.\.\.>$/.exec(call)?.[1];
      const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call)?.[1];
      if (begun !== undefined) open.set(pid, begun);
      else if (resumed !== undefined) calls.push(`${name.replace('.strace', '')}: ${open.get(pid) ?? ''}${resumed}`);
      else if (/^\w+\(/.test(call)) calls.push(`${name.replace('.strace', '')}: ${call}`);
    }
  }
  return calls;
}

/** Absolute paths of files that were opened to be written or made. */
export function pathsWritten(calls: readonly string[]): string[] {
  return calls.flatMap((call) => {
    if (!/: (open|openat|openat2|creat)\(/.test(call) || !/O_WRONLY|O_RDWR|O_CREAT|creat\(/.test(call)) return [];
    const path = /= \d+<(.*)>$/.exec(call)?.[1];
    return path === undefined ? [] : [path];
  });
}

/** `service: address:port` of each connection over a network that was asked for, datagrams and refused ones too. */
export function addressesAsked(calls: readonly string[]): string[] {
  return calls.flatMap((call) => {
    const [, service = '', name = ''] = /^([\w-]+): (\w+)\(/.exec(call) ?? [];
    if (!/^(connect|sendto|sendmsg|sendmmsg)$/.test(name)) return [];
    const port = /sin6?_port=htons\((\d+)\)/.exec(call)?.[1];
    const address = /inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"/.exec(call);
    return port === undefined ? [] : [`${service}: ${address?.[1] ?? address?.[2] ?? '?'}:${port}`];
  });
}
