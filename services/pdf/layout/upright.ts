// Turns a page whose text mostly runs sideways (a landscape table on a portrait page, vertical Japanese) and mirrors one that reads from right to left, so that layout always sees upright text that begins at the left.
import { type Box, type QuarterTurn, tiltBox, turnBox } from '../source/geometry.ts';
import { isRightToLeft } from '../source/glyph-text.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';

export interface UprightPage {
  page: PageContent;
  /** Clockwise turn that made it upright. */
  turn: QuarterTurn;
  /** Words that do not read upright even so. */
  sideways: Word[];
  toDisplayed(box: Box): Box;
}

export function makeUpright(page: PageContent): UprightPage {
  const upright = readForward(turnUpright(page));
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
  const turned = mapPage(page, swap, (box) => turnBox(box, turn, width, height));
  const words = turned.words.map((word) => ({
    ...word,
    direction: ((word.direction + turn) % 360) as QuarterTurn,
  }));
  return {
    page: {
      ...turned,
      width: swap ? height : width,
      height: swap ? width : height,
      words: words.filter((word) => word.direction === 0),
    },
    turn,
    sideways: words.filter((word) => word.direction !== 0),
    toDisplayed: (box) => turnBox(box, main, swap ? height : width, swap ? width : height),
  };
}

/** Everything on a page in another frame. @param swap across becomes down */
function mapPage(page: PageContent, swap: boolean, map: (box: Box) => Box): PageContent {
  const mapWords = (words: readonly Word[]) => words.map((word) => ({ ...word, box: map(word.box) }));
  const mapRulings = (rulings: readonly Ruling[]) =>
    rulings.map((line) => {
      const box = map(
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
    });
  const slants: number[] = [];
  for (let n = 0; n + 1 < (page.slants?.length ?? 0); n += 2) {
    const [x = 0, y = 0] = page.slants?.slice(n, n + 2) ?? [];
    const point = map({ x0: x, x1: x, y0: y, y1: y });
    slants.push(point.x0, point.y0);
  }
  return {
    ...page,
    words: mapWords(page.words),
    rulings: mapRulings(page.rulings),
    regions: page.regions.map((region) => ({ ...region, box: map(region.box) })),
    images: page.images.map((image) => ({ ...image, box: map(image.box) })),
    slants,
    ...(page.drawings && { drawings: page.drawings.map((one) => ({ ...one, box: map(one.box) })) }),
    ...(page.figures && {
      figures: page.figures.map((figure) => ({
        box: map(figure.box),
        words: mapWords(figure.words),
        rulings: mapRulings(figure.rulings),
      })),
    }),
  };
}

/** A page of which most letters read from right to left, in a mirror: columns, indents and tables begin at the left there (fixtures/pdf/right-to-left.pdf). */
function readForward(upright: UprightPage): UprightPage {
  const { page, sideways, toDisplayed } = upright;
  let letters = 0;
  let backwards = 0;
  for (const { text } of page.words) {
    letters += text.length;
    if (isRightToLeft(text.charCodeAt(0))) backwards += text.length;
  }
  if (backwards * 2 <= letters) return upright;
  const mirror = (box: Box): Box => ({ x0: page.width - box.x1, x1: page.width - box.x0, y0: box.y0, y1: box.y1 });
  const mirrored = mapPage(page, false, mirror);
  return {
    ...upright,
    page: { ...mirrored, words: mirrored.words.map((word) => ({ ...word, mirrored: true })) },
    sideways: sideways.map((word) => ({ ...word, box: mirror(word.box) })),
    toDisplayed: (box) => toDisplayed(mirror(box)),
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
