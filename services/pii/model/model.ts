// The seam to whatever tells names of people and places from other words.
import type { Span } from '../recognizer.ts';

export interface PiiModel {
  name: string;
  /** UTF-16 code units that it reads in one job; the rest is left to rules and lists. Without it: all of them. */
  unitsMax?: number;
  /**
   * Spans of PERSON and LOCATION in a text of at most some ten thousand code units.
   * @throws ParseError where the model cannot answer: a text is never passed on unread.
   */
  find(text: string, signal: AbortSignal): Promise<Span[]>;
}
