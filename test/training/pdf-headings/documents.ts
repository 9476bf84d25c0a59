// Reads the documents that the heading model learns from: what layout makes of each PDF, and its true headings.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { layoutBatch } from '#services/pdf/convert.ts';
import type { FurnitureMemory } from '#services/pdf/layout/furniture.ts';
import { type Candidate, findCandidates } from '#services/pdf/layout/headings/features.ts';
import { dropHiddenText } from '#services/pdf/pages/text-quality.ts';
import { openPageSource } from '#services/pdf/source/open-page-source.ts';
import type { Bookmark } from '#services/pdf/source/page-model.ts';
import { mergeTables } from '#services/pdf/tables/continuation.ts';
import { HeadMemory } from '#services/pdf/tables/head-memory.ts';
import type { Draft } from '#services/pdf/text/blocks.ts';
import type { Vocabulary } from '#services/pdf/text/inline.ts';

interface TrueHeading {
  level: number;
  text: string;
}

export interface LearnDocument {
  part: string;
  /** It is of `npm run pdf-styles`. */
  generated: boolean;
  name: string;
  drafts: Draft[];
  bookmarks: Bookmark[];
  candidates: Candidate[];
  truth: TrueHeading[];
  /** The true heading that each candidate is. */
  found: Map<Candidate, TrueHeading>;
}

/** @param folder with `pdf/NAME.pdf` and `truth/NAME.md` */
export async function readDocuments(folder: string, generated: boolean): Promise<LearnDocument[]> {
  const documents: LearnDocument[] = [];
  for (const file of readdirSync(join(folder, 'truth')).sort()) {
    const name = file.replace(/\.md$/, '');
    const { drafts, bookmarks } = await readDrafts(readFileSync(join(folder, 'pdf', `${name}.pdf`)));
    const truth = trueHeadings(readFileSync(join(folder, 'truth', file), 'utf8'));
    const candidates = findCandidates(drafts, bookmarks);
    const part = basename(folder) === 'dev' ? basename(join(folder, '..')) : basename(folder);
    documents.push({ part, generated, name, drafts, bookmarks, candidates, truth, found: align(truth, candidates) });
  }
  return documents;
}

async function readDrafts(bytes: Uint8Array): Promise<{ drafts: Draft[]; bookmarks: Bookmark[] }> {
  const source = await openPageSource(bytes, undefined);
  try {
    const vocabulary: Vocabulary = new Set();
    const repeated: FurnitureMemory = new Map();
    const pages = [];
    for (let index = 0; index < source.pageCount; index++)
      pages.push({
        content: dropHiddenText(await source.readPage(index)),
        source: 'native_text' as const,
        status: 'ok' as const,
        renderWidth: null,
        renderHeight: null,
      });
    const drafts = mergeTables(layoutBatch(pages, vocabulary, repeated, new HeadMemory()), vocabulary);
    return {
      drafts: drafts.filter((draft) => draft.kind !== 'furniture'),
      bookmarks: await source.outline().catch(() => []),
    };
  } finally {
    await source.close();
  }
}

/** Text as both sides have it: without emphasis, links, escapes and the kinds of quotes and dashes. */
function plain(text: string): string {
  return text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\\(?=[^\p{L}\p{N}\s])|[*`]|<[^>]+>/gu, '')
    .replace(/&amp;/g, '&')
    .normalize('NFKC')
    .replace(/[’‘]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[–—‐‑−]/g, '-')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

function trueHeadings(markdown: string): TrueHeading[] {
  return [...markdown.matchAll(/^(#{1,6}) +(.*)$/gm)].map(([, marks = '', text = '']) => ({
    level: marks.length,
    text: plain(text),
  }));
}

/** How alike two texts are, 0 to 1: twice their longest common subsequence, by their lengths together. */
function likeness(a: string, b: string): number {
  if (a === b) return 1;
  let row = new Uint16Array(b.length + 1);
  for (const letter of a) {
    const next = new Uint16Array(b.length + 1);
    for (let n = 1; n <= b.length; n++)
      next[n] = b[n - 1] === letter ? (row[n - 1] as number) + 1 : Math.max(row[n] as number, next[n - 1] as number);
    row = next;
  }
  return (2 * (row[b.length] as number)) / Math.max(1, a.length + b.length);
}

/** A printed text this like a true heading is it. */
const SAME_TEXT = 0.8;

/** Takes the true headings in order: each is the candidate most like it that is left. */
function align<T extends Pick<Candidate, 'draft'>>(
  truth: readonly TrueHeading[],
  candidates: readonly T[],
): Map<T, TrueHeading> {
  const texts = new Map(candidates.map((candidate) => [candidate, plain(candidate.draft.text)]));
  const found = new Map<T, TrueHeading>();
  for (const heading of truth) {
    let best: T | undefined;
    let most = SAME_TEXT;
    for (const [candidate, text] of texts) {
      const shorter = Math.min(text.length, heading.text.length);
      if ((2 * shorter) / Math.max(1, text.length + heading.text.length) < most) continue;
      const one = likeness(heading.text, text);
      if (one > most || (one === most && !best)) {
        best = candidate;
        most = one;
      }
    }
    if (!best) continue;
    found.set(best, heading);
    texts.delete(best);
  }
  return found;
}
