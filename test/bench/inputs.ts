// What the bench sends: our fixtures and samples of every kind, and a spread of a corpus' files where one is named.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSIONS, type Extension } from '#shared/contract/formats.ts';
import { samples } from '../harness/documents.ts';
import { zipOf } from '../harness/zip.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url));
/** Files that are hostile or broken on purpose say nothing about an ordinary request. */
const NOT_ORDINARY = /robust|corrupt|encrypted|refused|truth/;

export interface Input {
  name: string;
  extension: Extension;
  bytes: Buffer;
}

/** Ordinary documents below a folder, sorted by path. */
export function documentsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const below = path.slice(folder.length);
      return EXTENSIONS.some((extension) => extension === extname(below).toLowerCase()) && !NOT_ORDINARY.test(below);
    })
    .sort();
}

/** At most `count` of them, evenly over their order. */
export function spread<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}

const read = (path: string): Input => ({
  name: basename(path),
  extension: extname(path).toLowerCase() as Extension,
  bytes: readFileSync(path),
});

/** At most `count` inputs of each kind. With a corpus: its files (not its scans), and our own where it has none of a kind. */
export async function inputsByKind(count: number, corpora: string | undefined): Promise<Map<Extension, Input[]>> {
  const own = [
    ...(await samples()).map(({ fileName, extension, bytes }) => ({ name: fileName, extension, bytes })),
    ...documentsBelow(FIXTURES)
      .filter((path) => !/scan/.test(basename(path)))
      .map(read),
  ];
  const paths = corpora ? documentsBelow(corpora).filter((path) => !path.split(sep).includes('ocr')) : [];
  const kinds = new Map<Extension, Input[]>();
  for (const extension of EXTENSIONS) {
    const foreign = paths.filter(
      (path) => extname(path).toLowerCase() === extension && statSync(path).size <= 20 << 20,
    );
    const inputs =
      foreign.length > 0
        ? spread(foreign, count).map(read)
        : own.filter((input) => input.extension === extension).slice(0, count);
    kinds.set(extension, inputs);
  }
  return kinds;
}

/** Scanned pages as PDF: the corpus' where it has them, else our fixture. */
export function scans(count: number, corpora: string | undefined): Input[] {
  const paths = corpora
    ? documentsBelow(corpora).filter((path) => path.split(sep).includes('ocr') && path.endsWith('.pdf'))
    : [];
  return (paths.length > 0 ? spread(paths, count) : [join(FIXTURES, 'pdf/scanned-harbour-report.pdf')]).map(read);
}

/** A Word file of some 45 MB, nearly all of it one picture that no reader opens: the way of the bytes is what it costs. */
export function largeDocument(small: Input, bytes: number): Input {
  const picture = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) picture.writeUInt32LE(Math.imul(at, 2654435761) >>> 0, at);
  const added = zipOf([{ name: 'word/media/large.bin', content: picture, method: 0 }]);
  return { name: 'large.docx', extension: '.docx', bytes: joinZips(added, small.bytes) };
}

/** Two ZIP files as one: the entries of the first, then those of the second (APPNOTE 4.3.12, 4.3.16). */
function joinZips(first: Buffer, second: Buffer): Buffer {
  const end = (zip: Buffer) => zip.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const facts = (zip: Buffer) => ({
    count: zip.readUInt16LE(end(zip) + 10),
    start: zip.readUInt32LE(end(zip) + 16),
    stop: end(zip),
  });
  const [a, b] = [facts(first), facts(second)];
  const directory = Buffer.from(second.subarray(b.start, b.stop));
  for (let at = 0, left = b.count; left > 0; left--) {
    directory.writeUInt32LE(directory.readUInt32LE(at + 42) + a.start, at + 42);
    at += 46 + directory.readUInt16LE(at + 28) + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  const tail = Buffer.alloc(22);
  tail.write('PK\x05\x06', 'latin1');
  tail.writeUInt16LE(a.count + b.count, 8);
  tail.writeUInt16LE(a.count + b.count, 10);
  tail.writeUInt32LE(a.stop - a.start + directory.length, 12);
  tail.writeUInt32LE(a.start + b.start, 16);
  return Buffer.concat([
    first.subarray(0, a.start),
    second.subarray(0, b.start),
    first.subarray(a.start, a.stop),
    directory,
    tail,
  ]);
}
