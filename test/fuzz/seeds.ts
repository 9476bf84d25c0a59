// Collects the documents that are mutated: one generated document of each format, the fixtures, and files of a corpus.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSIONS, type Extension } from '#shared/contract/formats.ts';
import { hiddenSheetXlsx, notedPptx, reviewedDocx, samples } from '../harness/documents.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url));
/** Larger files are skipped, because their transfer would take most of the run. */
const MAX_BYTES = 400_000;

export interface Seed {
  name: string;
  extension: Extension;
  bytes: Buffer;
}

const extensionOf = (path: string) => EXTENSIONS.find((extension) => extension === extname(path).toLowerCase());

function filesBelow(folder: string): Seed[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.split(sep).includes('truth') && statSync(path).size <= MAX_BYTES)
    .sort()
    .flatMap((path) => {
      const extension = extensionOf(path);
      return extension ? [{ name: basename(path), extension, bytes: readFileSync(path) }] : [];
    });
}

/** Seeds by extension, always in the same order. @param corpora a folder of documents */
export async function collectSeeds(corpora: string | undefined): Promise<Map<Extension, Seed[]>> {
  const generated = (await samples()).map(({ fileName, extension, bytes }) => ({ name: fileName, extension, bytes }));
  const complex: Seed[] = [
    { name: 'hidden.xlsx', extension: '.xlsx', bytes: Buffer.from(hiddenSheetXlsx()) },
    { name: 'noted.pptx', extension: '.pptx', bytes: Buffer.from(notedPptx()) },
    { name: 'reviewed.docx', extension: '.docx', bytes: Buffer.from(reviewedDocx()) },
  ];
  const seeds = new Map<Extension, Seed[]>();
  for (const seed of [...generated, ...complex, ...filesBelow(FIXTURES), ...(corpora ? filesBelow(corpora) : [])])
    seeds.set(seed.extension, [...(seeds.get(seed.extension) ?? []), seed]);
  return seeds;
}
