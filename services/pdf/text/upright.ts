// Turns a page whose text mostly runs sideways (a landscape table on a portrait page, vertical Japanese) and mirrors one that reads from right to left, so that layout always sees upright text that begins at the left.
// Pages made by hand that need its rules: upright.test.ts; files that do are named where the rule stands.
import { type Box, type QuarterTurn, tiltBox, turnBox } from '../source/geometry.ts';
import { isRightToLeft } from '../source/glyph-text.ts';
import type { PageContent, Ruling, Word } from '../source/page-model.ts';
import { withBullets } from './bullets.ts';
import { withInitials } from './initials.ts';
import { withLetterBullets } from './letter-bullets.ts';

export interface UprightPage {
  page: PageContent;
  /** Clockwise turn that made it upright. */
  turn: QuarterTurn;
  /** Words that do not read upright even so. */
  sideways: Word[];
  toDisplayed(box: Box): Box;
}

export function makeUpright(page: PageContent): UprightPage {
  const upright = writeBullets(readForward(turnUpright(page)));
  const { skew, width, height } = page;
  if (skew === undefined) return upright;
  // OCR read the page straightened; its blocks are shown where they lie.
  return { ...upright, toDisplayed: (box) => tiltBox(upright.toDisplayed(box), skew, width, height) };
}

function writeBullets(upright: UprightPage): UprightPage {
  return { ...upright, page: withInitials(withLetterBullets(withBullets(upright.page))) };
}

function turnUpright(page: PageContent): UprightPage {
  const letters = new Map<QuarterTurn, number>();
  for (const word of page.words) letters.set(word.direction, (letters.get(word.direction) ?? 0) + word.text.length);
  let main: QuarterTurn = 0;
  for (const [direction, count] of letters) if (count > (letters.get(main) ?? 0)) main = direction;
  const turn = ((360 - main) % 360) as QuarterTurn;
  const { width, height } = page;
  const turned = mapPage(page, (box) => turnBox(box, turn, width, height));
  const words = turned.words.map((word) => ({
    ...word,
    direction: ((word.direction + turn) % 360) as QuarterTurn,
  }));
  const { x1, y1 } = turnBox({ x0: 0, y0: 0, x1: width, y1: height }, turn, width, height);
  return {
    page: { ...turned, width: x1, height: y1, words: words.filter((word) => word.direction === 0) },
    turn,
    sideways: words.filter((word) => word.direction !== 0),
    toDisplayed: (box) => turnBack(box, main, page),
  };
}

/** A box of the frame in which text of a direction reads upright, on the page on which it does not. */
export function turnBack(box: Box, direction: QuarterTurn, { width, height }: { width: number; height: number }): Box {
  return direction === 180 ? turnBox(box, 180, width, height) : turnBox(box, direction, height, width);
}

/** Everything on a page in another frame. */
function mapPage(page: PageContent, map: (box: Box) => Box): PageContent {
  const mapWords = (words: readonly Word[]) => words.map((word) => ({ ...word, box: map(word.box) }));
  const mapRulings = (rulings: readonly Ruling[]) =>
    rulings.map((line) => {
      const box = map(
        line.horizontal
          ? { x0: line.start, x1: line.end, y0: line.at, y1: line.at }
          : { x0: line.at, x1: line.at, y0: line.start, y1: line.end },
      );
      return box.y0 === box.y1
        ? { ...line, horizontal: true, at: box.y0, start: box.x0, end: box.x1 }
        : { ...line, horizontal: false, at: box.x0, start: box.y0, end: box.y1 };
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
    marks: page.marks?.map((mark) => ({ ...mark, box: map(mark.box) })),
    drawings: page.drawings?.map((one) => ({ ...one, box: map(one.box) })),
    figures: page.figures?.map((figure) => ({
      box: map(figure.box),
      words: mapWords(figure.words),
      rulings: mapRulings(figure.rulings),
    })),
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
  const mirrored = mapPage(page, mirror);
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
