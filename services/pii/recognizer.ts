// Defines the interface of a recognizer, and the text around a candidate that it can read.
import type { PII_MODES, PiiEntity } from '#shared/contract/options-schema.ts';

export type PiiMode = (typeof PII_MODES)[number];

/** A found fragment: UTF-16 offsets `[start, end)` in the searched text, and a confidence of 0 to 1. */
export interface Span {
  start: number;
  end: number;
  entity: PiiEntity;
  score: number;
}

/** A table cell of the searched text. `label` is the heading of its column in lower case. */
export interface LabelledCell {
  start: number;
  end: number;
  label: string;
}

/** The text around a candidate. All texts are lower case and bounded, so that a call costs the same in any document. */
export interface RecognizerContext {
  mode: PiiMode;
  /** Up to `width` code units before `index`, in the same paragraph. */
  before(index: number, width?: number): string;
  /** Up to `width` code units from `index` on, in the same paragraph. */
  after(index: number, width?: number): string;
  /** The heading of the table column of `index`; empty outside tables. */
  label(index: number): string;
  /** The cell of `index`, or undefined outside tables with headings. */
  cell(index: number): LabelledCell | undefined;
  cells: readonly LabelledCell[];
}

/**
 * Finds one form of personal data. It must take linear time and must not throw on any text.
 * The confidence comes from the pattern, from a validator (checksum, parser) and from the words around it.
 */
export interface Recognizer {
  entity: PiiEntity;
  /** Unique; for logs and tests. */
  name: string;
  /** The modes that use it (docs/api.md, "Redaction"). */
  modes: readonly PiiMode[];
  /** Also reads link targets, percent-decoded. */
  inUrls?: boolean;
  find(text: string, context: RecognizerContext): Span[];
}

export const ALL_MODES: readonly PiiMode[] = ['accurate', 'aggressive', 'fast'];
export const HEURISTIC_MODES: readonly PiiMode[] = ['aggressive', 'fast'];

const CONTEXT_WIDTH = 48;

/** The context of one text. `cells` must be in the order of the text. */
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

/** Whether `index` is a letter, a digit or an underscore. */
export function wordAt(text: string, index: number): boolean {
  return index >= 0 && index < text.length && /[\p{L}\p{N}_]/u.test(text[index]!);
}
