// Selects the documents of a measurement: fixtures and samples of every format, or files of a corpus.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSIONS, type Extension } from '#shared/contract/formats.ts';
import { sample, samples } from '../harness/documents.ts';
import { zipOf } from '../harness/zip.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url));
/** Paths of hostile, broken and reference files, which do not represent ordinary requests. */
const NOT_ORDINARY = /robust|corrupt|encrypted|refused|truth/;
/** Size of the large upload. */
const LARGE_BYTES = 45_000_000;

export interface Input {
  name: string;
  extension: Extension;
  bytes: Buffer;
}

/** Paths of the ordinary documents below a folder, sorted. */
export function documentsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const relative = path.slice(folder.length);
      return (
        EXTENSIONS.some((extension) => extension === extname(relative).toLowerCase()) && !NOT_ORDINARY.test(relative)
      );
    })
    .sort();
}

/** At most `count` items at equal distances. */
function sampleEvenly<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}

const read = (path: string): Input => ({
  name: basename(path),
  extension: extname(path).toLowerCase() as Extension,
  bytes: readFileSync(path),
});

/** At most `count` inputs of each format: files of the corpus except its scans, or our own if the corpus has none of a format. */
export async function inputsByExtension(count: number, corpora: string | undefined): Promise<Map<Extension, Input[]>> {
  const own = [
    ...(await samples()).map(({ fileName, extension, bytes }) => ({ name: fileName, extension, bytes })),
    ...documentsBelow(FIXTURES)
      .filter((path) => !/scan/.test(basename(path)))
      .map(read),
  ];
  const paths = corpora ? documentsBelow(corpora).filter((path) => !path.split(sep).includes('ocr')) : [];
  const selected = new Map<Extension, Input[]>();
  for (const extension of EXTENSIONS) {
    const ofCorpus = paths.filter(
      (path) => extname(path).toLowerCase() === extension && statSync(path).size <= 20 << 20,
    );
    const inputs =
      ofCorpus.length > 0
        ? sampleEvenly(ofCorpus, count).map(read)
        : own.filter((input) => input.extension === extension).slice(0, count);
    selected.set(extension, inputs);
  }
  return selected;
}

/** Scanned pages as PDF: those of the corpus, or our fixture if it has none. */
export function scans(count: number, corpora: string | undefined): Input[] {
  const paths = corpora
    ? documentsBelow(corpora).filter((path) => path.split(sep).includes('ocr') && path.endsWith('.pdf'))
    : [];
  return (paths.length > 0 ? sampleEvenly(paths, count) : [join(FIXTURES, 'pdf/scanned-harbour-report.pdf')]).map(read);
}

export async function smallInput(): Promise<Input> {
  const { fileName, extension, bytes } = await sample('.csv');
  return { name: fileName, extension, bytes };
}

/** A Word file of about 45 MB. Most of it is a picture that the converter does not open, so its cost is the transfer of its bytes. */
export async function largeInput(): Promise<Input> {
  const small = await sample('.docx');
  const picture = Buffer.alloc(LARGE_BYTES);
  for (let at = 0; at + 4 <= LARGE_BYTES; at += 4) picture.writeUInt32LE(Math.imul(at, 2654435761) >>> 0, at);
  const added = zipOf([{ name: 'word/media/large.bin', content: picture, method: 0 }]);
  return { name: 'large.docx', extension: '.docx', bytes: joinZips(added, small.bytes) };
}

/** Joins two ZIP files: the entries of the first, then those of the second (APPNOTE 4.3.12, 4.3.16). */
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
