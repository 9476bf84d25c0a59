// Reads the numbers of a document's headings together: what one heading leaves open, the others tell.
import { type Numbering, readNumbering } from '../../text/markers.ts';

/** `§ 3 Scope`; `1: Scope`, `(2.1) Scope`: the sign before the number tells the series. */
const SIGNED = [/^(§)\s*(\d{1,3}(?:\.\d{1,3})*)\.?\s+\S/, /^(\(?)(\d{1,3}(?:\.\d{1,3})*)\s*[:：、)]\s*\p{L}/u];
const LETTER = /^([A-Z])[.)]\s+\S/;
/** `Step 2: Scope`, in whatever language. */
const WORD = /^(\p{L}{2,})\s+(\d{1,3})(?![\d.]*\d)(?=\s|[.:：–—-]|$)/u;
/** One such heading alone begins with a letter or a word: two of them have numbers. */
const SERIES = 2;
/** Numbers left out that make `I.` a letter, where no other number is a Roman one. */
const NO_ROMAN = 1.5;

/** The number of each heading, in the order of the document. */
export function readNumbers(texts: readonly string[]): (Numbering | undefined)[] {
  const own = texts.map((text) => readNumbering(text) ?? readSigned(text));
  const letters = texts.map(readLetter);
  const words = texts.map(readWord);
  const counts = new Map<string, number>();
  for (const word of words) if (word) counts.set(word.scheme, (counts.get(word.scheme) ?? 0) + 1);
  const isRoman = (n: number) => own[n]?.scheme === 'roman';
  const isLetter = (n: number) => own[n]?.scheme === 'letter' || (letters[n] !== undefined && !isRoman(n));
  const lettered = texts.filter((_, n) => letters[n] ?? isLetter(n)).length >= SERIES;
  const unlikely = texts.some((_, n) => isRoman(n) && !letters[n]) ? 0 : NO_ROMAN;
  const last = { letter: 0, roman: 0 };
  return texts.map((_, n) => {
    const [number, letter, word] = [own[n], letters[n], words[n]];
    if (letter && lettered) {
      // `I.` comes after `H.`, or before `II.`
      const fits = gap(last.letter, letter.value) < gap(last.roman, number?.value ?? 0) + unlikely;
      if (!isRoman(n) || fits) {
        last.letter = letter.value;
        return letter;
      }
    }
    if (number?.scheme === 'roman') last.roman = number.value;
    if (number || !word) return number;
    return (counts.get(word.scheme) ?? 0) >= SERIES ? word : undefined;
  });
}

/** How many numbers of a series are left out between two. */
function gap(last: number, next: number): number {
  return next > last ? next - last : Number.POSITIVE_INFINITY;
}

function readSigned(text: string): Numbering | undefined {
  const [, sign = '', number] = SIGNED.flatMap((one) => one.exec(text) ?? []);
  if (number === undefined) return undefined;
  const parts = number.split('.');
  return { scheme: `${sign}decimal`, depth: parts.length, value: Number(parts.at(-1)) };
}

/** `B. Ships` is the section over `B.1`. */
function readLetter(text: string): Numbering | undefined {
  const [, letter] = LETTER.exec(text) ?? [];
  return letter === undefined ? undefined : { scheme: 'letter', depth: 1, value: letter.charCodeAt(0) - 64 };
}

function readWord(text: string): Numbering | undefined {
  const [, word, value] = WORD.exec(text) ?? [];
  return word === undefined ? undefined : { scheme: word.toLowerCase(), depth: 1, value: Number(value) };
}
