// Reads selections of pages such as "1-3,7,10-" (docs/api.md, "Page ranges") and applies them to a document.
import { REQUEST_LIMITS } from './limits.ts';

/** Numbers of pages, from 1, both included. `to` is null for a range that ends at the last page. */
export interface PageRange {
  from: number;
  to: number | null;
}

/** Which texts are selections, in words for error messages. */
export const PAGE_RANGES_RULE =
  'page numbers and ranges such as `1-3,7,10-`, which count from 1 and do not run backwards';

/** The syntax as a pattern of JSON Schema. It does not express that a range must not run backwards. */
export const PAGE_RANGES_PATTERN = (() => {
  const range = '\\s*[1-9]\\d{0,6}(\\s*-\\s*([1-9]\\d{0,6})?)?\\s*';
  return `^${range}(,${range})*$`;
})();

/** One number or range: `7`, `1-3` or `10-`, with at most 7 digits. */
const RANGE = /^([1-9]\d{0,6})(?:\s*(-)\s*([1-9]\d{0,6})?)?$/;

/** Reads a selection. Undefined if the text is none, or has too many ranges. */
export function parsePageRanges(text: string): PageRange[] | undefined {
  if (text.length > REQUEST_LIMITS.pageRangesLength) return undefined;
  const parts = text.split(',');
  if (parts.length > REQUEST_LIMITS.pageRanges) return undefined;
  const ranges: PageRange[] = [];
  for (const part of parts) {
    const match = RANGE.exec(part.trim());
    if (!match) return undefined;
    const from = Number(match[1]);
    const to = match[2] === undefined ? from : match[3] === undefined ? null : Number(match[3]);
    if (to !== null && to < from) return undefined;
    ranges.push({ from, to });
  }
  return ranges;
}

/** The selected pages as indexes from 0: in the order of the document, each once, at most `most`. */
export function selectPages(ranges: readonly PageRange[], pageCount: number, most: number): number[] {
  const selected: number[] = [];
  let next = 0;
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const end = Math.min(to ?? pageCount, pageCount);
    for (let index = Math.max(next, from - 1); index < end && selected.length < most; index++) selected.push(index);
    next = Math.max(next, end);
  }
  return selected;
}

/** The parts of the ranges that lie past the last page, as text, for example `7, 9-12`. Empty if there are none. */
export function describePagesPastEnd(ranges: readonly PageRange[], pageCount: number): string {
  const past = ranges
    .filter(({ from, to }) => (to ?? from) > pageCount)
    .map(({ from, to }) => {
      const first = Math.max(from, pageCount + 1);
      return to === null ? `${first}-` : to === first ? String(to) : `${first}-${to}`;
    });
  const { warningRanges } = REQUEST_LIMITS;
  return past.length > warningRanges
    ? `${past.slice(0, warningRanges).join(', ')} and ${past.length - warningRanges} more`
    : past.join(', ');
}
