// Decides between spans that claim the same characters.
import type { Span } from './recognizer.ts';

/** A span that a shorter, surer one inside it would break up is worth more than its score says. */
const LENGTH_WEIGHT = 0.004;

const weight = (span: Span): number => span.score + Math.min(40, span.end - span.start) * LENGTH_WEIGHT;

/** Spans without overlaps, in order of the text: of those that overlap, the one with the higher score and length stays. */
export function resolveOverlaps(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Span[] = [];
  let cluster: Span[] = [];
  let reach = -1;
  const settle = (): void => {
    kept.push(...strongest(cluster));
    cluster = [];
  };
  for (const span of sorted) {
    if (span.start >= reach) settle();
    cluster.push(span);
    reach = Math.max(reach, span.end);
  }
  settle();
  return kept;
}

/** Takes the heaviest, then what of the others it leaves free. Same-kind overlaps become one. */
function strongest(cluster: readonly Span[]): Span[] {
  if (cluster.length < 2) return [...cluster];
  const ranked = [...cluster].sort((a, b) => weight(b) - weight(a));
  const taken: Span[] = [];
  for (const span of ranked.slice(0, CLUSTER_SIZE)) {
    const rivals = taken.filter((other) => other.start < span.end && span.start < other.end);
    if (rivals.length === 0) taken.push({ ...span });
    else if (rivals.length === 1 && rivals[0]!.entity === span.entity && span.entity !== 'PERSON') {
      // Grow over the part that only the weaker one saw, unless a third stands there.
      const rival = rivals[0]!;
      const start = Math.min(rival.start, span.start);
      const end = Math.max(rival.end, span.end);
      if (!taken.some((other) => other !== rival && other.start < end && start < other.end))
        Object.assign(rival, { start, end });
    }
  }
  return taken.sort((a, b) => a.start - b.start);
}

/** Spans in one knot of overlaps that are compared with each other; more come only from texts made to be slow. */
const CLUSTER_SIZE = 200;
