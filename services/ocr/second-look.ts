// Looks once more at what the engine missed on a page: lines that it lost or mixed up, and the large letters that begin a text.
import type { PixelBox } from '#shared/contract/jobs.ts';
import { baselineOf, type DropCap, findDropCaps, withDropCap } from './drop-caps.ts';
import type { Engine, ReadingOptions, ReadLine, ReadWord } from './engine.ts';
import { findGaps, type Gap } from './gaps.ts';
import { cutPatch, lettersOf, readPatches, sureness } from './patches.ts';
import { type GreyImage, sampleGreys, splitGreys } from './pixels.ts';

/** Lines that are read again on one page: a page that reads badly as a whole is a bad scan, which this does not mend. */
const MOST_LINES = 40;
/** How surely a line must read that was not read before, how much more surely than what it replaces, and how much less where it says more. */
const SURE = 0.75;
const SURER = 0.02;
const LESS_SURE = 0.05;
/** Letters that a second reading must have of those of the first. */
const SAME_LENGTH = 0.6;
const LEAST_LETTERS = 4;
/** Width that a word must have to be the whole of another. */
const WHOLE = 0.9;

/**
 * The lines, with those that were missed.
 * @param image upright and straightened.
 * @param rulings of that image.
 * @throws BudgetError
 */
export async function lookAgain(
  engine: Engine,
  image: GreyImage,
  lines: readonly ReadLine[],
  rulings: readonly PixelBox[],
  options: ReadingOptions,
): Promise<ReadLine[]> {
  if (lines.length === 0) return [];
  const { threshold, light } = splitGreys(sampleGreys(image));
  const caps = findDropCaps(image, lines, threshold, light);
  // The stem of a large letter looks like a ruling.
  const inCap = ([x0, y0]: PixelBox) =>
    caps.some(({ box }) => x0 >= box[0] && x0 < box[2] && y0 >= box[1] && y0 < box[3]);
  const drawn = [...rulings.filter((box) => !inCap(box)), ...caps.map(({ box }) => box)];
  const gaps = findGaps(image, lines, threshold, drawn);
  const rows = gaps.flatMap((gap) => gap.rows);
  if (caps.length + rows.length === 0 || caps.length + rows.length > MOST_LINES) return [...lines];
  const patches = [...caps.map(({ patch }) => patch), ...rows.map(({ box }) => cutPatch(image, box))];
  const read = await readPatches(engine, patches, light, options);
  return fillGaps(setCaps(lines, caps, read), gaps, read.slice(caps.length));
}

function setCaps(lines: readonly ReadLine[], caps: readonly DropCap[], read: readonly ReadWord[][]): ReadLine[] {
  const replaced = new Map<ReadLine, ReadLine>();
  caps.forEach((cap, n) => {
    const words = withDropCap(cap, read[n] ?? []);
    const [first] = cap.words;
    if (!words || !first) return;
    // The letter by itself, where it was read as a word of this line.
    const others = cap.line.words.filter(({ box }) => box[0] >= first.box[0] && box[0] !== first.box[0]);
    replaced.set(cap.line, { ...cap.line, words: [...words, ...others] });
  });
  return lines.map((line) => replaced.get(line) ?? line);
}

function fillGaps(lines: readonly ReadLine[], gaps: readonly Gap[], read: readonly ReadWord[][]): ReadLine[] {
  const filled = [...lines];
  let next = 0;
  for (const { block, height, rows } of gaps)
    for (const { line } of rows) {
      const again = read[next++] ?? [];
      const words = line ? bestOf(again, line.words) : again;
      if (line ? !saysMore(words, line.words) : sureness(words) < SURE || lettersOf(words) < LEAST_LETTERS) continue;
      const fresh: ReadLine = { box: boxOf(words), height, block, words };
      // A line that a large letter was set before is another object by now.
      const old = filled.findIndex((one) => line && one.box === line.box);
      if (old >= 0) filled[old] = fresh;
      else {
        const own = filled.filter((one) => one.block === block);
        const above = own.findLast((one) => baselineOf(one) < baselineOf(fresh));
        const place = above ? filled.indexOf(above) + 1 : filled.indexOf(own[0] as ReadLine);
        filled.splice(Math.max(0, place), 0, fresh);
      }
    }
  return filled;
}

/** The words of both readings of a line: in each place those that are surer, and those that one of them alone has where they are sure. */
function bestOf(fresh: readonly ReadWord[], old: readonly ReadWord[]): ReadWord[] {
  const over = (words: readonly ReadWord[], { box }: ReadWord) =>
    words.filter((word) => word.box[0] < box[2] && word.box[2] > box[0]);
  const chosen = fresh.flatMap((word) => {
    const [first, ...more] = over(old, word);
    if (!first) return word.confidence >= SURE ? [word] : [];
    if (more.length > 0 || over(fresh, first).length > 1) return [word];
    // Half a word may read more surely than the whole.
    const whole = first.box[2] - first.box[0] >= (word.box[2] - word.box[0]) * WHOLE;
    return whole && first.confidence > word.confidence ? [first] : [word];
  });
  const lost = old.filter((word) => word.confidence >= SURE && over(fresh, word).length === 0);
  return [...chosen, ...lost].sort((one, other) => one.box[0] - other.box[0]);
}

/** Whether a second reading of a line is to be believed more than the first. */
function saysMore(fresh: readonly ReadWord[], old: readonly ReadWord[]): boolean {
  const [sure, wasSure] = [sureness(fresh), sureness(old)];
  const [letters, were] = [lettersOf(fresh), lettersOf(old)];
  if (letters > were && sure >= Math.max(SURE, wasSure - LESS_SURE)) return true;
  return letters >= were * SAME_LENGTH && sure >= wasSure + SURER;
}

function boxOf(words: readonly ReadWord[]): PixelBox {
  const boxes = words.map((word) => word.box);
  return [
    Math.min(...boxes.map((box) => box[0])),
    Math.min(...boxes.map((box) => box[1])),
    Math.max(...boxes.map((box) => box[2])),
    Math.max(...boxes.map((box) => box[3])),
  ];
}
