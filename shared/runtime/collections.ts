// Sets how often V8 collects the whole heap of a process that bytes pass through: it counts every buffer on its way as heap, and would collect for each page.
import { setFlagsFromString } from 'node:v8';

/** Share of what lives after a collection that may be added to it before the next one, in percent; V8 by itself takes a tenth where little is written. */
const GROWTH_PERCENT = 100;

/** For processes whose own objects are few: the heap, buffers included, may double between two collections. */
export function collectSeldom(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
