// Tells print from what the engine made of marks: of a page's edge (its shadow, the bed of the scanner, the next page), and of specks.
import type { ReadLine } from './engine.ts';
import type { GreyImage } from './pixels.ts';

/** Mean confidence of words from which a line at the edge may be print all the same: a screenshot cuts close. */
const SURE = 0.7;

/**
 * The lines without those that lie wholly on an edge of the image and are not read surely.
 * @param touch pixels from the edge within which a box touches it.
 */
export function withoutEdgeMarks(
  lines: readonly ReadLine[],
  image: Pick<GreyImage, 'width' | 'height'>,
  touch: number,
): ReadLine[] {
  const atEdge = ({ box: [x0, y0, x1, y1] }: ReadLine['words'][number]) =>
    x0 <= touch || y0 <= touch || x1 >= image.width - touch || y1 >= image.height - touch;
  return lines.filter(({ words }) => {
    const sure = words.reduce((sum, word) => sum + word.confidence, 0) / Math.max(1, words.length);
    return sure >= SURE || !words.every(atEdge);
  });
}

/** Height of the lowest letters, of those that rise to the ascender, less what blur and thresholds take. */
const LETTER_SHARE = 0.35;

/** The lines without words of letters or figures that are lower than any letter of their line can be. */
export function withoutSpecks(lines: readonly ReadLine[]): ReadLine[] {
  return lines.flatMap((line) => {
    const words = line.words.filter(
      ({ text, box }) => !/[\p{L}\p{N}]/u.test(text) || box[3] - box[1] >= line.height * LETTER_SHARE,
    );
    if (words.length === line.words.length) return [line];
    return words.length === 0 ? [] : [{ ...line, words }];
  });
}
