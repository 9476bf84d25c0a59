// Tells typewritten pages, whose text is all monospaced, from listings of code: only where few lines are monospaced does the face say "code".
import type { TextStyle, Word } from '../source/page-model.ts';
import { type Chunk, groupRows } from './lines.ts';

/** Share of the letters that are monospaced, above which the face is that of the text. */
const MONOSPACED_SHARE = 0.8;
/** Share of its words and numbers that a line of text has at least. A line of code is at half of it: names stand between signs. */
const PLAIN_SHARE = 0.7;
/** Share of such lines in a typewritten document. A listing with long comments has fewer. */
const TEXT_SHARE = 0.7;
/** A shorter line says nothing about the document, and fewer lines do not either. */
const LEAST_WORDS = 4;
const LEAST_LINES = 5;

/** A word or a number, with the signs that stand beside it in a sentence. */
const PLAIN =
  /^["'“‘«(§[]*(?:\p{L}[\p{L}\p{M}\p{N}’'\u00ad-]*|[-+–]?[$€£]?\p{N}[\p{N}.,:/–-]*[%€]?)(?:[-–/]\p{L}+)*[)\]"'”’».,;:!?…]*$/u;
/** Bullets and dashes, which texts and code have. */
const NEUTRAL = /^[^\p{L}\p{N}(){}=<>;]$/u;

function readsAsText(words: readonly Word[]): boolean {
  const told = words.filter((word) => !NEUTRAL.test(word.text));
  return told.filter((word) => PLAIN.test(word.text)).length >= told.length * PLAIN_SHARE;
}

/** Takes "monospaced" from the lines of text of typewritten pages, so that they are laid out as any other text. */
export function readTypewritten(pages: readonly (readonly Chunk[])[]): void {
  let letters = 0;
  let monospaced = 0;
  for (const chunks of pages)
    for (const { words } of chunks)
      for (const { text, style } of words) {
        letters += text.length;
        if (style.monospace) monospaced += text.length;
      }
  if (monospaced === 0 || monospaced < letters * MONOSPACED_SHARE) return;
  const rows = pages.flatMap((chunks) => groupRows(chunks).map((row) => row.flatMap((chunk) => chunk.words)));
  const long = rows.filter((row) => row.length >= LEAST_WORDS);
  const texts = new Set(rows.filter(readsAsText));
  if (long.filter((row) => texts.has(row)).length < Math.max(LEAST_LINES, long.length * TEXT_SHARE)) return;
  const plain = new Map<TextStyle, TextStyle>();
  for (const word of [...texts].flat()) {
    const style = plain.get(word.style) ?? { ...word.style, monospace: false };
    plain.set(word.style, style);
    word.style = style;
  }
}
