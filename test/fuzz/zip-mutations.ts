// Mutates ZIP containers: changes, duplicates, swaps, removes or encrypts parts of a document, and damages the central directory.
import { inflateRawSync } from 'node:zlib';
import { type ZipPart, zipOf } from '../harness/zip.ts';
import type { Mutation } from './byte-mutations.ts';
import { MARKUP_MUTATIONS } from './markup-mutations.ts';
import type { Random } from './random.ts';

/** Reads the parts of a valid container. @returns undefined if the bytes are not a ZIP file */
function unzip(bytes: Buffer): ZipPart[] | undefined {
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  if (end < 0) return undefined;
  try {
    const parts: ZipPart[] = [];
    let at = bytes.readUInt32LE(end + 16);
    for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
      const [method, size, nameLength] = [
        bytes.readUInt16LE(at + 10),
        bytes.readUInt32LE(at + 20),
        bytes.readUInt16LE(at + 28),
      ];
      const local = bytes.readUInt32LE(at + 42);
      const data = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
      const stored = bytes.subarray(data, data + size);
      const content = method === 8 ? inflateRawSync(stored, { maxOutputLength: 32 << 20 }) : stored;
      parts.push({ name: bytes.toString('utf8', at + 46, at + 46 + nameLength), content, method });
      at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    }
    return parts.length === 0 ? undefined : parts;
  } catch {
    return undefined;
  }
}

const textOf = (part: ZipPart) =>
  typeof part.content === 'string' ? part.content : Buffer.from(part.content).toString('utf8');
const isMarkup = (part: ZipPart) => /\.(?:xml|rels|x?html?|opf|ncx)$/i.test(part.name);

/** Mutates one markup part, in three of four cases one that contains text. */
function mutateMarkup(parts: ZipPart[], random: Random): ZipPart {
  const markup = parts.filter(isMarkup);
  const main = markup.filter((part) =>
    /document|content|sheet|slide|styles|chapter|shared|workbook|xhtml|numbering/i.test(part.name),
  );
  const part = random.pick(main.length > 0 && !random.oneIn(4) ? main : markup.length > 0 ? markup : parts);
  const [, run] = random.pick(MARKUP_MUTATIONS);
  return { ...part, content: run(textOf(part), random) };
}

type PartsMutation = readonly [name: string, run: (parts: ZipPart[], random: Random) => ZipPart[]];

const PART_MUTATIONS: readonly PartsMutation[] = [
  ...Array.from(
    { length: 6 },
    (): PartsMutation => [
      'change-part',
      (parts, random) => {
        const changed = mutateMarkup(parts, random);
        return parts.map((part) => (part.name === changed.name ? changed : part));
      },
    ],
  ),
  ['duplicate-part', (parts, random) => [...parts, mutateMarkup(parts, random)]],
  ['duplicate-part-first', (parts, random) => [mutateMarkup(parts, random), ...parts]],
  ['drop-part', (parts, random) => parts.toSpliced(random.below(parts.length), 1)],
  ['empty-part', (parts, random) => parts.with(random.below(parts.length), { ...random.pick(parts), content: '' })],
  [
    'swap-parts',
    (parts, random) => {
      const [a, b] = [random.below(parts.length), random.below(parts.length)];
      return parts
        .with(a, { ...parts[a]!, content: parts[b]!.content })
        .with(b, { ...parts[b]!, content: parts[a]!.content });
    },
  ],
  [
    'rename-part',
    (parts, random) => {
      const at = random.below(parts.length);
      const name = random.pick([
        '../../x',
        '/etc/passwd',
        'C:\\x',
        'a'.repeat(60_000),
        '',
        'WORD/DOCUMENT.XML',
        `${parts[at]!.name}/`,
        '\u0000',
        '__proto__',
      ]);
      return parts.with(at, { ...parts[at]!, name });
    },
  ],
  ['encrypt-part', (parts, random) => parts.map((part) => (random.oneIn(3) ? { ...part, flags: 1 } : part))],
  [
    'unknown-method',
    (parts, random) =>
      parts.with(random.below(parts.length), { ...random.pick(parts), method: random.pick([1, 9, 12, 14, 99]) }),
  ],
  [
    'many-parts',
    (parts, random) => [
      ...parts,
      ...Array.from({ length: random.pick([500, 21_000]) }, (_, i) => ({ name: `x/${i}.xml`, content: '', method: 0 })),
    ],
  ],
  [
    'bomb',
    (parts, random) =>
      parts.with(random.below(parts.length), {
        ...random.pick(parts),
        content: Buffer.alloc(40 << 20, random.pick([' ', 'a', '<'])),
      }),
  ],
];

/** Overwrites lengths, offsets and counts in the headers of the container. */
function damageDirectory(bytes: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes);
  const end = changed.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const directory = end < 0 ? 0 : Math.min(changed.readUInt32LE(end + 16), changed.length - 50);
  const at = random.oneIn(3) ? Math.max(0, end) : random.oneIn(2) ? Math.max(0, directory) : 0;
  for (let count = 1 + random.below(4); count > 0; count--) {
    const offset = Math.min(changed.length - 4, at + 4 + random.below(44));
    if (offset >= 0)
      changed.writeUInt32LE(
        random.pick([0, 1, 0xffff, 0xffffffff, 0x7fffffff, random.below(changed.length)]) >>> 0,
        offset,
      );
  }
  return changed;
}

export const ZIP_MUTATIONS: readonly Mutation[] = [
  ...PART_MUTATIONS.map(
    ([name, run]): Mutation => ({
      name,
      run: (bytes, random) => {
        const parts = unzip(bytes);
        return parts ? zipOf(run(parts, random)) : bytes;
      },
    }),
  ),
  { name: 'damage-directory', run: damageDirectory },
];
