// Finds the personal data of one projection: runs the recognizers and the model, and resolves overlaps.
import { PII_ENTITIES, type PiiEntity, type RedactOptions } from '#shared/contract/options-schema.ts';
import type { PiiModel } from './model/model.ts';
import { resolveOverlaps } from './overlap.ts';
import type { Projection } from './projection/projection.ts';
import { contextOf, type Recognizer, type Span } from './recognizer.ts';
import { RECOGNIZERS } from './registry.ts';

export interface Detector {
  find(projection: Projection): Promise<Span[]>;
  /** Whether an entity is to be redacted at all. */
  wants(entity: PiiEntity): boolean;
  /** Whether the model has reached its limit for this job. */
  modelLimitReached(): boolean;
}

/** Spans with a lower score are ignored. */
const SCORE_MIN = 0.5;

/** Splits a span at cell boundaries and blank lines, because a fragment never crosses them, except that keys (SECRET) can have blank lines. */
function splitAtBoundaries(text: string, span: Span): Span[] {
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

/**
 * The detector of one job.
 * @param model used by the modes other than `fast`
 */
export function detectorFor(
  options: Pick<RedactOptions, 'mode' | 'entities'>,
  model: PiiModel | undefined,
  signal: AbortSignal,
): Detector {
  const wanted = new Set<PiiEntity>(options.entities ?? PII_ENTITIES);
  const active = RECOGNIZERS.filter((recognizer) => recognizer.modes.includes(options.mode));
  const inUrls = active.filter((recognizer) => recognizer.inUrls);
  const findNames =
    model && options.mode !== 'fast' && (wanted.has('PERSON') || wanted.has('LOCATION'))
      ? boundedModel(model, withoutModel(active), signal)
      : undefined;
  return {
    modelLimitReached: () => findNames?.limitReached() ?? false,
    wants: (entity) => wanted.has(entity),
    async find(projection) {
      const { text } = projection;
      const context = contextOf(text, options.mode, projection.cells);
      const recognizers = projection.kind === 'url' ? inUrls : active;
      const spans = recognizers.flatMap((recognizer) => recognizer.find(text, context));
      if (findNames && projection.kind !== 'url') spans.push(...(await findNames.find(projection)));
      // Recognizers do not check the signal, because one projection takes them little time.
      signal.throwIfAborted();
      // Overlaps are resolved among all entities: a card number is not a phone number, even if only phone numbers are wanted.
      return resolveOverlaps(
        spans
          .filter((span) => span.score >= SCORE_MIN && span.end > span.start)
          .flatMap((span) => splitAtBoundaries(text, span)),
      ).filter((span) => wanted.has(span.entity));
    },
  };
}

/** The recognizers for people and places that only mode `fast` uses, because the other modes have a model. */
function withoutModel(active: readonly Recognizer[]): Recognizer[] {
  return RECOGNIZERS.filter(
    (recognizer) =>
      recognizer.modes.includes('fast') &&
      !active.includes(recognizer) &&
      (recognizer.entity === 'PERSON' || recognizer.entity === 'LOCATION'),
  );
}

/** Uses the model up to its limit, and `fallback` for the rest. */
function boundedModel(
  model: PiiModel,
  fallback: readonly Recognizer[],
  signal: AbortSignal,
): { find(projection: Projection): Promise<Span[]>; limitReached(): boolean } {
  let left = model.unitsMax ?? Number.POSITIVE_INFINITY;
  return {
    limitReached: () => left <= 0,
    async find({ text, cells }) {
      const useModel = left > 0;
      left -= text.length;
      if (useModel) return model.find(text, signal);
      const context = contextOf(text, 'fast', cells);
      return fallback.flatMap((recognizer) => recognizer.find(text, context));
    },
  };
}
