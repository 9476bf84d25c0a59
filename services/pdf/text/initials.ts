// Puts a large first letter or number that stands beside several lines into the first of them, so that it does not tie the lines into one.
// Pages made by hand that need its rules: initials.test.ts.
import type { PageContent, Word } from '../source/page-model.ts';

/** An initial is set this many times as large as the lines beside it, or more. */
const LARGER = 1.6;
/** Characters of a dropped letter with its quotation mark, and of a number with its sign. */
const LETTERS = /^["“”‘’'«„¿¡(]{0,2}\p{L}["“”‘’']?$/u;
const NUMBERS = /^[#№$€£]?\d[\d.,]{0,4}[%.)]?$/u;
/** Room between an initial and the lines beside it, in their type sizes. */
const GREATEST_ROOM = 1.3;
/** Lines beside one initial begin this near to each other, and lines below it this near to its own edge, in type sizes. */
const SAME_EDGE = 0.35;
/** Distance of two lines of one paragraph, in type sizes. */
const GREATEST_PITCH = 2.2;
/** Words of a page with more large short words are not looked at: it is a poster or a board of figures. */
const MOST_INITIALS = 24;

interface Initial {
  word: Word;
  /** First words of the lines beside it, from top to bottom. */
  starts: Word[];
  /** It is the first letter of the word beside it. */
  glued: boolean;
}

/** @param page upright; what OCR read is left as it is, since it has no type sizes of its own */
export function withInitials(page: PageContent): PageContent {
  if (page.words.some((word) => word.place)) return page;
  const large = page.words.filter((word) => LETTERS.test(word.text) || NUMBERS.test(word.text));
  const initials = large.length === 0 ? [] : findInitials(large, page.words);
  if (initials.length === 0) return page;
  const changed = new Map<Word, Word>();
  for (const { word, starts, glued } of initials) {
    const [first, ...others] = starts as [Word, ...Word[]];
    const x1 = glued ? first.box.x0 : Math.min(word.box.x1, first.box.x0);
    changed.set(word, {
      ...word,
      box: { ...first.box, x0: word.box.x0, x1 },
      baseline: first.baseline,
      style: { ...word.style, size: first.style.size, bold: first.style.bold },
    });
    changed.set(first, { ...first, spaceBefore: !glued });
    // The other lines beside it begin where it does, as those below it do.
    for (const other of others) changed.set(other, { ...other, box: { ...other.box, x0: word.box.x0 } });
  }
  return { ...page, words: inStreamOrder(page.words, initials, changed) };
}

/** An initial may come after its lines in the content stream; it is read before the first of them. */
function inStreamOrder(words: readonly Word[], initials: readonly Initial[], changed: ReadonlyMap<Word, Word>): Word[] {
  const before = new Map(initials.map(({ word, starts }) => [starts[0], word]));
  const moved = new Set(initials.map(({ word }) => word));
  return words.flatMap((word) => {
    if (moved.has(word)) return [];
    const initial = before.get(word);
    const own = changed.get(word) ?? word;
    return initial ? [changed.get(initial) ?? initial, own] : [own];
  });
}

function findInitials(large: readonly Word[], words: readonly Word[]): Initial[] {
  const found: Initial[] = [];
  const usual = usualSize(words);
  const candidates = large.filter((word) => word.style.size >= usual * LARGER);
  if (candidates.length > MOST_INITIALS) return [];
  const taken = new Set<Word>();
  for (const word of candidates) {
    const starts = linesBeside(word, words);
    if (starts.length < 2 || starts.some((start) => taken.has(start))) continue;
    const letter = LETTERS.test(word.text);
    if (letter && !opensParagraph(word, starts, words)) continue;
    for (const start of starts) taken.add(start);
    found.push({ word, starts, glued: letter && !isWordAlone(word, starts[0] as Word, words) });
  }
  return found;
}

/** The type size of half of the page's words. */
function usualSize(words: readonly Word[]): number {
  const sizes = words.map((word) => word.style.size).sort((a, b) => a - b);
  return sizes[sizes.length >> 1] ?? 0;
}

/** The first words of the lines that begin at one edge right of a word, within its height. */
function linesBeside(word: Word, words: readonly Word[]): Word[] {
  const { box } = word;
  const near = words
    .filter(
      (one) =>
        one !== word &&
        one.style.size * LARGER <= word.style.size &&
        one.box.x0 > box.x1 - one.style.size * SAME_EDGE &&
        one.box.x0 < box.x1 + one.style.size * GREATEST_ROOM &&
        one.box.y1 > box.y0 + (box.y1 - box.y0) * 0.1 &&
        one.box.y0 < box.y1 - one.style.size * 0.3,
    )
    .sort((a, b) => a.box.y0 - b.box.y0 || a.box.x0 - b.box.x0);
  const [first] = near;
  if (!first) return [];
  const starts = near.filter(
    (one) =>
      Math.abs(one.box.x0 - first.box.x0) < first.style.size * SAME_EDGE &&
      Math.abs(one.style.size - first.style.size) < first.style.size * 0.1,
  );
  const gaps = starts.map((one, n) => (n === 0 ? 0 : one.baseline - (starts[n - 1] as Word).baseline));
  const end = gaps.findIndex((gap) => gap > first.style.size * GREATEST_PITCH);
  return end < 0 ? starts : starts.slice(0, end);
}

/** Whether the text goes on below a letter at its own edge, or at once beside it in small letters. */
function opensParagraph(word: Word, starts: readonly Word[], words: readonly Word[]): boolean {
  const [first] = starts as [Word, ...Word[]];
  const last = starts.at(-1) as Word;
  const { size } = first.style;
  const goesOn = words.some(
    (one) =>
      Math.abs(one.box.x0 - word.box.x0) < size * SAME_EDGE &&
      Math.abs(one.style.size - size) < size * 0.1 &&
      one.baseline > last.baseline + size * 0.5 &&
      one.baseline < last.baseline + size * GREATEST_PITCH,
  );
  return goesOn || (/^\p{Ll}/u.test(first.text) && first.box.x0 - word.box.x1 < size * 0.5);
}

/** Whether a letter is a word, as `A` is: the page has it alone elsewhere, and the word beside it too. */
function isWordAlone(word: Word, first: Word, words: readonly Word[]): boolean {
  if (first.spaceBefore === true && words[words.indexOf(first) - 1] === word) return true;
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}]/gu, '');
  const [letter, rest] = [plain(word.text), plain(first.text)];
  let alone = false;
  let known = false;
  for (const one of words) {
    if (one === word || one === first) continue;
    const text = plain(one.text);
    if (text === letter + rest) return false;
    alone ||= text === letter;
    known ||= text === rest;
  }
  return alone && known;
}
