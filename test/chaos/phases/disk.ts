// Phases in which the disk of a worker is full or read-only, on a file system of its own.
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createRequest } from '../documents.ts';
import type { Member } from '../mesh.ts';
import { type Phase, type PhaseContext, sendToAnyGateway, UNREADY } from './phase.ts';

const run = promisify(execFile);
/** Enough for LibreOffice's profile and one document. */
const DISK_MIB = 64;
const READY_WITHIN_MS = 60_000;

async function isReady(member: Member): Promise<boolean> {
  const response = await fetch(`${member.product?.opsUrl}/readyz`).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 200;
}

async function untilReady(member: Member, ready: boolean): Promise<boolean> {
  const until = Date.now() + READY_WITHIN_MS;
  while (Date.now() < until) {
    if ((await isReady(member)) === ready) return true;
    await sleep(100);
  }
  return false;
}

/** Sends documents that LibreOffice reads, which needs a disk. */
async function sendLegacyFiles(context: PhaseContext): Promise<string[]> {
  const outcomes: string[] = [];
  for (let count = 0; count < 4; count++)
    outcomes.push(await sendToAnyGateway(context, await createRequest('rtf'), UNREADY));
  return outcomes;
}

/** Gives every office worker a small disk, breaks it, sends documents, and mends it. */
function diskPhase(
  name: string,
  disk: { start: 'before' | 'after'; break(path: string): Promise<void>; mend(path: string): Promise<void> },
): Phase {
  return {
    name,
    allowed: UNREADY,
    startsEngines: true,
    async run(context) {
      const { mesh, tally, lengthMs, log } = context;
      if (process.getuid?.() !== 0) return log('skipped: only root can mount a file system');
      const members = mesh.running('office').map(({ member }) => member);
      const mounted: Member[] = [];
      try {
        for (const member of members) {
          await mesh.kill(member);
          await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', member.temporary]);
          mounted.push(member);
          if (disk.start === 'after') await disk.break(member.temporary);
          await mesh.launch(member, { waitFor: 'live' });
          if (disk.start === 'before') await disk.break(member.temporary);
        }
        log(`outcomes while the disks are broken: ${(await sendLegacyFiles(context)).join(', ')}`);
        for (const member of members)
          if (!(await untilReady(member, false))) tally.fault(`${member.name} is ready although its disk is broken`);
        for (const member of members) await disk.mend(member.temporary);
        tally.faultEnded();
        for (const member of members)
          if (!(await untilReady(member, true)))
            tally.fault(`${member.name} is not ready although its disk works again`);
        const after = await sendLegacyFiles(context);
        log(`outcomes afterwards: ${after.join(', ')}`);
        if (after.some((outcome) => outcome !== 'ok')) tally.fault(`after the disks work again: ${after.join(', ')}`);
        await sleep(lengthMs / 2);
      } finally {
        for (const member of mounted) {
          await mesh.kill(member);
          // `-l`: a process of LibreOffice may still be exiting.
          await run('umount', ['-l', member.temporary]);
          await mesh.launch(member);
        }
      }
    },
  };
}

const fill = (path: string): string => join(path, 'fill');

export const DISK_PHASES: readonly Phase[] = [
  diskPhase('full-disk', {
    start: 'before',
    async break(path) {
      await writeFile(fill(path), Buffer.alloc(DISK_MIB * 1024 * 1024)).catch(() => undefined);
    },
    mend: (path) => rm(fill(path)),
  }),
  diskPhase('read-only-disk', {
    start: 'after',
    break: async (path) => void (await run('mount', ['-o', 'remount,ro', path])),
    mend: async (path) => void (await run('mount', ['-o', 'remount,rw', path])),
  }),
];
