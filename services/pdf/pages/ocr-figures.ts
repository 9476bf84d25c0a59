// Reads the pictures on a page of text by OCR: upright print, and the labels of charts that run up the page.
import type { OcrLine, OcrPage, OcrWord, PixelBox } from '#shared/contract/jobs.ts';
import { area, type Box, centreInside, intersectionArea } from '../source/geometry.ts';
import type { GreyImage, PageContent, ReadFigure, Word } from '../source/page-model.ts';
import type { PageSource } from '../source/page-source.ts';
import { DEFAULT_DPI, mostDpi, type OcrClient, ocrContent, sendImage } from './ocr-page.ts';
import { sureLines } from './text-quality.ts';

/** Pictures within a page are seldom finer than the screen; made larger they read a little better than as they are. */
const LEAST_FIGURE_DPI = 150;
/** A lone word in a picture is more often a misread line than a label. */
const FIGURE_WORDS = 2;

/**
 * What pictures on a page of text say, without what its text layer says there already: one image of the page goes to OCR in which nothing else is
 * left; once more turned, where lines in it run up or down the page.
 * @throws as `recognizePage`
 */
export async function readFigures(
  source: PageSource,
  page: PageContent,
  boxes: readonly Box[],
  ocr: OcrClient,
  started: () => void,
): Promise<ReadFigure[]> {
  const inside = page.images.filter(({ box }) => boxes.some((figure) => centreInside(box, figure)));
  const own = inside.map(({ box, pixelWidth, pixelHeight }) =>
    Math.sqrt((pixelWidth * pixelHeight) / Math.max(1, area(box))),
  );
  const resolution = Math.max(LEAST_FIGURE_DPI, Math.min(DEFAULT_DPI, Math.max(...own) * 72));
  const render = async (areas: readonly Box[]): Promise<GreyImage> => {
    const image = await source.renderGrey(page.index, Math.min(resolution, mostDpi(page)));
    leaveOnly(image, areas, page.words);
    return image;
  };
  const { dpi, answer } = sendImage(await render(boxes), page, ocr, started, 0);
  const { reply } = await answer;
  const upright = ocrContent(page, withLines(reply, lies), dpi);
  const words = sureLines(upright.words);
  const upwards = wordsOf(reply).filter((word) => !lies(word));
  if (upwards.length >= FIGURE_WORDS) {
    // The engine takes such lines for turned clockwise. Labels of charts most often run up the page, where they stand on their heads so.
    const down = onPage(page, { ...standing(reply), rotation: 270 }, dpi);
    const around = surroundings(upwards, boxes, 72 / dpi);
    const turned = sendImage(await render(around), page, ocr, () => undefined, 90);
    const up = onPage(page, withLines((await turned.answer).reply, lies), turned.dpi);
    words.push(...(letters(up) >= letters(down) ? up : down));
  }
  return boxes.flatMap((box) => {
    const found = words.filter((word) => centreInside(word.box, box));
    if (found.length < FIGURE_WORDS) return [];
    const drawn = upright.rulings.filter(({ horizontal, at, start, end }) =>
      centreInside(horizontal ? { x0: start, x1: end, y0: at, y1: at } : { x0: at, x1: at, y0: start, y1: end }, box),
    );
    return [{ box, words: found, rulings: drawn }];
  });
}

const wordsOf = ({ lines }: OcrPage): OcrWord[] => lines.flatMap((line) => line.words);
const letters = (words: readonly Word[]): number => words.reduce((sum, { text }) => sum + text.length, 0);
/** Whether a word runs from side to side, as far as its box can tell. */
const lies = ({ text, box: [x0, y0, x1, y1] }: OcrWord): boolean => text.length <= 2 || x1 - x0 >= y1 - y0;

/** How far around a standing word the rest of its line and the next lines are looked for, in its heights and widths. */
const ALONG = 3;
const ACROSS = 3;

/**
 * Where the rest of the lines that run up the page may be, in points: only this is read once more. Words that stand beside each other are the
 * labels of an axis, which has others from end to end.
 */
function surroundings(words: readonly OcrWord[], figures: readonly Box[], scale: number): Box[] {
  return words.map(({ box: [x0, y0, x1, y1] }) => {
    const [across, along] = [(x1 - x0) * ACROSS, (y1 - y0) * ALONG];
    const around = inPoints([x0 - across, y0 - along, x1 + across, y1 + along], scale);
    const beside = words.some(({ box }) => (box[0] > x1 || box[2] < x0) && box[1] < y1 && box[3] > y0);
    const figure = figures.find((one) => intersectionArea(one, around) > 0);
    return beside && figure ? { ...around, x0: figure.x0, x1: figure.x1 } : around;
  });
}

function inPoints([x0, y0, x1, y1]: PixelBox, scale: number): Box {
  return { x0: x0 * scale, x1: x1 * scale, y0: y0 * scale, y1: y1 * scale };
}

/** What was read, with the words that are asked for. */
function withLines(reply: OcrPage, wanted: (word: OcrWord) => boolean): OcrPage {
  const lines = reply.lines.flatMap((line): OcrLine[] => {
    const words = line.words.filter(wanted);
    return words.length === 0 ? [] : [{ ...line, words }];
  });
  return { ...reply, lines };
}

/** The words that run down the page, in the frame in which they lie: that of the page turned by 270 degrees. */
function standing(reply: OcrPage): OcrPage {
  const stand = ([x0, y0, x1, y1]: PixelBox): PixelBox => [y0, reply.width - x1, y1, reply.width - x0];
  const upright = withLines(reply, (word) => !lies(word));
  const lines = upright.lines.map((line) => {
    const box = stand(line.box);
    return {
      ...line,
      box,
      height: box[3] - box[1],
      words: line.words.map((word) => ({ ...word, box: stand(word.box) })),
    };
  });
  return { ...reply, width: reply.height, height: reply.width, lines };
}

/** The sure words of a turned reading, where they stand on the page; their lines and blocks follow those of the upright reading. */
function onPage(page: PageContent, reply: OcrPage, dpi: number): Word[] {
  const { width, height } = page;
  const back = ({ x0, y0, x1, y1 }: Box): Box =>
    reply.rotation === 90
      ? { x0: y0, x1: y1, y0: height - x1, y1: height - x0 }
      : { x0: width - y1, x1: width - y0, y0: x0, y1: x1 };
  return sureLines(ocrContent(page, reply, dpi).words).map((word) => ({
    ...word,
    box: back(word.box),
    ...(word.place ? { place: { block: word.place.block + TURNED, line: word.place.line + TURNED } } : {}),
  }));
}

/** More than an image has lines. */
const TURNED = 100_000;

/** Paints over everything outside the boxes, and over the words of the text layer inside them. */
function leaveOnly({ width, height, dpi, pixels }: GreyImage, boxes: readonly Box[], words: readonly Word[]): void {
  const scale = dpi / 72;
  const kept = new Uint8Array(width * height);
  const mark = (box: Box, value: number) => {
    const x0 = Math.max(0, Math.floor(box.x0 * scale));
    const x1 = Math.min(width, Math.ceil(box.x1 * scale));
    for (let y = Math.max(0, Math.floor(box.y0 * scale)); y < Math.min(height, Math.ceil(box.y1 * scale)); y++)
      if (x1 > x0) kept.fill(value, y * width + x0, y * width + x1);
  };
  for (const box of boxes) mark(box, 1);
  for (const word of words) if (!word.invisible) mark(word.box, 0);
  for (let at = 0; at < pixels.length; at++) if (kept[at] === 0) pixels[at] = 255;
}
