// Finds the large letter that begins a text and reaches down beside its first lines: the engine reads it with none of them.
import type { PixelBox } from '#shared/contract/jobs.ts';
import type { ReadLine, ReadWord } from './engine.ts';
import type { Patch } from './patches.ts';
import { cropImage, type GreyImage } from './pixels.ts';

/** Heights of the line's letters: how high such a letter is, how far its line may be from it, how much its top may differ. */
const CAP_HEIGHT = [1.6, 8] as const;
const CAP_DISTANCE = 1.2;
const CAP_TOP = 0.7;
/** A letter's width, in its own height: what is narrower is a rule or a bracket. */
const CAP_WIDTH = [0.2, 1.8] as const;
/** Words of the line that are read with it, so that the engine has a text to go by. */
const COMPANY = 3;
/** Height of capitals, in that of ascenders. */
const CAPITALS = 0.93;

export interface DropCap {
  line: ReadLine;
  /** Of the large letter. */
  box: PixelBox;
  /** Words of the line that are in the patch behind the letter. */
  words: ReadWord[];
  patch: Patch;
}

/** y on which the words of a line stand: the foot of those of its height that no letter hangs below. */
export function baselineOf({ words, box, height }: ReadLine): number {
  const even = words.filter((word) => word.box[3] - word.box[1] < height * CAP_HEIGHT[0]);
  const standing = even.filter((word) => /^[^gjpqyQJ,;()[\]{}|/_]*$/.test(word.text));
  const feet = [standing, even, words].find((some) => some.length > 0)?.map((word) => word.box[3]) ?? [];
  return feet.sort((a, b) => a - b)[feet.length >> 1] ?? box[3];
}

/** The large letters of a page, each beside the first of its lines. */
export function findDropCaps(image: GreyImage, lines: readonly ReadLine[], limit: number, paper: number): DropCap[] {
  return lines.flatMap((line) => {
    const { height } = line;
    const words = line.words.filter(({ box }) => box[3] - box[1] < height * CAP_HEIGHT[0]);
    const [first] = words;
    if (!first || height < 6) return [];
    const baseline = baselineOf(line);
    const box = tallInkBefore(image, first.box[0], baseline, height, limit);
    if (!box) return [];
    const company = words.slice(0, COMPANY);
    const end = Math.max(...company.map((word) => word.box[2]));
    const text: PixelBox = [first.box[0] - 1, baseline - height * 1.15, end + height * 0.3, baseline + height * 0.4];
    const patch = setBefore(cropImage(image, box), image, text, baseline, height * CAPITALS, paper);
    return [{ line, box, words: company, patch }];
  });
}

/** The box of the piece of ink that ends shortly before `x`, where it begins at the height of the line and hangs below it. */
function tallInkBefore(
  { width, height: rows, pixels }: GreyImage,
  x: number,
  baseline: number,
  height: number,
  limit: number,
): PixelBox | undefined {
  const top = Math.max(0, Math.floor(baseline - height * 2));
  const bottom = Math.min(rows, Math.ceil(baseline + height * CAP_HEIGHT[1]));
  const left = Math.max(0, Math.floor(x - height * CAP_HEIGHT[1]));
  const isInk = (column: number, row: number) => pixels[row * width + column]! <= limit;
  let start: [number, number] | undefined;
  for (let column = x - 2; !start && column >= Math.max(left, x - height * CAP_DISTANCE); column--)
    for (let row = Math.max(top, Math.floor(baseline - height * 0.9)); !start && row < Math.min(rows, baseline); row++)
      if (isInk(column, row)) start = [column, row];
  if (!start) return undefined;
  const seen = new Set<number>();
  const open = [start];
  let [x0, y0, x1, y1] = [start[0], start[1], start[0] + 1, start[1] + 1];
  for (let one = open.pop(); one; one = open.pop()) {
    const [column, row] = one;
    // What reaches the words or the end of the field is no letter beside them.
    if (column <= left || column >= x || row <= top || row >= bottom - 1) return undefined;
    if (seen.has(row * width + column) || !isInk(column, row)) continue;
    seen.add(row * width + column);
    [x0, y0, x1, y1] = [Math.min(x0, column), Math.min(y0, row), Math.max(x1, column + 1), Math.max(y1, row + 1)];
    open.push([column - 1, row], [column + 1, row], [column, row - 1], [column, row + 1]);
  }
  const [wide, high] = [x1 - x0, y1 - y0];
  const fits =
    high >= height * CAP_HEIGHT[0] &&
    Math.abs(y0 - (baseline - height)) <= height * CAP_TOP &&
    wide >= high * CAP_WIDTH[0] &&
    wide <= high * CAP_WIDTH[1];
  return fits ? [x0, y0, x1, y1] : undefined;
}

/** A letter made as high as the capitals of the text that it is set before. */
function setBefore(
  letter: GreyImage,
  image: GreyImage,
  text: PixelBox,
  baseline: number,
  capital: number,
  paper: number,
): Patch {
  const behind = cropImage(image, text);
  const [left, top] = [Math.max(0, Math.floor(text[0])), Math.max(0, Math.floor(text[1]))];
  const scale = letter.height / capital;
  const high = Math.max(1, Math.round(capital));
  const wide = Math.max(1, Math.round(letter.width / scale));
  const width = wide + behind.width;
  const pixels = new Uint8Array(width * behind.height).fill(Math.round(paper));
  const foot = Math.round(baseline) - top;
  for (let y = 0; y < high; y++) {
    const target = foot - high + y;
    if (target < 0 || target >= behind.height) continue;
    for (let x = 0; x < wide; x++)
      pixels[target * width + x] = meanOf(letter, x * scale, y * scale, (x + 1) * scale, (y + 1) * scale);
  }
  for (let y = 0; y < behind.height; y++)
    pixels.set(behind.pixels.subarray(y * behind.width, (y + 1) * behind.width), y * width + wide);
  return { image: { width, height: behind.height, pixels }, x: left - wide, y: top };
}

function meanOf({ width, height, pixels }: GreyImage, x0: number, y0: number, x1: number, y1: number): number {
  let sum = 0;
  let count = 0;
  for (let y = Math.floor(y0); y < Math.min(height, Math.ceil(y1)); y++)
    for (let x = Math.floor(x0); x < Math.min(width, Math.ceil(x1)); x++) {
      sum += pixels[y * width + x]!;
      count++;
    }
  return count === 0 ? 255 : sum / count;
}

/**
 * The words of a line with its large letter, where the patch says so: what follows the letter reads as it did before.
 * @returns undefined where it does not.
 */
export function withDropCap({ box, words }: DropCap, read: readonly ReadWord[]): ReadWord[] | undefined {
  const [first] = words;
  const whole = read[0];
  if (!first || !whole || !/^\p{L}/u.test(whole.text)) return undefined;
  const apart = [...whole.text].length === 1 && read[1]?.text === first.text;
  if (!apart && whole.text !== [...whole.text][0] + first.text) return undefined;
  // The letter is a part of the first word, which stays where its line is.
  const confidence = Math.min(first.confidence, whole.confidence);
  return apart
    ? [{ ...whole, box: [box[0], first.box[1], box[2], first.box[3]] }, first]
    : [{ ...first, text: whole.text, confidence }];
}
