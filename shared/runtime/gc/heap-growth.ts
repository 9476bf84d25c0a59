// Sets how far the heap may grow between two full garbage collections, because V8 counts Buffers that pass through a process as heap and collects too often.
import { setFlagsFromString } from 'node:v8';

/**
 * Makes full collections less frequent. Use it in a process that keeps few objects of its own.
 * @param share how much the heap, including Buffers, grows after a full collection until the next one starts: 1 is 100 %. Without this setting,
 * V8 may choose 0.1 in a process that allocates little.
 */
export function setHeapGrowth(share: number): void {
  setFlagsFromString(`--heap-growing-percent=${Math.round(share * 100)}`);
}
