// Tells headings from text by a view of the whole document: a trained model judges each text, texts that are printed alike together.
// Pages made by hand that need it: headings.test.ts. `npm run pdf-headings` trains the model.
import type { Bookmark } from '../source/page-model.ts';
import type { Draft, TextDraft } from '../text/blocks.ts';
import { isNumberedCaption } from '../text/markers.ts';
import { type Candidate, findCandidates } from './headings/features.ts';
import { type HeadingMark, normalise, setLevels, styleKey } from './headings/levels.ts';
import { type HeadingModel, headingOdds, parseTree } from './headings/model.ts';
import { BASE, ORDER_WEIGHTS, TREES } from './headings/weights.ts';
import { correctByTags } from './tagged-headings.ts';

export { bodyStyle } from './headings/features.ts';
export type { HeadingMark } from './headings/levels.ts';

const MODEL: HeadingModel = { base: BASE, trees: TREES.map(parseTree) };

/** How much the texts printed alike say about one of them, beside what it says itself. */
const SHARED = 0.4;
/** Odds of one text beyond this, as a logarithm, say no more about the others. */
const CERTAIN = 4;

/** The headings of a document with their levels; a numbered item that is a heading has its mark under the text that it is. */
export function markHeadings(drafts: readonly Draft[], bookmarks: readonly Bookmark[]): Map<TextDraft, HeadingMark> {
  const candidates = findCandidates(drafts, bookmarks);
  const found = new Set<Draft>(chooseHeadings(candidates, MODEL));
  const texts = drafts.map((draft) =>
    draft.kind === 'item' && draft.asText && found.has(draft.asText) ? draft.asText : draft,
  );
  const isFound = (draft: Draft): draft is TextDraft => found.has(draft);
  const kept = correctByTags(texts.filter(isFound), texts, ({ style }) => styleKey(style));
  return setLevels(kept, texts, bookmarks, ORDER_WEIGHTS);
}

export function chooseHeadings(candidates: readonly Candidate[], model: HeadingModel): TextDraft[] {
  const named = bookmarked(candidates);
  const odds = candidates.map((candidate) => (named.has(candidate) ? CERTAIN : headingOdds(model, candidate.features)));
  const alike = new Map<string, { sum: number; count: number }>();
  const keyOf = ({ style, numbering }: Candidate) => `${style} ${numbering?.scheme} ${numbering?.depth}`;
  for (const [n, candidate] of candidates.entries()) {
    const shared = alike.get(keyOf(candidate)) ?? { sum: 0, count: 0 };
    shared.sum += Math.max(-CERTAIN, Math.min(CERTAIN, odds[n] ?? 0));
    shared.count++;
    alike.set(keyOf(candidate), shared);
  }
  return candidates.flatMap((candidate, n) => {
    const { sum, count } = alike.get(keyOf(candidate)) ?? { sum: 0, count: 1 };
    return (1 - SHARED) * (odds[n] ?? 0) + (SHARED * sum) / count > 0 ? [candidate.draft] : [];
  });
}

/** What the outline names: of texts with the same words, the one in the largest type, or else the bold one. A caption is none. */
function bookmarked(candidates: readonly Candidate[]): ReadonlySet<Candidate> {
  const named = new Map<string, Candidate>();
  const weight = ({ draft: { style } }: Candidate) => style.size + Number(style.bold) / 2;
  for (const candidate of candidates) {
    if (candidate.features.bookmarked !== 1 || isNumberedCaption(candidate.draft.text)) continue;
    const said = normalise(candidate.draft.text);
    const other = named.get(said);
    if (!other || weight(candidate) > weight(other)) named.set(said, candidate);
  }
  return new Set(named.values());
}
