// Creates the cases of a fuzz run: a mutated document with random options, determined by a seed and a number.
import { basename } from 'node:path';
import { EXTENSIONS, type Extension, formatByExtension } from '#shared/contract/formats.ts';
import { BYTE_MUTATIONS } from './byte-mutations.ts';
import { FORMAT_MUTATIONS } from './format-mutations.ts';
import { randomOptions } from './options.ts';
import { createRandom } from './random.ts';
import type { Seed } from './seeds.ts';

const MAX_BYTES = 24 << 20;

export interface Case {
  index: number;
  fileName: string;
  /** Extension of the document that was mutated. The file name may have another one. */
  extension: Extension;
  bytes: Buffer;
  options: string;
  timeoutMs: number;
  /** Names of the mutations in their order. */
  mutations: string[];
}

/** Creates the case with this number. It depends only on the seed, the extensions and the documents. */
export function createCase(
  seed: number,
  index: number,
  extensions: readonly Extension[],
  seeds: ReadonlyMap<Extension, Seed[]>,
): Case {
  const random = createRandom(seed, index);
  const extension = random.pick(extensions);
  const source = random.pick(seeds.get(extension) ?? []);
  const other = random.pick(seeds.get(random.oneIn(2) ? extension : random.pick(extensions)) ?? []);
  const formatMutations = FORMAT_MUTATIONS[formatByExtension(extension)?.container ?? 'text'];
  let bytes: Buffer = source.bytes;
  const mutations: string[] = [];
  for (let count = random.oneIn(12) ? 0 : 1 + random.below(3); count > 0; count--) {
    const mutation = random.pick(random.oneIn(3) ? BYTE_MUTATIONS : formatMutations);
    bytes = mutation.run(bytes, random, other.bytes);
    mutations.push(mutation.name);
    if (bytes.length > MAX_BYTES) bytes = bytes.subarray(0, MAX_BYTES);
  }
  const sentExtension = random.oneIn(15) ? random.pick(EXTENSIONS) : extension;
  const { text, timeoutMs } = randomOptions(random);
  return {
    index,
    fileName: `${basename(source.name, source.extension)}${sentExtension}`,
    extension,
    bytes,
    options: text,
    timeoutMs,
    mutations,
  };
}
