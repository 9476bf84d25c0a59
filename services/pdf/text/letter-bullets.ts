// Writes bullets that a file has as letters: the `o` of a typewriter face and the letters that symbol faces show as signs.
// Pages made by hand that need its rules: letter-bullets.test.ts.
import type { PageContent, Word } from '../source/page-model.ts';
import { readMarker } from './markers.ts';

/** Faces whose letters are signs. */
const SYMBOL_FACE = /wingding|webding|dingbat|symbol/i;
/** Room between a bullet and its text where both are of one face, and at most, in type sizes. */
const LEAST_GAP = 0.5;
const GREATEST_GAP = 3.5;
/** Room on the left of a bullet, in type sizes: a nearer word is of the same line. */
const LEFT_ROOM = 1;
/** Bullets of one list begin at one place, and so do their texts, within so many points. */
const SAME_EDGE = 1;
/** Bullets that make a list. */
const LEAST_ITEMS = 2;

/** @param page upright */
export function withLetterBullets(page: PageContent): PageContent {
  const { words } = page;
  const found: { sign: Word; next: Word }[] = [];
  for (const [n, sign] of words.entries()) {
    const next = words[n + 1];
    if (next && isBullet(sign, next, words[n - 1])) found.push({ sign, next });
  }
  const alike = (a: (typeof found)[number], b: (typeof found)[number]) =>
    a.sign.text === b.sign.text &&
    Math.abs(a.sign.box.x0 - b.sign.box.x0) < SAME_EDGE &&
    Math.abs(a.next.box.x0 - b.next.box.x0) < SAME_EDGE;
  const bullets = new Set(
    found.filter((one) => found.filter((other) => alike(one, other)).length >= LEAST_ITEMS).map(({ sign }) => sign),
  );
  if (bullets.size === 0) return page;
  return {
    ...page,
    words: words.map((word) => (bullets.has(word) ? { ...word, text: word.text === 'o' ? '◦' : '•' } : word)),
  };
}

/** Whether a lone `o` or sign begins a line before a word that is set apart from it, by room or by its face. */
function isBullet(sign: Word, next: Word, previous: Word | undefined): boolean {
  if (sign.text.length !== 1 || readMarker(sign.text)) return false;
  const symbol = SYMBOL_FACE.test(sign.style.font);
  if (!symbol && sign.text !== 'o') return false;
  const { size } = next.style;
  const sameLine = (other: Word) => Math.abs(other.baseline - sign.baseline) < size * 0.3;
  const gap = next.box.x0 - sign.box.x1;
  if (!sameLine(next) || gap < 0 || gap > size * GREATEST_GAP || !/[\p{L}\p{N}]/u.test(next.text)) return false;
  if (previous && sameLine(previous) && sign.box.x0 - previous.box.x1 < size * LEFT_ROOM) return false;
  return symbol || gap >= size * LEAST_GAP || sign.style.font !== next.style.font;
}
