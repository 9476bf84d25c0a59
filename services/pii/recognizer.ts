// The seam between detection and the many small recognizers: what one is given, and what it answers.
import type { PII_MODES, PiiEntity } from '#shared/contract/options.ts';

export type PiiMode = (typeof PII_MODES)[number];

/** A found fragment: UTF-16 offsets [start, end) in the text that was searched, and how sure the finder is (0 to 1). */
export interface Span {
  start: number;
  end: number;
  entity: PiiEntity;
  score: number;
}

/** A table cell of the searched text and the heading of its column (lower case). */
export interface LabelledCell {
  start: number;
  end: number;
  label: string;
}

/** What stands around a candidate. All answers are lower case and bounded, so that asking costs the same in any document. */
export interface RecognizerContext {
  mode: PiiMode;
  /** Up to `width` code units before `index`, in the same paragraph. */
  before(index: number, width?: number): string;
  /** Up to `width` code units from `index` on, in the same paragraph. */
  after(index: number, width?: number): string;
  /** The heading of the table column that `index` stands in; empty outside tables. */
  label(index: number): string;
  /** The cell that `index` stands in, or undefined outside tables with headings. */
  cell(index: number): LabelledCell | undefined;
  cells: readonly LabelledCell[];
}

/**
 * Finds one shape of personal data. Must be linear in the text's length and must not throw on any text.
 * Confidence comes from the pattern, a validator (checksum, parser) and the words around it.
 */
export interface Recognizer {
  entity: PiiEntity;
  /** Unique; for logs and tests. */
  name: string;
  /** The modes of SPEC 2.5 that it takes part in. */
  modes: readonly PiiMode[];
  /** Also run over link targets, percent-decoded. */
  inUrls?: boolean;
  find(text: string, context: RecognizerContext): Span[];
}

export const ALL_MODES: readonly PiiMode[] = ['accurate', 'aggressive', 'fast'];
export const HEURISTIC_MODES: readonly PiiMode[] = ['aggressive', 'fast'];

const CONTEXT_WIDTH = 48;

/** Makes the context of one text. */
export function contextOf(text: string, mode: PiiMode, cells: readonly LabelledCell[] = []): RecognizerContext {
  const cell = (index: number): LabelledCell | undefined => {
    let low = 0;
    let high = cells.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const candidate = cells[middle]!;
      if (index < candidate.start) high = middle - 1;
      else if (index >= candidate.end) low = middle + 1;
      else return candidate;
    }
    return undefined;
  };
  return {
    mode,
    cells,
    cell,
    label: (index) => cell(index)?.label ?? '',
    before(index, width = CONTEXT_WIDTH) {
      const slice = text.slice(Math.max(0, index - width), index);
      return slice.slice(slice.lastIndexOf('\n\n') + 1).toLowerCase();
    },
    after(index, width = CONTEXT_WIDTH) {
      const slice = text.slice(index, index + width);
      const paragraph = slice.indexOf('\n\n');
      return (paragraph < 0 ? slice : slice.slice(0, paragraph)).toLowerCase();
    },
  };
}

/** Whether a letter, digit or underscore stands at `index`. */
export function wordAt(text: string, index: number): boolean {
  return index >= 0 && index < text.length && /[\p{L}\p{N}_]/u.test(text[index]!);
}
