// Decides from a page's own content, and where that leaves a doubt from a look at it, whether its text layer is what a reader sees or OCR must read it.

import { area, type Box, boundingBox, centreInside, intersectionArea } from '../source/geometry.ts';
import type { PageContent, TextStyle, Word } from '../source/page-model.ts';
import type { PageSource } from '../source/page-source.ts';
import { findPrint, LOOK_DPI } from './print.ts';

/** Fewer glyphs, or words on less of the page, are a stamp, a watermark or a page number wherever more is to be seen. */
const FEW_GLYPHS = 60;
const SPARSE_SHARE = 0.03;
const PICTURE_SHARE = 0.55;
/** Drawn pieces that could be the outlines of a few words. */
const OUTLINES = 100;
/** Above this share of glyphs without a name the text is noise. */
const BROKEN_SHARE = 0.25;
/** A text layer with this share of words that no language writes was made by a bad OCR or a wrong table of characters; fewer words tell nothing. */
const GARBLED_SHARE = 0.5;
const WORDS_THAT_TELL = 12;
/** Letters that must be seen beside the text layer before it is doubted, at least and for each of its own glyphs. */
const UNTOLD_LETTERS = 40;
const UNTOLD_SHARE = 0.4;
/** A picture within a page of text is read where it shows as many letters. Smaller and coarser ones are ornaments; a larger one is the background. */
const FIGURE_LETTERS = 20;
const FIGURE_SHARE = [0.02, 0.75] as const;
const FIGURE_SIDE = 40;
const MOST_FIGURES = 40;
/** OCR's words count as read from here on. */
const SURE = 0.7;
/** OCR takes the place of a doubted text where it surely reads as many letters that the text does not have. */
const NEW_LETTERS = 12;
const NEW_SHARE = 0.25;

/**
 * `empty`: nothing is painted. `missing`, `broken`: certainly no text to use. `picture`, `garbled`: most likely none. `doubtful`: a look at the page
 * tells.
 */
export type TextVerdict = 'usable' | 'empty' | 'missing' | 'broken' | 'picture' | 'garbled' | 'doubtful';

export function judgeText(page: PageContent): TextVerdict {
  const pageArea = Math.max(1, page.width * page.height);
  if (page.words.length === 0) {
    if (page.objects === 0) return 'empty';
    return page.glyphs > 0 ? 'broken' : 'missing';
  }
  if (page.glyphs >= 20 && page.unmappedGlyphs > page.glyphs * BROKEN_SHARE) return 'broken';
  if (isGarbled(page.words)) return 'garbled';
  if (mostlyHidden(page)) return page.images.length > 0 ? 'doubtful' : 'usable';
  const visible = page.words.filter((word) => !word.invisible);
  const few = distinctLetters(visible) < FEW_GLYPHS;
  const covered = visible.reduce((sum, word) => sum + area(word.box), 0) / pageArea;
  const pictured = page.images.reduce((sum, image) => sum + area(image.box), 0) / pageArea;
  if (few && pictured > PICTURE_SHARE) return 'picture';
  const more = page.images.length > 0 || (page.segments ?? page.objects) >= OUTLINES;
  return (few || covered < SPARSE_SHARE) && more ? 'doubtful' : 'usable';
}

function mostlyHidden(page: PageContent): boolean {
  let balance = 0;
  for (const word of page.words) balance += word.invisible ? word.text.length : -word.text.length;
  return balance > 0;
}

/** Letters of the words, each counted once: a watermark says the same many times. */
function distinctLetters(words: readonly Word[]): number {
  return [...new Set(words.map((word) => word.text))].reduce((sum, text) => sum + text.length, 0);
}

/** What nearly all words of a page are, told at one look: no mark of garbling below can be true of them. */
const PLAIN_WORD = /^[("']?[A-Z]?[a-z]*[aeiouy][a-z]*[.,;:)"'!?]?$/;

/** Whether most words are such as no language that is written with Latin letters has: marks and digits among letters, no vowels, capitals inside. */
function isGarbled(words: readonly Word[]): boolean {
  let told = 0;
  let odd = 0;
  for (const { text } of words) {
    if (text.length >= 2 && text.length <= 30 && PLAIN_WORD.test(text)) {
      told++;
      continue;
    }
    if (text.length < 2 || !/[A-Za-z\u00c0-\u024f]/.test(text) || /[^\u0000-\u024f\u2000-\u206f]/.test(text)) continue;
    told++;
    const core = text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
    const letters = core.replace(/[^\p{L}]/gu, '');
    const mixed = /\p{L}[^\p{L}\p{N}'\u2019.,:;/@&_\-\u2010-\u2015]+\p{L}|\p{Ll}\p{N}+\p{Ll}/u.test(core);
    const unsaid = letters.length >= 4 && /\p{Ll}/u.test(letters) && !/[aeiouyà-æè-ïò-öù-ýÿœ]/iu.test(letters);
    const jagged = /\p{Ll}\p{Lu}\p{Ll}*\p{Lu}|\p{Ll}{2}\p{Lu}{2}\p{Ll}/u.test(core);
    if (core === '' || mixed || unsaid || jagged) odd++;
  }
  return told >= WORDS_THAT_TELL && odd > told * GARBLED_SHARE;
}

/** What a page of mode auto is read from. */
export type Reading =
  | { from: 'text' }
  /** `certain`: whatever OCR reads counts; else it must read more than the text layer has. */
  | { from: 'ocr'; certain: boolean }
  /** The text layer, and what OCR reads in these pictures. */
  | { from: 'figures'; boxes: Box[] };

/** Chooses for one page. Renders it, coarsely, only where its content leaves a doubt. @throws what rendering throws */
export async function chooseReading(source: PageSource, page: PageContent): Promise<Reading> {
  const verdict = judgeText(page);
  if (verdict === 'empty') return { from: 'text' };
  if (verdict === 'missing' || verdict === 'broken') return { from: 'ocr', certain: true };
  if (verdict === 'picture' || verdict === 'garbled') return { from: 'ocr', certain: false };
  const figures = isUpright(page) ? figureBoxes(page) : [];
  if (verdict === 'usable' && figures.length === 0) return { from: 'text' };
  const image = await source.renderGrey(page.index, LOOK_DPI);
  const print = findPrint(
    image,
    dropHiddenText(page).words.map((word) => word.box),
  );
  const lettersIn = (box: Box) =>
    print.reduce((sum, line) => sum + (centreInside(line.box, box) ? line.letters : 0), 0);
  const read = figures.filter((box) => lettersIn(box) >= FIGURE_LETTERS);
  if (verdict === 'doubtful') {
    const outside = print.filter((line) => !read.some((box) => centreInside(line.box, box)));
    const untold = outside.reduce((sum, line) => sum + line.letters, 0);
    if (untold >= Math.max(UNTOLD_LETTERS, page.glyphs * UNTOLD_SHARE)) return { from: 'ocr', certain: false };
  }
  return read.length > 0 ? { from: 'figures', boxes: read } : { from: 'text' };
}

/** Pictures on a page that lies on its side are left alone: layout sees its text upright and them not. */
function isUpright(page: PageContent): boolean {
  let balance = 0;
  for (const word of page.words) balance += word.direction === 0 ? word.text.length : -word.text.length;
  return balance > 0;
}

/** The pictures of a page that are neither ornaments nor its background; strips and layers of one are one. */
function figureBoxes(page: PageContent): Box[] {
  const pageArea = Math.max(1, page.width * page.height);
  const boxes: Box[] = [];
  for (const { box } of page.images.slice(0, 400)) {
    if (area(box) > pageArea * FIGURE_SHARE[1]) continue;
    const near = boxes.findIndex((other) => intersectionArea(grow(other, 2), box) > 0);
    if (near < 0) boxes.push(box);
    else boxes[near] = boundingBox([boxes[near] as Box, box]);
  }
  return boxes
    .filter(
      (box) =>
        Math.min(box.x1 - box.x0, box.y1 - box.y0) >= FIGURE_SIDE &&
        area(box) >= pageArea * FIGURE_SHARE[0] &&
        area(box) <= pageArea * FIGURE_SHARE[1],
    )
    .slice(0, MOST_FIGURES);
}

const grow = (box: Box, by: number): Box => ({
  x0: box.x0 - by,
  y0: box.y0 - by,
  x1: box.x1 + by,
  y1: box.y1 + by,
});

/** Words that OCR is sure of. */
const sureWords = (words: readonly Word[]): Word[] =>
  words.filter((word) => (word.confidence ?? 0) >= SURE && /\p{L}{2}|\p{N}/u.test(word.text));

/** The words of the lines that OCR is sure of on the whole: what it reads from hatching and grids is unsure from end to end. */
export function sureLines(words: readonly Word[]): Word[] {
  const lines = new Map<number, Word[]>();
  for (const word of words) lines.set(word.place?.line ?? 0, [...(lines.get(word.place?.line ?? 0) ?? []), word]);
  return [...lines.values()].flatMap((line) => {
    const letters = line.reduce((sum, word) => sum + word.text.length, 0);
    const sure = line.reduce((sum, word) => sum + word.text.length * (word.confidence ?? 0), 0);
    return sureWords(line).length > 0 && sure >= letters * SURE ? line : [];
  });
}

/** Whether OCR surely reads so much that a doubted text layer lacks that it takes its place. */
export function readsMore(ocr: readonly Word[], text: readonly Word[]): boolean {
  const plain = (word: Word) => word.text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const known = new Map<string, number>();
  let own = 0;
  for (const word of text) {
    known.set(plain(word), (known.get(plain(word)) ?? 0) + 1);
    own += word.text.length;
  }
  let fresh = 0;
  for (const word of sureWords(ocr)) {
    const left = known.get(plain(word)) ?? 0;
    if (left > 0) known.set(plain(word), left - 1);
    else fresh += word.text.length;
  }
  return fresh >= Math.max(NEW_LETTERS, own * NEW_SHARE);
}

/** Hidden text under a scan is its text; hidden text beside visible text is no part of what a reader sees. */
export function dropHiddenText(page: PageContent): PageContent {
  if (!page.words.some((word) => word.invisible)) return page;
  if (mostlyHidden(page)) return calmHiddenStyles(page);
  return { ...page, words: page.words.filter((word) => !word.invisible) };
}

/** Sizes this close to the page's usual one are noise of the program that laid text under the scan. */
const SAME_SIZE = 0.3;

/** Hidden text has whatever face its maker had at hand: only its size says something, and that roughly. */
function calmHiddenStyles(page: PageContent): PageContent {
  const sizes = page.words.map((word) => word.style.size).sort((a, b) => a - b);
  const usual = sizes[sizes.length >> 1] ?? 10;
  const styles = new Map<number, TextStyle>();
  const words = page.words.map((word) => {
    if (!word.invisible) return word;
    const size = Math.abs(word.style.size - usual) <= usual * SAME_SIZE ? usual : word.style.size;
    const style = styles.get(size) ?? { font: '', size, bold: false, italic: false, monospace: false, color: 0 };
    styles.set(size, style);
    return { ...word, style };
  });
  return { ...page, words };
}
