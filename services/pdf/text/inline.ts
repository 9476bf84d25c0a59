// Turns words into inline HTML: spaces, emphasis, superscripts, links, and hyphens at line ends.
// Pages made by hand that need its rules: paragraph-rules.test.ts and inline.test.ts; files that do are named where the rule stands.
import { escapeHtml } from '#shared/document/escape-html.ts';
import type { Word } from '../source/page-model.ts';
import { spaceBetween } from './lines.ts';

/** Lower-case words that stand unbroken in the document: they decide whether a hyphen at a line's end belongs to the word. */
export interface Vocabulary extends Set<string> {
  /** How many lines of text were learnt. */
  lines?: number;
  /** How many of them end with a hyphen. */
  hyphenLines?: number;
}

interface InlineOptions {
  /** Leave bold and italic unmarked (headings, headers of tables). */
  plain?: boolean;
}

interface Piece {
  text: string;
  marks: string;
  /** '' for none. */
  link: string;
  /** LaTeX of a formula. */
  latex?: string;
}

/** HTML of lines that run on, each a list of words. */
export function inlineHtml(
  lines: readonly (readonly Word[])[],
  vocabulary: Vocabulary,
  options: InlineOptions = {},
): string {
  const pieces: Piece[] = [];
  let previous: Word | undefined;
  let carried: string | undefined;
  lines.forEach((line, lineIndex) => {
    line.forEach((word, index) => {
      let glue = '';
      if (previous) {
        if (index > 0) glue = spaceBetween(previous, word) ? ' ' : '';
        else if (carried === undefined) glue = isUnspacedScript(previous.text, word.text) ? '' : ' ';
      }
      carried = undefined;
      let text = word.text;
      const next = index === line.length - 1 ? lines[lineIndex + 1]?.[0] : undefined;
      if (next) carried = joinHyphenated(text, next.text, vocabulary);
      text = (carried ?? text).replace(/\u00ad$/, '-');
      pushPiece(pieces, glue, text, word, options);
      previous = word;
    });
  });
  return pieces.map(pieceHtml).join('');
}

/** Chinese, Japanese, Thai and their punctuation break lines anywhere: no space comes of it. */
function isUnspacedScript(before: string, after: string): boolean {
  const unspaced = /[\u0e00-\u0eff\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]/;
  return unspaced.test(before.slice(-1)) && unspaced.test(after.slice(0, 1));
}

/**
 * What a line's last word becomes before the next line's first, or undefined where the line end is a space.
 * A hyphen before a small letter goes where the document breaks its words at line ends, unless it belongs to the word.
 */
export function joinHyphenated(last: string, next: string, vocabulary: Vocabulary): string | undefined {
  if (last.endsWith('\u00ad')) return last.slice(0, -1);
  if (/.[/\u2014]$/u.test(last)) return last;
  if (!/[\p{L}\d][-\u2010\u2011]$/u.test(last)) return undefined;
  const stem = last.slice(0, -1);
  const head = /[\p{L}-]+$/u.exec(stem)?.[0] ?? '';
  const tail = /^[\p{L}-]+/u.exec(next)?.[0] ?? '';
  if (head === '' || tail === '') return last;
  return ownsHyphen(head, tail, vocabulary) ? last : stem;
}

/** Whether two halves of a word at a line's end are a word with a hyphen, by the words and the lines of the document. */
function ownsHyphen(head: string, tail: string, vocabulary: Vocabulary): boolean {
  const [before, after] = [head.toLowerCase(), tail.toLowerCase()];
  const nearest = before.slice(before.lastIndexOf('-') + 1);
  if (vocabulary.has(nearest + after)) return /^\p{Lu}/u.test(tail) && vocabulary.has(`${before}-${after}`);
  if (vocabulary.has(`${before}-${after}`) || before.includes('-') || !/^\p{Ll}/u.test(tail)) return true;
  // No language breaks one letter off a word, and small letters do not go on a word of capitals.
  if (before.length === 1 || after.length === 1 || /^\p{Lu}+$/u.test(head)) return true;
  return vocabulary.has(after.split('-', 1)[0] ?? '') || !breaksWords(vocabulary);
}

/**
 * Share of lines with a hyphen at their end from which a document breaks words: words that own a hyphen
 * end about one line in a hundred, broken words one in twelve; at this share both are equally likely.
 */
const BREAKING_SHARE = 0.034;

/** Whether the document breaks words at line ends; one of which no lines are known does. */
function breaksWords({ lines = 0, hyphenLines = 0 }: Vocabulary): boolean {
  return hyphenLines >= lines * BREAKING_SHARE;
}

function pushPiece(pieces: Piece[], glue: string, text: string, word: Word, options: InlineOptions): void {
  const emphasis = options.plain ? '' : `${word.style.bold ? 'b' : ''}${word.style.italic ? 'i' : ''}`;
  const marks = word.superscript ? `${emphasis}s` : emphasis;
  const { link = '' } = word;
  if (word.latex) {
    const { body, tail } = word.latex;
    pieces.push({ text: glue, marks: '', link: '' });
    pieces.push({ text: text.slice(0, text.length - tail.length), marks: '', link, latex: body });
    pieces.push({ text: tail, marks: '', link: '' });
    return;
  }
  const last = pieces.at(-1);
  if (last?.marks === marks && last.link === link) last.text += glue + text;
  else pieces.push({ text: glue, marks: '', link: '' }, { text, marks, link });
}

const SAFE_LINK = /^(?:https?:|mailto:|ftp:|tel:)/i;

function pieceHtml(piece: Piece): string {
  let html = escapeHtml(piece.text);
  if (piece.latex !== undefined) html = `<span data-latex="${escapeHtml(piece.latex)}">${html}</span>`;
  // Emphasis on marks alone (a bold comma) says nothing.
  const worded = /[\p{L}\p{N}]/u.test(piece.text);
  if (piece.marks.includes('s')) html = `<sup>${html}</sup>`;
  if (worded && piece.marks.includes('i')) html = `<em>${html}</em>`;
  if (worded && piece.marks.includes('b')) html = `<strong>${html}</strong>`;
  if (SAFE_LINK.test(piece.link)) html = `<a href="${escapeHtml(piece.link)}">${html}</a>`;
  return html;
}

/** Most words are one run of small letters: the general way reads them alike and costs several times as much. */
const PLAIN_WORD = /^([a-z]{3,40})[.,;:]?$/;

/** Words of a document; beyond them no more are learnt. */
const MOST_WORDS = 500_000;

/** Words from which a run of words counts as a line of text: cells and labels are shorter. */
const LINE_WORDS = 4;

/** Adds a page's words, but not the first of a line, which may be the rest of a broken one, and counts its lines. */
export function learnWords(vocabulary: Vocabulary, lines: readonly (readonly Word[])[]): void {
  for (const line of lines) {
    if (line.length >= LINE_WORDS) {
      vocabulary.lines = (vocabulary.lines ?? 0) + 1;
      if (/\p{L}[-\u00ad\u2010\u2011]$/u.test(line.at(-1)?.text ?? ''))
        vocabulary.hyphenLines = (vocabulary.hyphenLines ?? 0) + 1;
    }
    if (vocabulary.size < MOST_WORDS) for (const word of line.slice(1)) learnWord(vocabulary, word.text);
  }
}

function learnWord(vocabulary: Vocabulary, text: string): void {
  const plain = PLAIN_WORD.exec(text)?.[1];
  if (plain !== undefined) vocabulary.add(plain);
  else
    for (const [part] of text.toLowerCase().matchAll(/[\p{L}\u2010\u2011-]{3,40}/gu))
      vocabulary.add(part.replace(/[\u2010\u2011]/g, '-'));
}
