// Tells what the engine made of a page's edge (its shadow, the bed of the scanner, the next page) from print, which stands inside of it.
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
