// Decides whether the lines of a plain text were broken at a fixed width, and joins the lines of a wrapped paragraph.

/** Pairs of lines that are counted at the start of a document. */
const SAMPLE_PAIRS = 20_000;
/** Widths at which programs and authors wrap text, in UTF-16 code units. */
const WIDTH_MIN = 40;
const WIDTH_MAX = 160;
/** The width counts if it explains this share of the line breaks, and this many of them. */
const SHARE = 0.6;
const BREAKS_MIN = 3;
/** A paragraph is joined if the width explains this share of its line breaks. */
const PARAGRAPH_SHARE = 0.8;
/** The start of a list item: a bullet, a number or a letter, and a space. */
export const LIST_MARKER = /^\s*(?:[-*+•·‣–]|\(?\d{1,4}[.)]|\(?[A-Za-z][.)])\s+/;
const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The length of the first word, which would not have fitted on the line before. One character in scripts without spaces. */
function firstWordLength(line: string): number {
  const text = line.trimStart();
  if (IDEOGRAPH.test(text.charAt(0))) return 1;
  const end = text.search(/\s/);
  return end < 0 ? text.length : end;
}

/**
 * Counts line breaks by the widths that explain them: a program that wraps at a width breaks a line exactly if the next
 * word does not fit.
 */
export class WrapStatistics {
  /** Differences of the number of breaks that each width explains. */
  readonly #votes = new Int32Array(WIDTH_MAX + 2);
  #pairs = 0;

  /** Whether enough pairs were counted. */
  get full(): boolean {
    return this.#pairs >= SAMPLE_PAIRS;
  }

  /** Counts the break between two lines of one paragraph. */
  add(line: string, next: string): void {
    // A short line says nothing: verse and addresses are also part of texts that are wrapped.
    if (line.length < WIDTH_MIN || LIST_MARKER.test(next.slice(0, 80))) return;
    this.#pairs++;
    if (line.length > WIDTH_MAX) return;
    this.#votes[line.length]! += 1;
    this.#votes[Math.min(WIDTH_MAX, line.length + firstWordLength(next)) + 1]! -= 1;
  }

  /** The width at which the document is wrapped; undefined if its line breaks have another reason. */
  width(): number | undefined {
    let best: number | undefined;
    let most = 0;
    let votes = 0;
    for (let width = WIDTH_MIN; width <= WIDTH_MAX; width++) {
      votes += this.#votes[width] ?? 0;
      if (votes > most) [best, most] = [width, votes];
    }
    return most >= BREAKS_MIN && most >= this.#pairs * SHARE ? best : undefined;
  }
}

/** Whether the width explains the breaks between the lines of a paragraph. */
export function isWrapped(lines: readonly string[], width: number | undefined): boolean {
  if (width === undefined || lines.length < 2) return false;
  let explained = 0;
  for (let i = 0; i + 1 < lines.length; i++) {
    const line = lines[i] ?? '';
    // Authors use a margin of two characters more or less.
    if (line.length <= width + 2 && line.length + 1 + firstWordLength(lines[i + 1] ?? '') > width - 2) explained++;
  }
  return explained >= (lines.length - 1) * PARAGRAPH_SHARE;
}

/** Joins wrapped lines with a space, and without one after a hyphen and between ideographs. */
export function joinLines(lines: readonly string[]): string {
  let joined = '';
  for (const line of lines) {
    const text = line.trim();
    if (joined === '') joined = text;
    else if (/[\p{L}\p{N}]-$/u.test(joined.slice(-3))) joined += text;
    else if (IDEOGRAPH.test(joined.slice(-1)) && IDEOGRAPH.test(text.charAt(0))) joined += text;
    else joined += ` ${text}`;
  }
  return joined;
}

/** Columns of white space at the start of a line. A tab ends at the next multiple of 8. */
export function indentOf(line: string): number {
  let columns = 0;
  for (let i = 0; i < line.length; i++) {
    const character = line.charAt(i);
    if (character === '\t') columns += 8 - (columns % 8);
    else if (character === ' ' || character === '\u00a0') columns++;
    else break;
  }
  return columns;
}
