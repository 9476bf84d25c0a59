// Applies edits to a text and maps offsets of the old text to the new one.
import type { Edit } from './projection.ts';

/** The edits sorted by start. Of two that overlap, the earlier one stays. */
export function orderEdits(edits: Edit[]): Edit[] {
  const sorted = [...edits].sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Edit[] = [];
  for (const edit of sorted) {
    const last = kept[kept.length - 1];
    if (!last || edit.start >= last.end) kept.push(edit);
  }
  return kept;
}

/** Applies ordered edits to a text. */
export function applyEdits(source: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let position = 0;
  for (const edit of edits) {
    parts.push(source.slice(position, edit.start), edit.text);
    position = edit.end;
  }
  parts.push(source.slice(position));
  return parts.join('');
}

/**
 * A function from offsets in the old text to offsets in the new one (UTF-16). An offset inside an edit becomes the end of its
 * replacement, so a range that ends there includes the replacement, and a range that starts there does not.
 */
export function offsetMap(edits: readonly Edit[]): (offset: number) => number {
  const shifts: number[] = [];
  let shift = 0;
  for (const edit of edits) {
    shifts.push(shift);
    shift += edit.text.length - (edit.end - edit.start);
  }
  return (offset) => {
    let low = 0;
    let high = edits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (edits[middle]!.start < offset) low = middle + 1;
      else high = middle;
    }
    const before = edits[low - 1];
    if (!before) return offset;
    const shifted = shifts[low - 1]!;
    if (offset < before.end) return before.start + shifted + before.text.length;
    return offset + shifted + before.text.length - (before.end - before.start);
  };
}
