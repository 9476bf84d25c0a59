// Runs programs under strace and reads from its output which files they wrote and which addresses they contacted.
import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An absolute path, because some tests start the product with an empty PATH. */
const STRACE = '/usr/bin/strace';

/** Why tests that need strace are skipped, or false if they run. In CI, a missing strace is a failure. */
export function straceSkipReason(): string | false {
  const { error, status } = spawnSync(STRACE, ['-f', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
  if (error && !process.env.CI) return 'SKIPPED: strace is not installed (apt-get install strace)';
  if (!error && status !== 0) return 'SKIPPED: this system does not let one process trace another';
  return false;
}

/**
 * The strace command to put before the command of a service. It records these system calls of the service and all of its
 * child processes in `SERVICE.strace` in the folder. The service keeps its process id and gets its signals itself (`-D`).
 */
export function straceCommand(folder: string, calls: readonly string[]): (service: string) => readonly string[] {
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

/** `service: call` for each recorded call. A call that strace split into two lines is joined. */
export async function readCalls(folder: string): Promise<string[]> {
  const calls: string[] = [];
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.strace')) continue;
    const service = name.replace('.strace', '');
    const unfinished = new Map<string, string>();
    for (const line of (await readFile(join(folder, name), 'latin1')).split('\n')) {
      const [, pid = '', call = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
      const begun = /^(.*?)\s*<unfinished \.\.\.>$/.exec(call)?.[1];
      const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call)?.[1];
      if (begun !== undefined) unfinished.set(pid, begun);
      else if (resumed !== undefined) calls.push(`${service}: ${unfinished.get(pid) ?? ''}${resumed}`);
      else if (/^\w+\(/.test(call)) calls.push(`${service}: ${call}`);
    }
  }
  return calls;
}

/** Absolute paths of the files that were opened for writing or created. */
export function writtenPaths(calls: readonly string[]): string[] {
  return calls.flatMap((call) => {
    if (!/: (open|openat|openat2|creat)\(/.test(call) || !/O_WRONLY|O_RDWR|O_CREAT|creat\(/.test(call)) return [];
    const path = /= \d+<(.*)>$/.exec(call)?.[1];
    return path === undefined ? [] : [path];
  });
}

/** `service: address:port` for each attempt to contact a network address, including datagrams and failed attempts. */
export function contactedAddresses(calls: readonly string[]): string[] {
  return calls.flatMap((call) => {
    const [, service = '', name = ''] = /^([\w-]+): (\w+)\(/.exec(call) ?? [];
    if (!/^(connect|sendto|sendmsg|sendmmsg)$/.test(name)) return [];
    const port = /sin6?_port=htons\((\d+)\)/.exec(call)?.[1];
    const address = /inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"/.exec(call);
    return port === undefined ? [] : [`${service}: ${address?.[1] ?? address?.[2] ?? '?'}:${port}`];
  });
}
