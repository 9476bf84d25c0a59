// The interface of a model that finds the names of people and places.
import type { Span } from '../recognizer.ts';

export interface PiiModel {
  name: string;
  /** UTF-16 code units that it reads in one job; rules and lists read the rest. Undefined: no limit. */
  unitsMax?: number;
  /**
   * Spans of PERSON and LOCATION in a text of at most `CHUNK_UNITS_MAX` code units.
   * @throws ParseError if the model gives no answer, because a text that was not read must not be returned
   */
  find(text: string, signal: AbortSignal): Promise<Span[]>;
}
