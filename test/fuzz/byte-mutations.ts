// Mutates bytes without knowledge of the file format, like a disk error or an interrupted download.
import type { Random } from './random.ts';

const SPECIAL_BYTES = [0x00, 0x01, 0x22, 0x3c, 0x7f, 0x80, 0xff, 0xfe, 0x0a, 0x28];
const BOUNDARY_WORDS = [0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0xfffffffa, 0x00010000];

export interface Mutation {
  name: string;
  /** @param other a second document, for mutations that combine two */
  run(bytes: Buffer, random: Random, other: Buffer): Buffer;
}

const copyOf = (bytes: Buffer) => Buffer.from(bytes);

/** Mutations that make a file at most a few times larger. */
export const BYTE_MUTATIONS: readonly Mutation[] = [
  {
    name: 'flip-bits',
    run: (bytes, random) => {
      const changed = copyOf(bytes);
      for (let count = 1 + random.below(24); count > 0; count--) {
        const at = random.below(changed.length);
        changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
      }
      return changed;
    },
  },
  {
    name: 'special-bytes',
    run: (bytes, random) => {
      const changed = copyOf(bytes);
      for (let count = 1 + random.below(12); count > 0; count--)
        changed[random.below(changed.length)] = random.pick(SPECIAL_BYTES);
      return changed;
    },
  },
  {
    name: 'boundary-words',
    run: (bytes, random) => {
      const changed = copyOf(bytes);
      const words = Math.floor(changed.length / 4);
      for (let count = 1 + random.below(6); count > 0 && words > 0; count--)
        changed.writeUInt32LE(random.pick(BOUNDARY_WORDS) >>> 0, random.below(words) * 4);
      return changed;
    },
  },
  {
    name: 'boundary-words-in-header',
    run: (bytes, random) => {
      const changed = copyOf(bytes);
      const words = Math.floor(Math.min(changed.length, 512) / 4);
      for (let count = 1 + random.below(3); count > 0 && words > 0; count--)
        changed.writeUInt32LE(random.pick(BOUNDARY_WORDS) >>> 0, random.below(words) * 4);
      return changed;
    },
  },
  { name: 'truncate', run: (bytes, random) => copyOf(bytes.subarray(0, random.below(bytes.length))) },
  { name: 'remove-start', run: (bytes, random) => copyOf(bytes.subarray(random.below(Math.min(bytes.length, 4096)))) },
  {
    name: 'remove-span',
    run: (bytes, random) => {
      const from = random.below(bytes.length);
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + random.below(bytes.length - from))]);
    },
  },
  {
    name: 'repeat-span',
    run: (bytes, random) => {
      const from = random.below(bytes.length);
      const span = bytes.subarray(from, from + 1 + random.below(2048));
      const times = 1 + random.below(200);
      return Buffer.concat([
        bytes.subarray(0, from),
        ...Array.from({ length: times }, () => span),
        bytes.subarray(from),
      ]);
    },
  },
  {
    name: 'splice',
    run: (bytes, random, other) =>
      Buffer.concat([bytes.subarray(0, random.below(bytes.length)), other.subarray(random.below(other.length))]),
  },
  {
    name: 'paste',
    run: (bytes, random, other) => {
      const at = random.below(bytes.length);
      const from = random.below(other.length);
      return Buffer.concat([
        bytes.subarray(0, at),
        other.subarray(from, from + random.below(4096)),
        bytes.subarray(at),
      ]);
    },
  },
  {
    name: 'zero-run',
    run: (bytes, random) => {
      const changed = copyOf(bytes);
      const from = random.below(changed.length);
      changed.fill(0, from, Math.min(changed.length, from + 1 + random.below(1024)));
      return changed;
    },
  },
  {
    name: 'swap-spans',
    run: (bytes, random) => {
      const cuts = Array.from({ length: 3 }, () => random.below(bytes.length)).sort((a, b) => a - b);
      const [a = 0, b = 0, c = 0] = cuts;
      return Buffer.concat([bytes.subarray(0, a), bytes.subarray(b, c), bytes.subarray(a, b), bytes.subarray(c)]);
    },
  },
  {
    name: 'append-noise',
    run: (bytes, random) =>
      Buffer.concat([bytes, Buffer.from(Array.from({ length: random.below(4096) }, () => random.below(256)))]),
  },
];
