// Writes what annotations show without letters of their own as words of the page: ticks of a form, notes that leave their picture to the viewer.
import { type Box, centreInside } from './geometry.ts';
import { isRightToLeft } from './glyph-text.ts';
import type { TextStyle, Word } from './page-model.ts';

/** A box or button of a form, in the displayed frame. */
interface Tick {
  box: Box;
  checked: boolean;
}

/** Free text without a picture of its own, or the name of a file; `size` in points. */
export interface Note {
  box: Box;
  text: string;
  size: number;
}

export type Shown = Tick | Note;

/** Least and greatest type of a tick's sign, in points. */
const LEAST_TICK = 4;
const GREATEST_TICK = 14;
/** Distance of a note's baselines, in type sizes. */
const LEADING = 1.2;

/**
 * The words of a page and after them those of its annotations (fixtures/pdf/form-filled-noted.pdf). A sign that a field's own picture has in its box
 * is left out: each producer takes another.
 */
export function withAnnotations(words: Word[], shown: readonly Shown[]): Word[] {
  if (shown.length === 0) return words;
  const ticks = shown.filter((one) => 'checked' in one);
  const all = words.filter((word) => word.text.length > 1 || !ticks.some(({ box }) => centreInside(word.box, box)));
  let index = (words.at(-1)?.index ?? -1) + 1;
  const styles = new Map<number, TextStyle>();
  const add = (text: string, box: Box, size: number) => {
    const style = styles.get(size) ?? { font: '', size, bold: false, italic: false, monospace: false, color: 0 };
    styles.set(size, style);
    const baseline = box.y1 - size * 0.22;
    all.push({ text, box, baseline, style, direction: 0, spaceBefore: true, invisible: false, index: index++ });
  };
  for (const one of shown) {
    if (!('checked' in one)) {
      for (const { text, box } of setNote(one)) add(text, box, one.size);
      continue;
    }
    const height = one.box.y1 - one.box.y0;
    add(one.checked ? '☑' : '☐', one.box, Math.round(Math.min(GREATEST_TICK, Math.max(LEAST_TICK, height))));
  }
  return all;
}

/** Sets a note's words into its box, line by line, by the usual widths of their letters. */
function setNote({ box, text, size }: Note): { text: string; box: Box }[] {
  const placed: { text: string; box: Box }[] = [];
  const backwards = isRightToLeft(/\p{L}/u.exec(text)?.[0].codePointAt(0) ?? 0);
  let y = box.y0;
  for (const line of text.split(/\r\n|[\r\n]/)) {
    let x = box.x0;
    for (const word of line.split(/\s+/).filter((one) => one !== '')) {
      const width = [...word].reduce((sum, letter) => sum + (letter >= '\u2e80' ? 1 : 0.5), 0) * size;
      if (x > box.x0 && x + width > box.x1) {
        x = box.x0;
        y += size * LEADING;
      }
      const from = backwards ? box.x0 + box.x1 - x - width : x;
      placed.push({ text: word, box: { x0: from, x1: from + width, y0: y, y1: y + size } });
      x += width + size * 0.25;
    }
    y += size * LEADING;
  }
  return placed;
}
