// Creates synthetic pages in the form in which a PDF engine returns them, for unit tests of single layout and table rules.
import { layoutBatch } from '#services/pdf/convert.ts';
import { assembleBlocks } from '#services/pdf/layout/document.ts';
import type { Bookmark, PageContent, Ruling, TextStyle, Word } from '#services/pdf/source/page-model.ts';
import type { Draft, TableGrid } from '#services/pdf/text/blocks.ts';

export const PLAIN: TextStyle = { font: 'a', size: 10, bold: false, italic: false, monospace: false, color: 0 };
export const BOLD: TextStyle = { ...PLAIN, font: 'b', bold: true };
export const ITALIC: TextStyle = { ...PLAIN, font: 'i', italic: true };
export const MONO: TextStyle = { ...PLAIN, font: 'm', monospace: true };
export const sized = (size: number, style = PLAIN): TextStyle => ({ ...style, size });

let count = 0;

/** Words on the baseline `y`. Each letter is 5 points wide in every style. @param gap points between words */
export function line(x: number, y: number, text: string, style = PLAIN, gap = 5): Word[] {
  let at = x;
  return text.split(' ').map((part) => {
    const box = { x0: at, x1: at + part.length * 5, y0: y - style.size * 0.78, y1: y + style.size * 0.22 };
    at = box.x1 + gap;
    return {
      text: part,
      box,
      baseline: y,
      style,
      direction: 0,
      spaceBefore: true,
      invisible: false,
      index: count++,
    };
  });
}

const SAMPLE_WORDS =
  'the keeper counts every ship that passes between two bells of a watch and notes it in his long grey book of'.split(
    ' ',
  );

/** A line of prose with exactly this number of characters, without capitals and full stops. */
export function filled(letters: number, seed = 0): string {
  let text = SAMPLE_WORDS[seed % SAMPLE_WORDS.length] ?? '';
  for (let n = seed + 1; ; n++) {
    const word = SAMPLE_WORDS[n % SAMPLE_WORDS.length] ?? '';
    if (text.length + 1 + word.length + 2 > letters) break;
    text += ` ${word}`;
  }
  const rest = letters - text.length - 1;
  return rest > 0 ? `${text} ${'lamplights'.slice(0, rest)}` : text;
}

/** Lines of prose with 60 characters each, from x to x + 300. @param pace points between baselines */
export const prose = (x: number, y: number, lines: number, style = PLAIN, pace = 12): Word[] =>
  Array.from({ length: lines }, (_, n) => line(x, y + n * pace, filled(60, n * 3), style)).flat();

/** Points between the words of a cell, not wider than a space of the font. */
const CELL_SPACE = 3;

/** Rows of cells, each row on one baseline. An empty text creates no cell. */
export const rows = (
  xs: readonly number[],
  y: number,
  cells: readonly (readonly string[])[],
  pace = 14,
  style = PLAIN,
): Word[] =>
  cells.flatMap((row, n) =>
    row.flatMap((text, column) => (text === '' ? [] : line(xs[column] ?? 0, y + n * pace, text, style, CELL_SPACE))),
  );

export const rule = (at: number, start: number, end: number, thickness = 1): Ruling => ({
  horizontal: true,
  at,
  start,
  end,
  thickness,
  color: 0,
});

export const painted = (x0: number, y0: number, x1: number, y1: number, color = 0xeeeeff) => ({
  box: { x0, y0, x1, y1 },
  color,
});

export const kinds = (drafts: readonly Draft[]): string[] => drafts.map((draft) => draft.kind);

/** The texts of a table's cells by row. */
export const cellTexts = ({ grid }: { grid: TableGrid }): string[][] =>
  grid.rows.map((row) => row.map((cell) => cell.text));

/** The texts of the cells of each table, by table and row. */
export const grids = (drafts: readonly Draft[]): string[][][] =>
  drafts.flatMap((draft) => (draft.kind === 'table' ? [cellTexts(draft)] : []));

/** A page of 600 by 800 points. */
export function pageOf(words: Word[], more: Partial<PageContent> = {}): PageContent {
  return {
    index: 0,
    width: 600,
    height: 800,
    words,
    rulings: [],
    regions: [],
    images: [],
    objects: words.length,
    glyphs: 1,
    unmappedGlyphs: 0,
    ...more,
  };
}

export function draftPages(pages: readonly Word[][], more: Partial<PageContent> = {}): Draft[] {
  return layoutBatch(
    pages.map((words, index) => ({
      content: pageOf(words, { index, ...more }),
      source: 'native_text',
      status: 'ok',
      renderWidth: null,
      renderHeight: null,
    })),
    new Set(),
  );
}

export const texts = (words: Word[], more: Partial<PageContent> = {}): string[] =>
  draftPages([words], more).map((draft) => ('text' in draft ? draft.text : draft.kind));

/**
 * Each block of a document as `type html`. A block that continues the block before it starts with `+`. A running header, running footer or
 * page number starts with `~`.
 */
export function blocksOf(pages: readonly Word[][], bookmarks: readonly Bookmark[] = []): string[] {
  const frames = new Map(pages.map((_, index) => [index, { width: 600, height: 800, source: 'native_text' }]));
  const { pages: found } = assembleBlocks(draftPages(pages), frames, bookmarks, new Set());
  return [...found.values()]
    .flat()
    .map((one) => `${one.furniture ? '~' : ''}${one.continues === undefined ? '' : '+'}${one.type} ${one.html}`);
}
