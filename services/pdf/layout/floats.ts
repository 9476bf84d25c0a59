// Brings the halves of a paragraph together where notes at a column's foot, figures, captions and tables stand between them.
// Pages made by hand that need its rules: floats.test.ts; files that do are named where the rule stands.
import type { PagedBlock } from '#shared/document/document.ts';
import type { Draft } from '../text/blocks.ts';

/** Notes are set this much smaller than the text, or more. */
const NOTE_SIZE = 0.92;

/** Smaller text that ends a column under text of the document's own size (fixtures/pdf/column-notes.pdf). */
export function findFootNotes(
  drafts: readonly Draft[],
  headings: ReadonlyMap<Draft, unknown>,
  bodySize: number,
): Set<Draft> {
  const notes = new Set<Draft>();
  const sizeOf = (draft: Draft | undefined) => {
    if (draft?.kind === 'item') return draft.size;
    return draft?.kind === 'text' && !headings.has(draft) ? draft.style.size : Number.NaN;
  };
  for (const [n, above] of drafts.entries()) {
    if (!(sizeOf(above) >= bodySize * 0.95)) continue;
    let end = n + 1;
    while (sizeOf(drafts[end]) < bodySize * NOTE_SIZE && !startsColumn(drafts[end], above.pageIndex)) end++;
    if (startsColumn(drafts[end], above.pageIndex)) for (const note of drafts.slice(n + 1, end)) notes.add(note);
  }
  return notes;
}

/** Whether what comes next on a page does not stand under what came before; the page may have ended. */
function startsColumn(draft: Draft | undefined, pageIndex: number): boolean {
  if (draft?.pageIndex !== pageIndex) return true;
  return draft.kind === 'text' ? draft.firstInColumn : draft.kind === 'table' || draft.kind === 'figure';
}

/** A block and the blocks of its page in reading order, of which it is one. */
interface PlacedBlock {
  block: PagedBlock;
  list: PagedBlock[];
}

/**
 * Moves two halves of a paragraph next to each other in reading order: what stands between them on one page comes after both, what ends the
 * first page before the first half, what begins the second page after the second half.
 * @param after the last block of its page so far
 * @returns false where they cannot be brought together
 */
export function bringTogether(before: PlacedBlock, after: PlacedBlock): boolean {
  const from = before.list.indexOf(before.block);
  const to = after.list.indexOf(after.block);
  if (before.list === after.list) {
    if (before.list.slice(from + 1, to).some(isShown)) {
      after.list.splice(to, 1);
      before.list.splice(from + 1, 0, after.block);
    }
    return true;
  }
  const last = before.list.findLastIndex(isShown);
  if (last > from) {
    // It carries on a block itself: it stays by that one.
    if (before.block.continues !== undefined) return false;
    before.list.splice(last + 1, 0, before.block);
    before.list.splice(from, 1);
  }
  const first = after.list.findIndex(isShown);
  if (first < to) {
    after.list.splice(to, 1);
    after.list.splice(first, 0, after.block);
  }
  return true;
}

function isShown(block: PagedBlock): boolean {
  return !block.furniture;
}
