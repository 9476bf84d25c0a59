// Corrects the headings that layout found by what the tags of the file say of them.
import type { Draft, TextDraft } from '../text/blocks.ts';
import { numberingDepth } from '../text/markers.ts';

/** Type sizes that differ by less than this share are one. */
const SAME_SIZE = 0.04;

/**
 * The headings of a document: those that the tags name, and those found by layout that the tags do not deny. Tags deny a heading if they call it
 * text, the tagged headings have another style, and it is not larger than all of them, as a title is.
 * @param found headings by layout
 */
export function correctByTags(
  found: readonly TextDraft[],
  drafts: readonly Draft[],
  styleOf: (draft: TextDraft) => string,
): TextDraft[] {
  const tagged = drafts.filter((draft): draft is TextDraft => draft.kind === 'text' && typeof draft.tag === 'object');
  if (tagged.length === 0) return [...found];
  const styles = new Set(tagged.map(styleOf));
  const largest = Math.max(...tagged.map((draft) => draft.style.size));
  const denied = (draft: TextDraft) =>
    draft.tag === 'text' && !styles.has(styleOf(draft)) && draft.style.size <= largest * (1 + SAME_SIZE);
  const kept = new Set<Draft>([...tagged, ...found.filter((draft) => !denied(draft))]);
  return drafts.filter((draft): draft is TextDraft => kept.has(draft));
}

/** Whether the levels of the tags agree with type sizes and numbers: headings that follow each other are compared. */
export function levelsAgree(headings: readonly TextDraft[]): boolean {
  const tagged = headings.filter((draft) => typeof draft.tag === 'object');
  let sum = 0;
  for (const [n, draft] of tagged.entries()) {
    const above = tagged[n - 1];
    if (above) sum += agreement(above, draft);
  }
  return sum >= 0;
}

/** 1 if what is seen of two headings agrees with the order of their levels, -1 if it contradicts, 0 if it says nothing. */
function agreement(a: TextDraft, b: TextDraft): -1 | 0 | 1 {
  const deeper = Math.sign(levelOf(b) - levelOf(a));
  const [depthA, depthB] = [numberingDepth(a.text), numberingDepth(b.text)];
  if (depthA > 0 && depthB > 0) return Math.sign(depthB - depthA) === deeper ? 1 : -1;
  const ratio = a.style.size / b.style.size;
  const smaller = Math.abs(ratio - 1) < SAME_SIZE ? 0 : Math.sign(ratio - 1);
  if (smaller === deeper) return 1;
  // Levels may differ by weight, case or place alone.
  return smaller === 0 ? 0 : -1;
}

function levelOf({ tag }: TextDraft): number {
  return typeof tag === 'object' ? tag.level : 0;
}
