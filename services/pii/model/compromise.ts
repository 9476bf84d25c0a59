// The model that is always there: compromise's tagger, held to what it is sure of.
import nlp from 'compromise';
import { PII_LIMITS } from '#shared/contract/limits.ts';
import { AMBIGUOUS_PLACES } from '../lists/lexicon.ts';
import type { Span } from '../recognizer.ts';
import { isAmbiguous, isCommon } from '../recognizers/person-name.ts';
import type { PiiModel } from './model.ts';

interface Found {
  text: string;
  terms: { text: string; tags: string[] }[];
  offset: { start: number; length: number };
}

/** Paragraphs remembered for one job: pages, blocks and HTML say the same things again. */
const REMEMBERED_UNITS = 4 * 1024 * 1024;
/** A line longer than this is read in pieces; the tagger's time grows faster than the text. */
const LINE_UNITS = 2_000;
/** Lines between two looks at the abort signal. */
const LINES_PER_TURN = 50;

const TITLES = /^(?:mr|mrs|ms|miss|dr|prof|sir|madam|lord|lady)\.?$/i;
const CAPITAL = /^\p{Lu}/u;

function trimmed(text: string, start: number, end: number): { start: number; end: number } {
  let from = start;
  // The tagger's offsets count marks behind the last word, and may pass the end.
  let to = Math.min(end, text.length);
  while (from < to && !/[\p{L}\p{N}]/u.test(text[from]!)) from += 1;
  while (to > from && !/[\p{L}\p{N}.]/u.test(text[to - 1]!)) to -= 1;
  if (text[to - 1] === '.' && !/(?:^|[\s.])\p{Lu}\.$/u.test(text.slice(from, to))) to -= 1;
  return { start: from, end: to };
}

function person(line: string, found: Found): Span | undefined {
  const place = trimmed(line, found.offset.start, found.offset.start + found.offset.length);
  let text = line.slice(place.start, place.end);
  if (/['’]s$/.test(text)) {
    place.end -= 2;
    text = text.slice(0, -2);
  }
  const title = /^(\p{L}+\.?)\s+/u.exec(text);
  if (title && TITLES.test(title[1]!)) {
    place.start += title[0].length;
    text = text.slice(title[0].length);
  }
  if (/[\d,;:|/\\@#<>[\]{}]/.test(text)) return undefined;
  const words = text.split(/\s+/);
  if (
    words.length > 5 ||
    !words.every(
      (word) => CAPITAL.test(word) || /^(?:de|la|van|von|der|den|del|di|da|bin|al|el|le|du|dos|ter)$/.test(word),
    )
  )
    return undefined;
  const shouted = words.filter((word) => word.length > 1 && word === word.toUpperCase() && !word.endsWith('.'));
  if (shouted.length > 0 && (words.length < 2 || shouted.length < words.length)) return undefined;
  // "Dave Matthews Band": a capitalised word of the language behind a name makes it the name of something else.
  if (
    /^ \p{Lu}\p{Ll}/u.test(line.slice(place.end, place.end + 3)) ||
    words.some((word) => isCommon(word) && !isAmbiguous(word))
  )
    return undefined;
  const tags = found.terms.flatMap((term) => term.tags);
  const firstName = tags.includes('FirstName') || tags.includes('MaleName') || tags.includes('FemaleName');
  if (words.length === 1) {
    if (!firstName || isAmbiguous(text)) return undefined;
    return { ...place, entity: 'PERSON', score: 0.6 };
  }
  return { ...place, entity: 'PERSON', score: firstName ? 0.75 : 0.6 };
}

function location(line: string, found: Found): Span | undefined {
  const place = trimmed(line, found.offset.start, found.offset.start + found.offset.length);
  const text = line.slice(place.start, place.end);
  const words = text.split(/[\s,]+/);
  if (!CAPITAL.test(text) || words.length > 6 || /[|@<>[\]{}]/.test(text)) return undefined;
  // "Czech place downtown": the tagger takes some descriptions for places.
  if (words.some((word) => /^\p{Ll}/u.test(word) && !/^(?:of|the|and|de|da|do|del|la|le|on|upon|al|el)$/.test(word)))
    return undefined;
  const tags = found.terms.flatMap((term) => term.tags);
  const listed = ['City', 'Country', 'Region', 'Place'].some((tag) => tags.includes(tag));
  const led = /(?:\b(?:in|at|from|to|near|of|toward|towards|around|outside|through)|,)\s$/i.test(
    line.slice(Math.max(0, place.start - 10), place.start),
  );
  if (AMBIGUOUS_PLACES.has(text.toLowerCase()) && !led && !/^, \p{Lu}/u.test(line.slice(place.end, place.end + 3)))
    return undefined;
  return listed ? { ...place, entity: 'LOCATION', score: 0.6 } : undefined;
}

function readLine(line: string): Span[] {
  if (!/\p{Lu}\p{L}/u.test(line)) return [];
  const doc = nlp(line);
  const spans: Span[] = [];
  for (const found of doc.people().json({ offset: true }) as Found[]) {
    const span = person(line, found);
    if (span) spans.push(span);
  }
  for (const found of doc.places().json({ offset: true }) as Found[]) {
    const span = location(line, found);
    if (span) spans.push(span);
  }
  return spans;
}

/** Lines of the text, long ones cut at sentences or blanks. */
function* lines(text: string): Generator<{ start: number; line: string }> {
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    let end = newline < 0 ? text.length : newline;
    if (end - start > LINE_UNITS) {
      const piece = text.slice(start, start + LINE_UNITS);
      const cut = Math.max(piece.lastIndexOf('. '), piece.lastIndexOf('; '));
      end = start + (cut > LINE_UNITS / 4 ? cut + 1 : Math.max(piece.lastIndexOf(' '), LINE_UNITS / 2));
    }
    if (end > start) yield { start, line: text.slice(start, end) };
    start = end === newline ? end + 1 : end;
  }
}

/** A model with a memory of its own; make one for each job. */
export function compromiseModel(): PiiModel {
  const memory = new Map<string, Span[]>();
  let remembered = 0;
  return {
    name: 'compromise',
    unitsMax: PII_LIMITS.modelUnits,
    async find(text, signal) {
      const spans: Span[] = [];
      let count = 0;
      for (const { start, line } of lines(text)) {
        let found = memory.get(line);
        if (!found) {
          found = readLine(line);
          if (remembered < REMEMBERED_UNITS) {
            memory.set(line, found);
            remembered += line.length;
          }
          count += 1;
          if (count % LINES_PER_TURN === 0) {
            await new Promise((resolve) => setImmediate(resolve));
            signal.throwIfAborted();
          }
        }
        for (const span of found) spans.push({ ...span, start: span.start + start, end: span.end + start });
      }
      return spans;
    },
  };
}
