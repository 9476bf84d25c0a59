// Sends a file whose process or worker is killed each time it is read, and checks that the retries are limited.
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '#shared/contract/errors.ts';
import { childPids } from '../../bench/process-tree.ts';
import type { LoadRequest } from '../documents.ts';
import type { Member } from '../mesh.ts';
import { NO_ERRORS, type Phase, sendToAnyGateway } from './phase.ts';

const MIB = 1024 * 1024;
const FILE_BYTES = 46 * MIB;
/** A process that has read this many bytes within `WINDOW_MS` reads the poison file. The load is less than 2 MiB a second, and a starting process reads a few MiB. */
const READ_BYTES = 32 * MIB;
const WINDOW_MS = 10_000;
const MAX_KILLS = 3;
/**
 * A process that a signal ended may be a victim of the kernel, which frees memory, so its file is not blamed. A file that ends
 * three workers is.
 */
const EXPECTED = { process: '503 SERVICE_UNAVAILABLE', worker: '422 CONVERSION_FAILED' } as const;
const ERRORS: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE', 'CONVERSION_FAILED']);

interface Reader {
  pid: number;
  member: Member;
}

/** Bytes that a process has read since it started (proc(5), rchar of io). */
async function bytesRead(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/io`, 'utf8').catch(() => '');
  return Number(/^rchar: (\d+)/m.exec(text)?.[1] ?? 0);
}

/** Watches processes and calls `kill` once for each that reads the poison file. `stop` returns the number of kills. */
function killReaders(
  listReaders: () => Promise<Reader[]>,
  kill: (reader: Reader) => Promise<void>,
): { stop(): Promise<number> } {
  const samples = new Map<number, { at: number; bytes: number }[]>();
  const killed = new Set<number>();
  let stopped = false;
  const watch = async () => {
    while (!stopped) {
      for (const reader of await listReaders()) {
        const now = { at: performance.now(), bytes: await bytesRead(reader.pid) };
        const recent = [...(samples.get(reader.pid) ?? []).filter(({ at }) => at > now.at - WINDOW_MS), now];
        samples.set(reader.pid, recent);
        if (now.bytes - (recent[0] ?? now).bytes < READ_BYTES || killed.has(reader.pid)) continue;
        killed.add(reader.pid);
        await kill(reader);
      }
      await sleep(5);
    }
    return killed.size;
  };
  const watching = watch();
  return {
    stop() {
      stopped = true;
      return watching;
    },
  };
}

/** Kills each process that reads the poison file: the isolated process, or the worker that started it. */
export function poisonPhase(victim: 'process' | 'worker'): Phase {
  return {
    name: `poison-${victim}`,
    allowed: NO_ERRORS,
    async run(context) {
      const { mesh, tally, lengthMs, log } = context;
      const poison: LoadRequest = {
        kind: 'poison',
        fileName: 'poison.csv',
        file: Buffer.alloc(FILE_BYTES, 'Petrel,42\r\n'),
        options: {},
        words: [],
      };
      const restarts: Promise<void>[] = [];
      const listReaders = async () => {
        const workers = mesh.running('csv').map(({ member, product }) => ({ pid: product.gatewayPid, member }));
        if (victim === 'worker') return workers;
        const isolated = workers.map(async ({ pid, member }) =>
          (await childPids(pid)).map((child) => ({ pid: child, member })),
        );
        return (await Promise.all(isolated)).flat();
      };
      const watcher = killReaders(listReaders, async ({ pid, member }) => {
        log(`${victim} ${pid} (${member.name}) reads the poison file and is killed`);
        if (victim === 'process') process.kill(pid, 'SIGKILL');
        else {
          await mesh.kill(member);
          restarts.push(mesh.launch(member));
        }
      });
      const outcome = await sendToAnyGateway(context, poison, ERRORS);
      const kills = await watcher.stop();
      await Promise.all(restarts);
      log(`the result for the poison file: ${outcome} after ${kills} kills`);
      if (outcome !== EXPECTED[victim]) tally.fault(`the poison file got ${outcome} instead of ${EXPECTED[victim]}`);
      if (kills > MAX_KILLS) tally.fault(`the poison file was tried ${kills} times, more than ${MAX_KILLS}`);
      await sleep(lengthMs / 2);
    },
  };
}
