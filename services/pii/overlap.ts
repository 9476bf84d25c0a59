// Resolves overlaps between spans: each character belongs to one span at most.
import type { Span } from './recognizer.ts';

/** Added to the score for each code unit, so that a long span is not replaced by a short one with a higher score inside it. */
const LENGTH_WEIGHT = 0.004;

const LENGTH_MAX = 40;
/** Spans of one group that are compared with each other. Only hostile texts have more. */
const GROUP_MAX = 200;

const weight = (span: Span): number => span.score + Math.min(LENGTH_MAX, span.end - span.start) * LENGTH_WEIGHT;

/** Spans without overlaps, in the order of the text. Of spans that overlap, the one with the greatest weight stays. */
export function resolveOverlaps(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Span[] = [];
  let group: Span[] = [];
  let groupEnd = -1;
  for (const span of sorted) {
    if (span.start >= groupEnd) {
      kept.push(...heaviest(group));
      group = [];
    }
    group.push(span);
    groupEnd = Math.max(groupEnd, span.end);
  }
  kept.push(...heaviest(group));
  return kept;
}

/** Selects spans of one group, the heaviest first. A span that overlaps one selected span of its entity is joined with it. */
function heaviest(group: readonly Span[]): Span[] {
  if (group.length < 2) return [...group];
  const ranked = [...group].sort((a, b) => weight(b) - weight(a));
  const selected: Span[] = [];
  for (const span of ranked.slice(0, GROUP_MAX)) {
    const rivals = selected.filter((other) => other.start < span.end && span.start < other.end);
    if (rivals.length === 0) selected.push({ ...span });
    else if (rivals.length === 1 && rivals[0]!.entity === span.entity && span.entity !== 'PERSON') {
      // Extend the selected span over the rest of this one, unless a third span is there.
      const rival = rivals[0]!;
      const start = Math.min(rival.start, span.start);
      const end = Math.max(rival.end, span.end);
      if (!selected.some((other) => other !== rival && other.start < end && start < other.end))
        Object.assign(rival, { start, end });
    }
  }
  return selected.sort((a, b) => a.start - b.start);
}
