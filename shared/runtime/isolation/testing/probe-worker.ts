// A worker module that tries to read the secrets of its service and of other processes, as an attacker would who has taken over a converter.
import { spawnSync } from 'node:child_process';
import { openSync, readdirSync, readFileSync, readlinkSync, readSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { JobHandler } from '../../../contract/jobs.ts';

/** What the test knows and the converter should not find. */
export interface ProbeTargets {
  /** The text of every secret contains it. */
  marker: string;
  /** Files with secrets, by name. */
  files: Readonly<Record<string, string>>;
  /** A folder of another process. */
  otherFolder: string;
  /** A port of this machine that the service connects to. */
  port: number;
}

/** `refused`, or what the attempt got. */
export type ProbeResult = Readonly<Record<string, string>>;

const REFUSED = 'refused';
const { ppid } = process;
const text = new TextDecoder();

function attempt(work: () => string | undefined): string {
  try {
    return work() ?? REFUSED;
  } catch {
    return REFUSED;
  }
}

/** Process ids of all processes whose files in /proc the user can look at. */
function allProcesses(): number[] {
  const pids = new Set([process.pid, ppid]);
  try {
    for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) pids.add(Number(name));
  } catch {
    // Without the list, an attacker guesses.
    for (let pid = 1; pid < 400; pid += 1) pids.add(pid);
  }
  return [...pids];
}

/** Which processes show the marker in a file of /proc. */
function shows(file: string, marker: string): string | undefined {
  const found = allProcesses().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(marker);
    } catch {
      return false;
    }
  });
  return found.length === 0 ? undefined : `the marker in ${found.length} processes`;
}

/** Runs a program: native code, which Node's permissions do not cover. It prints OK if the attempt worked. */
const native = (...command: [string, ...string[]]): string =>
  attempt(() => {
    const [program, ...args] = command;
    const { stdout } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return stdout !== '' && stdout !== null ? 'something' : undefined;
  });

/** PTRACE_SEIZE (ptrace(2)) attaches without stopping the process. 101 and 117 are the numbers of ptrace. */
const TRACE = 'my $n = shift eq "x64" ? 101 : 117; print "OK" if syscall($n, 0x4206, 0 + shift, 0, 0) == 0';

const connects = (port: number): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', (data) => {
      resolve(text.decode(data).slice(0, 4));
      socket.destroy();
    });
    socket.once('error', () => resolve(REFUSED));
  });

async function probe({ marker, files, otherFolder, port }: ProbeTargets): Promise<ProbeResult> {
  const own = process.env.TMPDIR;
  return {
    'environment of the service': attempt(() => readFileSync(`/proc/${ppid}/environ`, 'latin1') && 'the environment'),
    'environment of any process': attempt(() => shows('environ', marker)),
    'arguments of any process': attempt(() => shows('cmdline', marker)),
    'memory of the service': attempt(() => {
      const memory = openSync(`/proc/${ppid}/mem`, 'r');
      const [from = ''] = readFileSync(`/proc/${ppid}/maps`, 'latin1').split('-');
      return readSync(memory, Buffer.alloc(64), 0, 64, Number.parseInt(from, 16)) > 0 ? 'memory' : undefined;
    }),
    'descriptors of the service': attempt(() => {
      const opened = readdirSync(`/proc/${ppid}/fd`).filter(
        (fd) => attempt(() => readlinkSync(`/proc/${ppid}/fd/${fd}`)) !== REFUSED,
      );
      return opened.length > 0 ? `${opened.length} descriptors` : undefined;
    }),
    'signal to the service': attempt(() => (process.kill(ppid, 0) ? 'sent' : undefined)),
    'a list of the folder of another process': attempt(() => readdirSync(otherFolder).join()),
    'a new file in the folder of another process': attempt(() => {
      writeFileSync(`${otherFolder}/planted`, 'x');
      return 'written';
    }),
    'a connection to the bus': await connects(port),
    ...Object.fromEntries(
      Object.entries(files).flatMap(([name, path]) => [
        [name, attempt(() => readFileSync(path, 'utf8'))],
        [`${name}, by a program`, native('cat', path)],
      ]),
    ),
    'environment of the service, by a program': native('cat', `/proc/${ppid}/environ`),
    'descriptors of the service, by a program': native('sh', '-c', `readlink /proc/${ppid}/fd/*`),
    'signal to the service, by a program': native('sh', '-c', `kill -0 ${ppid} && echo OK`),
    'tracing of the service, by a program': native('perl', '-e', TRACE, process.arch, String(ppid)),
    // What must work, so that the refusals above have a meaning.
    'its own code': attempt(() => readFileSync(new URL(import.meta.url), 'utf8').slice(0, 2)),
    'its own folder': attempt(() => {
      if (own === undefined) return undefined;
      writeFileSync(`${own}/note`, 'x');
      return readFileSync(`${own}/note`, 'utf8');
    }),
    'a program': native('echo', 'OK'),
  };
}

export const handle: JobHandler = async (_job, payload) => ({
  reply: await probe(JSON.parse(text.decode(payload)) as ProbeTargets),
});
