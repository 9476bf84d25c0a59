// Finds formulas: rows of signs and letters that stand alone, with their limits and fractions, and runs of them inside lines of text.
// Rows made by hand that need its rules: formulas.test.ts and inline-formulas.test.ts; files that do are named where the rule stands.
import { type Box, boundingBox } from '../source/geometry.ts';
import type { Ruling, Word } from '../source/page-model.ts';
import { formulaLatex } from './latex.ts';
import { isLargeOperator, isMathFont, mathKind } from './latex-symbols.ts';
import { type Chunk, chunkText, groupRows, spaceBetween } from './lines.ts';
import { isContentsEntry } from './markers.ts';

/** Rows this near to each other, in type sizes, can be of one formula. */
const ROW_GAP = 0.35;
/** Limits stand this near to the row of their operator, whose sign is taller than its type (formulas.test.ts, limits stand further). */
const LIMIT_GAP = 1.1;
/** Share of a formula's letters that may be of words ("if", "otherwise"). */
const WORD_SHARE = 0.25;
/** Letters of a row that is only a limit or half of a fraction. */
const SCRAP_LETTERS = 16;
const EQUATION_NUMBER = /^\(\d{1,3}(?:[.-]\d{1,3})*[a-z]?\)$/;

export interface FormulaRow {
  words: Word[];
  latex: string;
  text: string;
}

/** A row of chunks of text, or a formula with all its rows. */
type ColumnRow = { chunks: Chunk[]; formula?: FormulaRow };

type RowKind = 'formula' | 'scrap' | 'text';

/** A column's rows from top to bottom; formulas that stand alone are one row each (fixtures/pdf/formulas.pdf). */
export function composeRows(chunks: readonly Chunk[], rulings: readonly Ruling[]): ColumnRow[] {
  const rows = groupRows(chunks);
  // In the mirror of a page that reads from right to left a formula would stand on its head.
  if (chunks[0]?.words[0]?.mirrored) return rows.map((row) => ({ chunks: row }));
  const kinds = rows.map(rowKind);
  const boxes = rows.map((row) => boundingBox(row.map((chunk) => chunk.box)));
  const out: ColumnRow[] = [];
  for (let n = 0; n < rows.length; ) {
    let end = n;
    let bottom = -Infinity;
    for (; end < rows.length && kinds[end] !== 'text'; end++) {
      const box = boxes[end] as Box;
      const size = rows[end]?.[0]?.size ?? 10;
      const above = rows[end - 1];
      const limit = kinds[end] === 'scrap' || size < (above?.[0]?.size ?? 0) * 0.87;
      const near = limit && hasLarge(above) ? LIMIT_GAP : ROW_GAP;
      if (end > n && box.y0 - bottom > size * near) break;
      bottom = Math.max(bottom, box.y1);
    }
    const group = rows.slice(n, end);
    const formula = kinds.slice(n, end).includes('formula') ? makeFormula(group.flat(), rulings) : undefined;
    if (formula) out.push({ chunks: group.flat(), formula });
    else {
      end = Math.max(end, n + 1);
      out.push(...rows.slice(n, end).map((row) => ({ chunks: row })));
    }
    n = end;
  }
  return out;
}

function hasLarge(row: readonly Chunk[] | undefined): boolean {
  return row?.some((chunk) => chunk.words.some(isLargeOperator)) ?? false;
}

function rowKind(row: readonly Chunk[]): RowKind {
  let letters = 0;
  let worded = 0;
  let signs = 0;
  let variables = 0;
  let equals = false;
  for (const { words } of row)
    for (const word of words) {
      if (word.style.monospace || word.confidence !== undefined) return 'text';
      const kind = mathKind(word);
      letters += word.text.length;
      if (kind === 'word') worded += word.text.length;
      else if (kind === 'sign') signs++;
      if (word.text.includes('=')) equals = true;
      if (word.style.italic && /\p{L}/u.test(word.text)) variables++;
    }
  if (worded > letters * WORD_SHARE) return 'text';
  // The dots of a leader outnumber the letters of its entry.
  if (isContentsEntry(row.map((chunk) => chunkText(chunk.words)).join(' '))) return 'text';
  if (equals ? signs + variables > 0 : signs > 1) return 'formula';
  return letters <= SCRAP_LETTERS ? 'scrap' : 'text';
}

function makeFormula(chunks: readonly Chunk[], rulings: readonly Ruling[]): FormulaRow | undefined {
  const sorted = [...chunks].sort((a, b) => a.box.x0 - b.box.x0);
  const number = EQUATION_NUMBER.exec(chunkText(sorted.at(-1)?.words ?? []))?.[0];
  const body = number === undefined ? sorted : sorted.slice(0, -1);
  const words = body.flatMap((chunk) => chunk.words);
  if (words.length === 0) return undefined;
  const box = boundingBox(words.map((word) => word.box));
  // No line of the page's own (formulas.test.ts, a rule between two rows).
  const bars = rulings.filter((line) => line.horizontal && line.at > box.y0 - 2 && line.end < box.x1 + 4);
  const latex = formulaLatex(words, bars);
  const text = groupRows(body)
    .map((row) => chunkText(row.flatMap((chunk) => chunk.words)))
    .join(' ');
  return {
    words: chunks.flatMap((chunk) => chunk.words),
    latex: number === undefined ? latex : `${latex} \\tag{${number.slice(1, -1)}}`,
    text: number === undefined ? text : `${text} ${number}`,
  };
}

/** What begins or ends a formula inside a line: no bracket or comma of the sentence. */
function isCore(word: Word): boolean {
  if (!/[\p{L}\p{N}]/u.test(word.text)) return mathKind(word) === 'sign' && !/^[∗*†‡•·□■◻∎]+$/u.test(word.text);
  return mathKind(word) === 'sign' || (mathKind(word) === 'part' && /\p{L}/u.test(word.text) && word.style.italic);
}

/** The words of a line with its formulas as one word each, which carries their LaTeX (fixtures/pdf/formulas.pdf). */
export function foldInlineFormulas(
  words: readonly Word[],
  baseline: number,
  size: number,
  bars: readonly Ruling[],
): Word[] {
  if (!words.some((word) => isMathFont(word.style.font))) return [...words];
  const isScript = (word: Word) => word.style.size < size * 0.87 && Math.abs(word.baseline - baseline) > size * 0.08;
  const out: Word[] = [];
  for (let n = 0; n < words.length; ) {
    let end = n;
    const first = words[n] as Word;
    if (isCore(first) && !isScript(first)) {
      for (end = n + 1; end < words.length; end++) {
        const word = words[end] as Word;
        if (mathKind(word) === 'word' && !isScript(word) && spaceBetween(words[end - 1] as Word, word)) break;
      }
      // Back to the last that cannot be the sentence's own.
      while (!endsFormula(words[end - 1] as Word, isScript)) end--;
    }
    const folded = foldRun(words.slice(n, end), baseline, bars, isScript);
    out.push(folded ?? first);
    n = folded ? end : n + 1;
  }
  return out;
}

function endsFormula(word: Word, isScript: (word: Word) => boolean): boolean {
  return isScript(word) || isCore(word) || /[\p{N})\]}⟩|]/u.test(word.text);
}

function foldRun(
  run: readonly Word[],
  baseline: number,
  bars: readonly Ruling[],
  isScript: (word: Word) => boolean,
): Word | undefined {
  const told = run.some((word) =>
    isScript(word)
      ? /[\p{L}′]/u.test(word.text) || word.baseline > baseline
      : isMathFont(word.style.font) && /[\p{L}\p{Sm}]/u.test(word.text),
  );
  if (!told) return undefined;
  const first = run[0] as Word;
  const last = run.at(-1) as Word;
  // The sentence's comma or full stop is set in the text's face, or with the last letter.
  const tail = isScript(last) ? '' : (/[,.;:]+$/.exec(last.text)?.[0] ?? '');
  const trimmed = tail === '' ? run : [...run.slice(0, -1), { ...last, text: last.text.slice(0, -tail.length) }];
  const box = boundingBox(run.map((word) => word.box));
  const latex = formulaLatex(
    trimmed,
    bars.filter((bar) => bar.start > box.x0 - 2 && bar.end < box.x1 + 2),
  );
  return { ...first, text: chunkText(run), latex: { body: latex, tail }, box, superscript: false };
}
