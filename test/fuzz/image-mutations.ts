// Mutates image files: dimensions, directories and chunks, so that decoders meet sizes and chains that no program writes.
import { crc32 } from 'node:zlib';
import { BYTE_MUTATIONS, type Mutation } from './byte-mutations.ts';
import type { Random } from './random.ts';

const SIZES = [0, 1, 2, 255, 4_096, 20_000, 65_535, 100_000, 0x7fffffff, 0xffffffff];
const PNG_SIGNATURE = 0x89504e47;

/** Writes one of `SIZES` over a number, cut to its bytes. */
function resize(bytes: Buffer, random: Random, at: number, width: 2 | 4, bigEndian: boolean): void {
  if (at + width > bytes.length) return;
  const value = random.pick(SIZES) % 2 ** (width * 8);
  bigEndian ? bytes.writeUIntBE(value, at, width) : bytes.writeUIntLE(value, at, width);
}

/** Offset of the frame header of a JPEG (SOF, ITU-T T.81, B.2.2), or -1. */
function jpegFrame(bytes: Buffer): number {
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2))
    if ([0xc0, 0xc1, 0xc2].includes(bytes[at + 1] ?? 0)) return at;
  return -1;
}

function changeSize(bytes: Buffer, random: Random): void {
  const which = random.below(2);
  if (bytes.length > 33 && bytes.readUInt32BE(0) === PNG_SIGNATURE) {
    resize(bytes, random, 16 + which * 4, 4, true);
    bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  } else if (bytes.toString('latin1', 0, 2) === 'BM') resize(bytes, random, 18 + which * 4, 4, false);
  else if (bytes.toString('latin1', 0, 3) === 'GIF') resize(bytes, random, 6 + which * 2, 2, false);
  else if (bytes.toString('latin1', 0, 4) === 'RIFF') resize(bytes, random, 24 + which * 2, 2, false);
  else if (bytes[0] === 0xff) {
    const frame = jpegFrame(bytes);
    if (frame >= 0) resize(bytes, random, frame + 5 + which * 2, 2, true);
  } else changeDirectory(bytes, random);
}

/** Changes one number of the first TIFF directory: a tag, a type, a count, a value, or the offset of the next directory. */
function changeDirectory(bytes: Buffer, random: Random): void {
  const bigEndian = bytes[0] === 0x4d;
  const u16 = (at: number) => (bigEndian ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at));
  if (bytes.length < 8) return;
  const start = bigEndian ? bytes.readUInt32BE(4) : bytes.readUInt32LE(4);
  if (start + 2 > bytes.length) return;
  const entries = u16(start);
  if (random.oneIn(4)) {
    const next = start + 2 + entries * 12;
    if (next + 4 > bytes.length) return;
    const target = random.pick([start, start + 12, bytes.length - 8]);
    bigEndian ? bytes.writeUInt32BE(target, next) : bytes.writeUInt32LE(target, next);
    return;
  }
  const entry = start + 2 + random.below(Math.max(1, entries)) * 12;
  const [offset, width] = random.pick([
    [0, 2],
    [2, 2],
    [4, 4],
    [8, 4],
  ] as const);
  resize(bytes, random, entry + offset, width, bigEndian);
}

export const IMAGE_MUTATIONS: readonly Mutation[] = [
  {
    name: 'image-size',
    run: (bytes, random) => {
      const changed = Buffer.from(bytes);
      for (let count = 1 + random.below(2); count > 0; count--) changeSize(changed, random);
      return changed;
    },
  },
  {
    name: 'image-size-truncated',
    run: (bytes, random) => {
      const changed = Buffer.from(bytes.subarray(0, 64 + random.below(bytes.length)));
      changeSize(changed, random);
      return changed;
    },
  },
  ...BYTE_MUTATIONS.filter(({ name }) => name.startsWith('boundary-words')),
];
