// Keeps a process that streams small while it streams: its buffers die young, but V8 looks for dead ones only after some 64 MB of them, so the streams themselves say when it is time.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const COLLECT_EVERY_BYTES = 8 * 1024 * 1024;
/** Bytes of buffers that outlived young collections before all of the heap is looked through. */
const OLD_BYTES = 32 * 1024 * 1024;
/** Growth of what is then still in use before that is done again. */
const OLD_GROWTH = 1.5;

type Collect = (options: { type: 'minor' | 'major'; execution: 'sync' }) => void;

// Node gives the collector to contexts made after the flag; it needs no command-line flag, which `npm start` could not be sure of.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as Collect;

const externalBytes = () => getHeapStatistics().external_memory;

let streamed = 0;
let oldBytes = OLD_BYTES;

/**
 * Counts bytes that went by in short-lived buffers, and collects the young generation (about a millisecond) every few megabytes:
 * ten uploads of 50 MB at once cost a gateway 40 MB of memory this way, and 100 MB without. Buffers that waited for a slow reader are old
 * by then, and what they make a process grow by it keeps: past 32 MB of them the old generation is collected too (some 20 ms).
 */
export function countStreamed(bytes: number): void {
  streamed += bytes;
  if (streamed < COLLECT_EVERY_BYTES) return;
  streamed = 0;
  collect({ type: 'minor', execution: 'sync' });
  if (externalBytes() < OLD_BYTES) oldBytes = OLD_BYTES;
  if (externalBytes() < oldBytes) return;
  collect({ type: 'major', execution: 'sync' });
  oldBytes = Math.max(OLD_BYTES, externalBytes() * OLD_GROWTH);
}
