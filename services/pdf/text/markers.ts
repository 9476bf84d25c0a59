// Reads what begins a list item or a numbered heading.
// Pages made by hand that need its rules: lists.test.ts and layout.test.ts; files that do are named where the rule stands.
import type { Marker } from './blocks.ts';

const BULLET = /^(?:[•●○◦▪■□▫‣⁃∙·►▸▶➢➤❖✓✔☐☑☒◆◇★»]|[-–—*](?=\s|$))$/u;
const NUMBER = /^(\(?)(\d{1,3}|[a-zA-Z]|[ivxIVX]{2,5})([.)])$/;

/** The marker that a line's first word is, or undefined. */
export function readMarker(word: string): Marker | undefined {
  if (BULLET.test(word)) return { style: 'bullet', shape: word, value: 1 };
  const match = NUMBER.exec(word);
  if (!match) return undefined;
  const [, open = '', body = '', close = ''] = match;
  if (open !== '' && close === '.') return undefined;
  const shape = `${open}${close}`;
  if (/^\d/.test(body)) return { style: 'decimal', shape, value: Number(body) };
  const small = body.toLowerCase();
  const letters = small === body ? 'lower' : 'upper';
  if (body.length > 1 || small === 'i') return { style: `${letters}-roman`, shape, value: romanValue(small) };
  return { style: `${letters}-alpha`, shape, value: small.charCodeAt(0) - 96 };
}

/** The value of a Roman number in small letters. */
export function romanValue(text: string): number {
  const digits: Record<string, number> = { i: 1, v: 5, x: 10, l: 50, c: 100 };
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const one = digits[text[i] ?? ''] ?? 0;
    value += one < (digits[text[i + 1] ?? ''] ?? 0) ? -one : one;
  }
  return value;
}

/** The number that a heading begins with. */
export interface Numbering {
  /** How its first part is written: `decimal`, `roman`, `letter`, or the word before it: `chapter`. */
  scheme: string;
  /** `2` is 1, `2.3` is 2. */
  depth: number;
  /** The value of its last part. */
  value: number;
}

const DECIMAL_HEAD = /^(\d{1,3}(?:\.\d{1,3}){1,5}|\d{1,3}(?=\.)|\d{1,2})\.?\s+\S/u;
const LETTER_HEAD = /^([A-Z](?:\.\d{1,3}){1,4})\.?\s+\S/u;
const ROMAN_HEAD = /^([IVXL]{1,6})\.\s+\S/u;
const WORD_HEAD =
  /^(chapter|part|section|appendix|annex|article|kapitel|chapitre|cap[ií]tulo)\s+([\dIVXLA-Z]{1,5})\b/iu;

/** The number of a heading; undefined where there is none: `575 Quay Street` is an address (fixtures/pdf/address-lines.pdf). */
export function readNumbering(text: string): Numbering | undefined {
  const dotted = DECIMAL_HEAD.exec(text) ?? LETTER_HEAD.exec(text);
  if (dotted) {
    const parts = (dotted[1] ?? '').split('.');
    return {
      scheme: /^\d/.test(parts[0] ?? '') ? 'decimal' : 'letter',
      depth: parts.length,
      value: Number(parts.at(-1)),
    };
  }
  const roman = ROMAN_HEAD.exec(text)?.[1];
  if (roman !== undefined) return { scheme: 'roman', depth: 1, value: romanValue(roman.toLowerCase()) };
  const [, word, count = ''] = WORD_HEAD.exec(text) ?? [];
  if (word === undefined) return undefined;
  const value = /^\d+$/.test(count) ? Number(count) : romanValue(count.toLowerCase());
  return { scheme: word.toLowerCase(), depth: 1, value };
}

/** Depth of a heading's number: `2` is 1, `2.3` is 2, `Chapter 2` is 1; 0 where there is none. */
export function numberingDepth(text: string): number {
  return readNumbering(text)?.depth ?? 0;
}

/** Whether a text is nothing but what items and clauses are numbered or marked with: `2.1`, `[Bel19]`, `*`. */
export function isNumbering(text: string): boolean {
  return /^[^\p{L}\p{N}]/u.test(text) || readMarker(text) !== undefined || numberingDepth(`${text} x`) > 0;
}

const CAPTION_WORD =
  /^(?:(?:fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)?|tabelle|tableau|chart|exhibit|box|graph|map|plate)s?\s*|(?:source|note)s?\s*(?=[:.\d]))/i;
/** What follows it: a number, a capital or Roman one, a colon; `Table of contents` and `Note that` are no captions. */
const CAPTION_NUMBER = /^(?:\d|[A-Z](?:[.:\d-]|\b)|[IVXLC]+\b|[.:])/;

/** Whether a text begins with a caption's word, number and stop: `Table 14. Ships` is no heading in whatever type. */
export function isNumberedCaption(text: string): boolean {
  return isCaption(text) && /^\p{L}+\.?\s*(?:[A-Z]?[.-]?\d+(?:[.-]\d+)*|[IVXLC]+)\s*[.:–—]\s/u.test(text);
}

/** Whether a text begins with such a caption of a table. */
export function isTableCaption(text: string): boolean {
  return /^tab/i.test(text) && isNumberedCaption(text);
}

/** Whether a text begins as the caption of a figure or a table, not of a note or an exhibit, which may be sections. */
export function isFloatCaption(text: string): boolean {
  return /^(?:fig|tab|abb)/i.test(text) && isCaption(text);
}

/** Whether a text begins as a figure's or table's caption does. */
export function isCaption(text: string): boolean {
  const word = CAPTION_WORD.exec(text)?.[0];
  return word !== undefined && CAPTION_NUMBER.test(text.slice(word.length));
}

/** A row of leader dots before a page's number, which may be `A`, `iv` or `B-2`. */
const LEADER = /(?:\.\s?){4,}\s*[\p{L}\d.-]{1,6}$/u;

/** Whether a line is an entry of a table of contents. */
export function isContentsEntry(text: string): boolean {
  return LEADER.test(text);
}
