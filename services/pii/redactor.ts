// Redacts texts one after another and remembers the found fragments, so that all fields of a record hide the same ones.
import type { PiiEntity } from '#shared/contract/options-schema.ts';
import type { Detector } from './detect.ts';
import { KnownFragments } from './known.ts';
import { COUNTRIES, PLACES } from './lists/lexicon.ts';
import { resolveOverlaps } from './overlap.ts';
import { applyEdits, offsetMap, orderEdits } from './projection/edits.ts';
import { type Edit, editsForSpan, type Projection } from './projection/projection.ts';
import type { Span } from './recognizer.ts';
import { isAmbiguous, isCommon } from './recognizers/person-name.ts';
import type { ReplaceStyle } from './replacement.ts';

export interface RedactedText {
  text: string;
  /** Maps an offset in the old text to one in the new text (UTF-16). */
  map: (offset: number) => number;
  counts: Partial<Record<PiiEntity, number>>;
}

export type Project = (source: string) => Iterable<Projection>;

/** A single word. As a name or a place it is weak evidence, because it often has another meaning. */
const SINGLE_WORD = /^[\p{L}\p{N}.'’-]+$/u;

/** The last word of a full name, which a text often uses alone later; undefined if it is a common word or a place. */
function surnameOf(name: string): string | undefined {
  const word = name.trim().split(/\s+/).pop() ?? '';
  const lower = word.toLowerCase();
  if (word.length < 4 || !/^\p{Lu}[\p{L}'’-]*\p{Ll}$/u.test(word)) return undefined;
  return isCommon(word) || isAmbiguous(word) || PLACES.has(lower) || COUNTRIES.has(lower) ? undefined : word;
}

export class Redactor {
  readonly #detector: Detector;
  readonly #style: ReplaceStyle;
  /** Fragments that are redacted in later texts. */
  readonly #known = new KnownFragments();
  /** Fragments that are redacted in all texts, also in the rest of the text in which they were found. */
  readonly #certain = new KnownFragments();
  readonly #certainInUrls = new KnownFragments(true);

  constructor(detector: Detector, style: ReplaceStyle) {
    this.#detector = detector;
    this.#style = style;
  }

  /** Remembers a fragment as personal data. */
  learn(fragment: string, entity: PiiEntity): void {
    if (!this.#detector.wants(entity)) return;
    this.#known.add(fragment, entity);
    const weak = (entity === 'PERSON' || entity === 'LOCATION') && SINGLE_WORD.test(fragment.trim());
    if (!weak) this.#certain.add(fragment, entity);
    const surname = entity === 'PERSON' && !weak ? surnameOf(fragment) : undefined;
    if (surname) {
      this.#known.add(surname, 'PERSON');
      this.#certain.add(surname, 'PERSON');
    }
    if (!weak && entity !== 'LOCATION') this.#certainInUrls.add(fragment, entity);
  }

  /** @param primary the document's Markdown, which comes first: single names that were remembered before are not redacted in it */
  async redact(source: string, project: Project, primary = false): Promise<RedactedText> {
    const found: Span[][] = [];
    for (const projection of project(source)) {
      const spans = await this.#detector.find(projection);
      for (const span of spans) this.learn(projection.text.slice(span.start, span.end), span.entity);
      found.push(spans);
    }
    const edits: Edit[] = [];
    const counts: RedactedText['counts'] = {};
    let index = 0;
    for (const projection of project(source)) {
      const spans = this.#withKnown(projection, found[index] ?? [], primary);
      index += 1;
      for (const span of spans) {
        counts[span.entity] = (counts[span.entity] ?? 0) + 1;
        for (const edit of editsForSpan(projection, span, source, this.#style)) edits.push(edit);
      }
    }
    const ordered = orderEdits(edits);
    return { text: applyEdits(source, ordered), map: offsetMap(ordered), counts };
  }

  #withKnown(projection: Projection, spans: Span[], primary: boolean): Span[] {
    const memory = projection.kind === 'url' ? this.#certainInUrls : primary ? this.#certain : this.#known;
    const more = memory
      .find(projection.text)
      .filter((span) => !spans.some((own) => own.start < span.end && span.start < own.end));
    return more.length === 0 ? spans : resolveOverlaps([...spans, ...more]);
  }
}
