// Finds the allowed word that a caller most likely meant, for the question "did you mean ...?".
import leven from 'leven';

/** Longer words are not compared: the cost of the edit distance grows with the length. */
const MAX_LENGTH = 64;
/** One wrong letter is tolerated for each of these letters, and at least one. */
const LETTERS_PER_MISTAKE = 4;

/** The word without case, separators and plural ending: `include_tag` and `includeTags` are the same. */
const fold = (word: string): string =>
  word
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replace(/(?<=.)s$/, '');

/** Whether `short` begins like `long` and its letters occur in `long` in the same order, for example `md` and `markdown`. */
function abbreviates(short: string, long: string): boolean {
  if (short.length < 2 || short.length >= long.length || short[0] !== long[0]) return false;
  let found = 0;
  for (const letter of long) if (letter === short[found]) found++;
  return found === short.length;
}

/** The words that differ from `word` only in case, separators or plural. */
export function sameWords(word: string, words: readonly string[]): string[] {
  if (word.length > MAX_LENGTH) return [];
  const folded = fold(word);
  return folded === '' ? [] : words.filter((other) => fold(other) === folded);
}

/** Wrong letters, as a plural ending may be one of them or none. */
const distanceOf = (a: string, b: string): number =>
  Math.min(leven(a.toLowerCase(), b.toLowerCase()), leven(fold(a), fold(b)));

/** The word with the fewest different letters, or else the only word that `word` abbreviates. Undefined if no word is near. */
export function nearestWord(word: string, words: readonly string[]): string | undefined {
  const [same] = sameWords(word, words);
  if (same !== undefined || word.length > MAX_LENGTH) return same;
  const folded = fold(word);
  const near = words
    .map((other) => ({ other, distance: distanceOf(word, other), length: Math.max(word.length, other.length) }))
    .filter(({ distance, length }) => distance <= Math.max(1, Math.floor(length / LETTERS_PER_MISTAKE)))
    .sort((a, b) => a.distance - b.distance)[0];
  if (near && folded.length > 2) return near.other;
  const long = words.filter((other) => abbreviates(folded, fold(other)));
  return long.length === 1 ? long[0] : undefined;
}
