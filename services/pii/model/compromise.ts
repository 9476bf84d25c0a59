// Implements the built-in model with the tagger of compromise, and rules that reject its uncertain findings.
import nlp from 'compromise';
import { PII_LIMITS } from '#shared/contract/limits.ts';
import { AMBIGUOUS_PLACES } from '../lists/lexicon.ts';
import type { Span } from '../recognizer.ts';
import { isAmbiguous, isCommon } from '../recognizers/person-name.ts';
import type { PiiModel } from './model.ts';

/** A finding of the tagger, as its `json()` writes it. */
interface Found {
  terms: { text: string; tags: string[] }[];
  offset: { start: number; length: number };
}

/** Code units of lines in the cache of one job. Pages, blocks and HTML repeat the lines of the Markdown. */
const CACHE_UNITS = 4 * 1024 * 1024;
/** A longer line is read in pieces, because the tagger's time is not linear. */
const LINE_UNITS = 2_000;
/** Lines between two checks of the abort signal. */
const LINES_PER_TURN = 50;

const TITLE = /^(?:mr|mrs|ms|miss|dr|prof|sir|madam|lord|lady)\.?$/i;
const CAPITAL = /^\p{Lu}/u;
const NAME_WORDS_MAX = 5;
const PLACE_WORDS_MAX = 6;
const NAME_PARTICLE = /^(?:de|la|van|von|der|den|del|di|da|bin|al|el|le|du|dos|ter)$/;
const PLACE_PARTICLE = /^(?:of|the|and|de|da|do|del|la|le|on|upon|al|el)$/;
/** A word that usually precedes a place, at the end of the text before it. */
const PLACE_PREPOSITION = /(?:\b(?:in|at|from|to|near|of|toward|towards|around|outside|through)|,)\s$/i;
/** A comma and a capitalised word, as in "Reading, England". */
const LARGER_PLACE = /^, \p{Lu}/u;

/** The finding's offsets without the punctuation around it. The dot of an initial stays. */
function trimmedRange(text: string, { offset: { start, length } }: Found): { start: number; end: number } {
  const end = start + length;
  let from = start;
  // The tagger's offsets include punctuation after the last word, and may be past the end of the text.
  let to = Math.min(end, text.length);
  while (from < to && !/[\p{L}\p{N}]/u.test(text[from]!)) from += 1;
  while (to > from && !/[\p{L}\p{N}.]/u.test(text[to - 1]!)) to -= 1;
  if (text[to - 1] === '.' && !/(?:^|[\s.])\p{Lu}\.$/u.test(text.slice(from, to))) to -= 1;
  return { start: from, end: to };
}

/** The span without a title before the name and a genitive `'s` after it. */
function nameRange(line: string, found: Found): { start: number; end: number } {
  let { start, end } = trimmedRange(line, found);
  if (/['’]s$/.test(line.slice(start, end))) end -= 2;
  const title = /^(\p{L}+\.?)\s+/u.exec(line.slice(start, end));
  if (title && TITLE.test(title[1]!)) start += title[0].length;
  return { start, end };
}

function person(line: string, found: Found): Span | undefined {
  const { start, end } = nameRange(line, found);
  const text = line.slice(start, end);
  if (/[\d,;:|/\\@#<>[\]{}]/.test(text)) return undefined;
  const words = text.split(/\s+/);
  if (words.length > NAME_WORDS_MAX || !words.every((word) => CAPITAL.test(word) || NAME_PARTICLE.test(word)))
    return undefined;
  // A name with a word in capitals is accepted only if all its words are in capitals. A single word in capitals is an acronym.
  const capitals = words.filter((word) => word.length > 1 && word === word.toUpperCase() && !word.endsWith('.'));
  if (capitals.length > 0 && (words.length < 2 || capitals.length < words.length)) return undefined;
  // "Dave Matthews Band": a name before a capitalised common word is the name of something else.
  if (/^ \p{Lu}\p{Ll}/u.test(line.slice(end, end + 3)) || words.some((word) => isCommon(word) && !isAmbiguous(word)))
    return undefined;
  const tags = found.terms.flatMap((term) => term.tags);
  const firstName = tags.includes('FirstName') || tags.includes('MaleName') || tags.includes('FemaleName');
  if (words.length === 1 && (!firstName || isAmbiguous(text))) return undefined;
  return { start, end, entity: 'PERSON', score: words.length > 1 && firstName ? 0.75 : 0.6 };
}

function location(line: string, found: Found): Span | undefined {
  const { start, end } = trimmedRange(line, found);
  const text = line.slice(start, end);
  const words = text.split(/[\s,]+/);
  if (!CAPITAL.test(text) || words.length > PLACE_WORDS_MAX || /[|@<>[\]{}]/.test(text)) return undefined;
  // The tagger marks some descriptions as places, such as "Czech place downtown".
  if (words.some((word) => /^\p{Ll}/u.test(word) && !PLACE_PARTICLE.test(word))) return undefined;
  const tags = found.terms.flatMap((term) => term.tags);
  if (!['City', 'Country', 'Region', 'Place'].some((tag) => tags.includes(tag))) return undefined;
  const announced = PLACE_PREPOSITION.test(line.slice(Math.max(0, start - 10), start));
  if (AMBIGUOUS_PLACES.has(text.toLowerCase()) && !announced && !LARGER_PLACE.test(line.slice(end, end + 3)))
    return undefined;
  return { start, end, entity: 'LOCATION', score: 0.6 };
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

/** The lines of a text. Long lines are cut at sentence ends or blanks. */
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

/** Creates a model with a cache of the lines that it read. Create one model for each job. */
export function compromiseModel(): PiiModel {
  const cache = new Map<string, Span[]>();
  let cachedUnits = 0;
  return {
    name: 'compromise',
    unitsMax: PII_LIMITS.modelUnits,
    async find(text, signal) {
      const spans: Span[] = [];
      let count = 0;
      for (const { start, line } of lines(text)) {
        let found = cache.get(line);
        if (!found) {
          found = readLine(line);
          if (cachedUnits < CACHE_UNITS) {
            cache.set(line, found);
            cachedUnits += line.length;
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
