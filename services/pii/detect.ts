// Finds the personal data of one projection: recognizers, the model, and a decision where they overlap.
import { PII_ENTITIES, type PiiEntity, type RedactOptions } from '#shared/contract/options.ts';
import type { PiiModel } from './model/model.ts';
import { resolveOverlaps } from './overlap.ts';
import type { Projection } from './projection/projection.ts';
import { contextOf, type Recognizer, type Span } from './recognizer.ts';
import { RECOGNIZERS } from './registry.ts';

export interface Detector {
  find(projection: Projection): Promise<Span[]>;
  /** Whether an entity is to be redacted at all. */
  wants(entity: PiiEntity): boolean;
  /** Set once the model has read as much as it may. */
  modelSpent(): boolean;
}

/** Spans below this are left alone. */
const SCORE_FLOOR = 0.5;

/** Cuts spans at cell borders and blank lines: what stands in two cells is two things. */
export function splitAtBorders(text: string, span: Span): Span[] {
  const fragment = text.slice(span.start, span.end);
  if (span.entity === 'SECRET' || !/\n\|\n|\n\s*\n/.test(fragment)) return [span];
  const parts: Span[] = [];
  let offset = span.start;
  for (const piece of fragment.split(/(\n\|\n|\n\s*\n)/)) {
    if (/[\p{L}\p{N}]/u.test(piece)) parts.push({ ...span, start: offset, end: offset + piece.length });
    offset += piece.length;
  }
  return parts;
}

/** The detector of one job's options. `model` answers in the modes that have one. */
export function detectorFor(
  options: Pick<RedactOptions, 'mode' | 'entities'>,
  model: PiiModel | undefined,
  signal: AbortSignal,
): Detector {
  const wanted = new Set<PiiEntity>(options.entities ?? PII_ENTITIES);
  const active = RECOGNIZERS.filter((recognizer) => recognizer.modes.includes(options.mode));
  const inUrls = active.filter((recognizer) => recognizer.inUrls);
  const modelNeeded = model && options.mode !== 'fast' && (wanted.has('PERSON') || wanted.has('LOCATION'));
  const stand = RECOGNIZERS.filter((recognizer) => recognizer.modes.includes('fast') && !active.includes(recognizer));
  let left = model?.unitsMax ?? Number.POSITIVE_INFINITY;
  return {
    modelSpent: () => left <= 0,
    wants: (entity) => wanted.has(entity),
    async find(projection) {
      const { text } = projection;
      const context = contextOf(text, options.mode, projection.cells);
      const recognizers: readonly Recognizer[] = projection.kind === 'url' ? inUrls : active;
      const spans = recognizers.flatMap((recognizer) => recognizer.find(text, context));
      if (modelNeeded && projection.kind !== 'url') {
        if (left > 0) spans.push(...(await model.find(text, signal)));
        else {
          const loose = contextOf(text, 'fast', projection.cells);
          spans.push(
            ...stand
              .filter(({ entity }) => entity === 'PERSON' || entity === 'LOCATION')
              .flatMap((recognizer) => recognizer.find(text, loose)),
          );
        }
        left -= text.length;
      }
      // Recognizers alone take no time worth counting; still, a caller who left must not keep a worker.
      signal.throwIfAborted();
      // Overlaps are settled among all entities, wanted or not: a card number is no phone number, even where only phones are asked for.
      return resolveOverlaps(
        spans
          .filter((span) => span.score >= SCORE_FLOOR && span.end > span.start)
          .flatMap((span) => splitAtBorders(text, span)),
      ).filter((span) => wanted.has(span.entity));
    },
  };
}
