// Reads the doubtful cells of ruled tables once more, each alone and without its rulings: beside a stroke a lone digit is read as half a letter.
import type { PixelBox } from '#shared/contract/jobs.ts';
import type { Engine, ReadingOptions, ReadLine, ReadWord } from './engine.ts';
import { cutPatch, readPatches, sureness } from './patches.ts';
import { cropImage, type GreyImage, sampleGreys, splitGreys } from './pixels.ts';

/** Confidence below which a word in a cell is looked at again. */
const DOUBT = 0.8;
/** Cells that are read again on one page: a table that reads badly as a whole is a bad scan, which this does not mend. */
const MOST_CELLS = 200;
/** Room around the words of a line, as a share of its height. */
const MARGIN = 0.25;
/** Pixels beside a ruling that still have its grey. */
const BLUR = 2;

interface Cell {
  line: number;
  box: PixelBox;
}

/** Neighbouring cells of one line with the words that lie in them: a word that spans a ruling ties its cells together. */
interface Doubt {
  line: number;
  words: ReadWord[];
  cells: Cell[];
}

const centre = ({ box }: ReadWord) => (box[0] + box[2]) / 2;

/** The cells of a line: what lies between two rulings that run down beside it, clear of their ink. */
function cellsOf(line: ReadLine, number: number, rulings: readonly PixelBox[]): Cell[] {
  const boxes = line.words.map((word) => word.box);
  const top = Math.min(...boxes.map((box) => box[1]));
  const bottom = Math.max(...boxes.map((box) => box[3]));
  const middle = (top + bottom) / 2;
  const margin = (bottom - top) * MARGIN;
  const beside = rulings
    .filter(([x0, y0, x1, y1]) => y1 - y0 > x1 - x0 && y0 <= top + margin && y1 >= bottom - margin)
    .sort((a, b) => a[0] - b[0]);
  return beside.slice(1).flatMap((right, index) => {
    const left = beside[index]!;
    const [x0, x1] = [left[2] + BLUR, right[0] - BLUR];
    const across = rulings.filter((one) => one[2] - one[0] > one[3] - one[1] && one[0] < x1 && one[2] > x0);
    const above = across.filter((one) => one[3] <= middle).map((one) => one[3] + BLUR);
    const below = across.filter((one) => one[1] >= middle).map((one) => one[1] - BLUR);
    const [y0, y1] = [Math.max(top - margin, ...above), Math.min(bottom + margin, ...below)];
    return x1 - x0 >= 4 && y1 - y0 >= 4 ? [{ line: number, box: [x0, y0, x1, y1] as PixelBox }] : [];
  });
}

/** Which cells of a line must be read again, with all words that lie in them. */
function doubtsOf(line: ReadLine, number: number, rulings: readonly PixelBox[]): Doubt[] {
  if (line.words.every((word) => word.confidence >= DOUBT)) return [];
  const doubts: Doubt[] = [];
  for (const cell of cellsOf(line, number, rulings)) {
    const words = line.words.filter(({ box }) => Math.min(box[2], cell.box[2]) - Math.max(box[0], cell.box[0]) > BLUR);
    const last = doubts.at(-1);
    if (last && words.some((word) => last.words.includes(word))) {
      last.cells.push(cell);
      last.words.push(...words.filter((word) => !last.words.includes(word)));
    } else doubts.push({ line: number, words, cells: [cell] });
  }
  return doubts.filter(({ words, cells }) => {
    const [first, last] = [cells[0]!, cells.at(-1)!];
    // A word that reaches out of the table would lose its other half.
    return (
      words.some((word) => word.confidence < DOUBT) &&
      words.every((word) => centre(word) > first.box[0] && centre(word) < last.box[2])
    );
  });
}

/** The part of a cell that has ink; undefined where there is none. */
function inkOf(image: GreyImage, cell: PixelBox, limit: number): PixelBox | undefined {
  const crop = cropImage(image, cell);
  let [left, right] = [crop.width, -1];
  for (let y = 0, at = 0; y < crop.height; y++)
    for (let x = 0; x < crop.width; x++, at++)
      if (crop.pixels[at]! <= limit) {
        left = Math.min(left, x);
        right = Math.max(right, x);
      }
  if (right < 0) return undefined;
  const x = Math.max(0, Math.floor(cell[0]));
  return [Math.max(cell[0], x + left - BLUR), cell[1], Math.min(cell[2], x + right + 1 + BLUR), cell[3]];
}

/**
 * The lines with the words of doubtful cells as they read alone, where all of them read more surely so.
 * @param image upright and straightened.
 * @param rulings of that image.
 * @throws BudgetError
 */
export async function rereadCells(
  engine: Engine,
  image: GreyImage,
  lines: readonly ReadLine[],
  rulings: readonly PixelBox[],
  options: ReadingOptions,
): Promise<ReadLine[]> {
  const doubts = lines.flatMap((line, number) => doubtsOf(line, number, rulings));
  if (doubts.length === 0 || doubts.length > MOST_CELLS) return [...lines];
  const { threshold, light } = splitGreys(sampleGreys(image));
  const inks = doubts.map(({ cells }) =>
    cells.map(({ box }) => inkOf(image, box, threshold)).filter((box) => box !== undefined),
  );
  const boxes = inks.flat();
  if (boxes.length === 0) return [...lines];
  const patches = boxes.map((box) => cutPatch(image, box));
  const read = await readPatches(engine, patches, light, options);
  const replaced = lines.map((line) => [...line.words]);
  let next = 0;
  doubts.forEach(({ line, words }, index) => {
    const cells = inks[index]!.map(() => read[next++] ?? []);
    const fresh = cells.flat();
    // A cell with ink that reads as nothing was not read.
    if (cells.some((cell) => cell.length === 0) || sureness(fresh) <= sureness(words)) return;
    replaced[line] = [...replaced[line]!.filter((word) => !words.includes(word)), ...fresh].sort(
      (a, b) => a.box[0] - b.box[0],
    );
  });
  return lines.map((line, number) => ({ ...line, words: replaced[number]! }));
}
