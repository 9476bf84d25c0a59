// Sets how often V8 collects the whole heap of a process that bytes pass through: it counts every buffer on its way as heap, and would collect for each page.
import { setFlagsFromString } from 'node:v8';

/**
 * For processes whose own objects are few.
 * @param growth share of what lives after a collection that the heap, buffers included, may grow by before the next one; V8 by itself takes a tenth
 * where little is written.
 */
export function collectSeldom(growth: number): void {
  setFlagsFromString(`--heap-growing-percent=${Math.round(growth * 100)}`);
}
