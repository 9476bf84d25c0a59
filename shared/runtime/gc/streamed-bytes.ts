// Forces garbage collections while bytes are streamed, because V8 counts Buffers as heap: it lets many of them pile up, and then runs full collections.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const MiB = 1024 * 1024;
/** How often it reads the memory of Buffers, in bytes streamed. */
const CHECK_EVERY_BYTES = MiB;
/** The young generation is collected when the Buffers have grown by this many bytes. */
const COLLECT_EVERY_BYTES = 8 * MiB;
/** A full collection runs when this many bytes of Buffers survive the collections of the young generation. */
const FULL_COLLECTION_BYTES = 32 * MiB;
/** The next full collection runs when the bytes that survived the last one have grown by this factor. */
const FULL_COLLECTION_GROWTH = 1.5;

type Collect = (options: { type: 'minor' | 'major'; execution: 'sync' }) => void;

// V8 adds `gc` to contexts that are created after this call. A command-line flag would have to be in every command that starts the product.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as Collect;

let streamed = 0;
/** The least bytes of Buffers since the last collection. V8 frees Buffers in another thread, so they are known only some time after it. */
let survived = Number.POSITIVE_INFINITY;
let fullCollectionAt = FULL_COLLECTION_BYTES;

/**
 * Call it with the size of each streamed chunk. When the Buffers have grown by 8 MiB, it collects the young generation, which
 * takes about 1 ms. So V8 does not start full collections of its own, which take 20 ms and more of CPU time in several threads.
 * A Buffer can be copied on its way, so the size of the chunks alone does not tell how much there is to collect. Buffers that wait
 * for a slow reader move to the old generation. If 32 MiB of Buffers survive, it also collects the old generation.
 */
export function countStreamedBytes(bytes: number): void {
  streamed += bytes;
  if (streamed < CHECK_EVERY_BYTES) return;
  streamed = 0;
  const { external_memory: now } = getHeapStatistics();
  survived = Math.min(survived, now);
  if (now < survived + COLLECT_EVERY_BYTES) return;
  if (survived < FULL_COLLECTION_BYTES) fullCollectionAt = FULL_COLLECTION_BYTES;
  const isFull = survived >= fullCollectionAt;
  if (isFull) fullCollectionAt = survived * FULL_COLLECTION_GROWTH;
  collect({ type: isFull ? 'major' : 'minor', execution: 'sync' });
  survived = Number.POSITIVE_INFINITY;
}
