// The documents that the mutations start from: one of each kind made in code, our fixtures, and files of a corpus where one is named.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTENSIONS, type Extension } from '#shared/contract/formats.ts';
import { hiddenSheetXlsx, notedPptx, reviewedDocx, samples } from '../harness/documents.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures', import.meta.url));
/** Large files spend the time of the run on transport. */
const MOST_BYTES = 400_000;

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
    .filter((path) => !path.split(sep).includes('truth') && statSync(path).size <= MOST_BYTES)
    .sort()
    .flatMap((path) => {
      const extension = extensionOf(path);
      return extension ? [{ name: basename(path), extension, bytes: readFileSync(path) }] : [];
    });
}

/** Seeds by kind, in an order that repeats. @param corpora a folder of documents, or undefined */
export async function collectSeeds(corpora: string | undefined): Promise<Map<Extension, Seed[]>> {
  const made = (await samples()).map(({ fileName, extension, bytes }) => ({ name: fileName, extension, bytes }));
  const rich: Seed[] = [
    { name: 'hidden.xlsx', extension: '.xlsx', bytes: Buffer.from(hiddenSheetXlsx()) },
    { name: 'noted.pptx', extension: '.pptx', bytes: Buffer.from(notedPptx()) },
    { name: 'reviewed.docx', extension: '.docx', bytes: Buffer.from(reviewedDocx()) },
  ];
  const seeds = new Map<Extension, Seed[]>();
  for (const seed of [...made, ...rich, ...filesBelow(FIXTURES), ...(corpora ? filesBelow(corpora) : [])])
    seeds.set(seed.extension, [...(seeds.get(seed.extension) ?? []), seed]);
  return seeds;
}
