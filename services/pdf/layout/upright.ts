// Turns a page whose text mostly runs sideways (a landscape table on a portrait page), so that layout always sees upright text.
import { type Box, type QuarterTurn, tiltBox, turnBox } from '../source/geometry.ts';
import type { PageContent, Word } from '../source/page-model.ts';

export interface UprightPage {
  page: PageContent;
  /** Clockwise turn that made it upright. */
  turn: QuarterTurn;
  /** Words that do not read upright even so. */
  sideways: Word[];
  toDisplayed(box: Box): Box;
}

export function makeUpright(page: PageContent): UprightPage {
  const upright = turnUpright(page);
  const { skew, width, height } = page;
  if (skew === undefined) return upright;
  // OCR read the page straightened; its blocks are shown where they lie.
  return { ...upright, toDisplayed: (box) => tiltBox(upright.toDisplayed(box), skew, width, height) };
}

function turnUpright(page: PageContent): UprightPage {
  const letters = new Map<QuarterTurn, number>();
  for (const word of page.words) letters.set(word.direction, (letters.get(word.direction) ?? 0) + word.text.length);
  let main: QuarterTurn = 0;
  for (const [direction, count] of letters) if (count > (letters.get(main) ?? 0)) main = direction;
  if (main === 0) {
    const sideways = page.words.filter((word) => word.direction !== 0);
    const upright =
      sideways.length === 0 ? page : { ...page, words: page.words.filter((word) => word.direction === 0) };
    return { page: upright, turn: 0, sideways, toDisplayed: (box) => box };
  }
  const turn = ((360 - main) % 360) as QuarterTurn;
  const { width, height } = page;
  const swap = turn === 90 || turn === 270;
  const turned = (box: Box) => turnBox(box, turn, width, height);
  const words = page.words.map((word) => ({
    ...word,
    box: turned(word.box),
    direction: ((word.direction + turn) % 360) as QuarterTurn,
  }));
  return {
    page: {
      ...page,
      width: swap ? height : width,
      height: swap ? width : height,
      words: words.filter((word) => word.direction === 0),
      rulings: page.rulings.map((line) => {
        const box = turned(
          line.horizontal
            ? { x0: line.start, x1: line.end, y0: line.at, y1: line.at }
            : { x0: line.at, x1: line.at, y0: line.start, y1: line.end },
        );
        const horizontal = swap ? !line.horizontal : line.horizontal;
        return {
          ...line,
          horizontal,
          at: horizontal ? box.y0 : box.x0,
          start: horizontal ? box.x0 : box.y0,
          end: horizontal ? box.x1 : box.y1,
        };
      }),
      slants: [],
      regions: page.regions.map((region) => ({ ...region, box: turned(region.box) })),
      images: page.images.map((image) => ({ ...image, box: turned(image.box) })),
    },
    turn,
    sideways: words.filter((word) => word.direction !== 0),
    toDisplayed: (box) => turnBox(box, main, swap ? height : width, swap ? width : height),
  };
}

/** Sideways words, each direction as upright text of its own: their lines in reading order. */
export function readSideways(
  words: readonly Word[],
  width: number,
  height: number,
): { direction: QuarterTurn; words: Word[] }[] {
  const groups = new Map<QuarterTurn, Word[]>();
  for (const word of words) {
    const turn = ((360 - word.direction) % 360) as QuarterTurn;
    const group = groups.get(word.direction) ?? [];
    group.push({ ...word, box: turnBox(word.box, turn, width, height), direction: 0 });
    groups.set(word.direction, group);
  }
  return [...groups].map(([direction, group]) => ({ direction, words: group }));
}
