// Mounts a small file system for the tests of full and read-only disks. Only root may mount.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Why tests with a disk of their own are skipped, or false if they run. */
export const noMountReason: string | false =
  process.platform === 'linux' && process.getuid?.() === 0 && canMount()
    ? false
    : 'SKIPPED: only root on Linux can mount a file system, so full and read-only disks were not tested';

function canMount(): boolean {
  return spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' }).status === 0;
}

function mount(...args: string[]): void {
  const { status, stderr } = spawnSync(args[0] ?? '', args.slice(1), { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
}

/** A file system in memory with its own size. */
export class SmallDisk {
  readonly folder: string;

  /** @param mebibytes its size */
  constructor(mebibytes: number) {
    this.folder = mkdtempSync(join(tmpdir(), 'parsemesh-disk-'));
    mount('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=1777`, 'tmpfs', this.folder);
  }

  get #filler(): string {
    return join(this.folder, 'filler');
  }

  /** Uses all space. */
  fill(): void {
    const file = openSync(this.#filler, 'a');
    const block = Buffer.alloc(1024 * 1024, 1);
    try {
      for (let size = block.length; size > 0; )
        try {
          writeSync(file, block, 0, size);
        } catch {
          // Smaller and smaller pieces, until not one byte has space.
          size = Math.floor(size / 2);
        }
    } finally {
      closeSync(file);
    }
  }

  empty(): void {
    rmSync(this.#filler, { force: true });
  }

  /** Mounts it again over itself, read-only. A remount would fail while a process has a file open. */
  makeReadOnly(): void {
    mount('mount', '--bind', this.folder, this.folder);
    mount('mount', '-o', 'remount,bind,ro', this.folder);
  }

  makeWritable(): void {
    mount('umount', '-l', this.folder);
  }

  /** Unmounts it, also while a process still has a file open. */
  remove(): void {
    // Once more if it is still read-only.
    while (spawnSync('umount', ['-l', this.folder], { stdio: 'ignore' }).status === 0);
    if (existsSync(this.folder)) rmSync(this.folder, { recursive: true, force: true });
  }
}
