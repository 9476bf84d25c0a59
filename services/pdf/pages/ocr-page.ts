// Sends one page to the OCR service and turns what comes back into the page model, so that one layout serves both.
import type { JobContext, OcrJob, OcrLine, OcrPage, OcrWord, PixelBox } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { area } from '../source/geometry.ts';
import type { GreyImage, PageContent, Ruling, TextStyle, Word } from '../source/page-model.ts';
import type { PageSource } from '../source/page-source.ts';
import { PageAbandonedError } from './reading-time.ts';

/** Resolution of a page that is no scan. */
export const DEFAULT_DPI = 200;
/** The most that a scan is rendered at: more reads no better. */
const MAX_DPI = 400;
/** An image that covers this much of a page is its scan. */
const SCAN_SHARE = 0.8;
/** Share of the type size between baseline and ascender. */
const ASCENDER = 0.72;
/** Line heights this close to the page's usual one are noise of the measurement. */
const SAME_SIZE = 0.18;

/** How the pages of one document reach the OCR service. */
export interface OcrClient {
  context: JobContext;
  /** Empty for the languages of the server. */
  languages: readonly string[];
  /** Aborted when no more pages are sent, and those on their way are not waited for. */
  over: AbortSignal;
}

interface RecognizedPage {
  content: PageContent;
  confidence: number;
  /** The rendered image, in its final rotation, px; of an image file, its own pixels. */
  width: number;
  height: number;
  /** A part of the image could not be decoded. */
  damaged: boolean;
}

/**
 * The scan's own resolution where the page is one image (never more: made-up pixels read worse), else a usual one; lower where the page would
 * pass DOCUMENT_LIMITS.ocrPagePixels.
 */
export function ocrResolution(page: PageContent): number {
  const pageArea = page.width * page.height;
  const scan = page.images.find((image) => area(image.box) > pageArea * SCAN_SHARE && image.pixelWidth > 0);
  // By areas, since a turned page shows the image's width as its height.
  const own = scan ? Math.sqrt((scan.pixelWidth * scan.pixelHeight) / area(scan.box)) * 72 : DEFAULT_DPI;
  return Math.min(MAX_DPI, own, mostDpi(page));
}

export function mostDpi(page: PageContent): number {
  return Math.sqrt(DOCUMENT_LIMITS.ocrPagePixels / Math.max(1, page.width * page.height)) * 72;
}

/**
 * @param started called when a worker takes the page
 * @throws ParseError what the OCR service answered; PageUnreadableError where the page cannot be rendered; PageAbandonedError
 */
export async function recognizePage(
  source: PageSource,
  page: PageContent,
  ocr: OcrClient,
  started: () => void,
): Promise<RecognizedPage> {
  const { dpi, damaged, answer } = sendImage(
    await source.renderGrey(page.index, ocrResolution(page)),
    page,
    ocr,
    started,
  );
  const { reply } = await answer;
  const own = page.pixels && reply.rotation % 180 !== 0 ? swapSides(page.pixels) : page.pixels;
  return {
    content: ocrContent(page, reply, dpi),
    confidence: reply.confidence,
    width: own?.width ?? reply.width,
    height: own?.height ?? reply.height,
    damaged,
  };
}

/**
 * Puts an image on the bus. Nothing that is given back holds its pixels: many pages wait at once.
 * @param rotation by which the image is to be turned; found out where it is not given
 * @throws PageAbandonedError
 */
export function sendImage(
  image: GreyImage,
  page: PageContent,
  { context, languages, over }: OcrClient,
  started: () => void,
  rotation?: OcrPage['rotation'],
) {
  if (over.aborted) throw new PageAbandonedError();
  const { width, height, dpi, damaged = false } = image;
  const job: OcrJob = {
    kind: 'ocr',
    requestId: context.requestId,
    pageNumber: page.index + 1,
    width,
    height,
    dpi: Math.round(dpi),
    languages: [...languages],
    ...(rotation === undefined ? {} : { rotation }),
  };
  return { dpi, damaged, answer: unlessOver(context.call<OcrPage>('ocr', job, image.pixels, started), over) };
}

/** Waits for an answer until the time is over. @throws PageAbandonedError */
function unlessOver<Answer>(answer: Promise<Answer>, over: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const abandon = (): void => reject(new PageAbandonedError());
    over.addEventListener('abort', abandon, { once: true });
    const leave = (): void => over.removeEventListener('abort', abandon);
    answer.then(resolve, reject).then(leave, leave);
  });
}

const swapSides = ({ width, height }: { width: number; height: number }) => ({ width: height, height: width });

/** The page model of recognized words. */
export function ocrContent(page: PageContent, ocr: OcrPage, dpi: number): PageContent {
  const scale = 72 / dpi;
  const heights = ocr.lines.flatMap((line) => line.words.map(() => line.height)).sort((a, b) => a - b);
  const usual = heights[heights.length >> 1] ?? 0;
  const styles = new Map<number, TextStyle>();
  const uprights = (ocr.rulings ?? []).filter(([x0, y0, x1, y1]) => y1 - y0 > x1 - x0);
  const words: Word[] = [];
  ocr.lines.forEach((line, number) => {
    const place = { block: line.block ?? 0, line: number };
    const height = Math.abs(line.height - usual) <= usual * SAME_SIZE ? usual : line.height;
    const size = Math.max(1, Math.round((height / ASCENDER) * scale * 2) / 2);
    let style = styles.get(size);
    if (!style) {
      style = { font: '', size, bold: false, italic: false, monospace: false, color: 0 };
      styles.set(size, style);
    }
    const baseline = baselineOf(line) * scale;
    for (const word of line.words.flatMap((one) => cutAtRuling(one, uprights))) {
      const text = withoutRulings(word, uprights);
      if (text === '') continue;
      words.push({
        text,
        box: {
          x0: word.box[0] * scale,
          x1: word.box[2] * scale,
          y0: baseline - size * 0.78,
          y1: baseline + size * 0.22,
        },
        baseline,
        style,
        direction: 0,
        spaceBefore: true,
        invisible: false,
        index: words.length,
        confidence: word.confidence,
        place,
      });
    }
  });
  const turned = ocr.rotation !== 0;
  const drawn = ocr.rulings?.map((box) => toRuling(box, scale)) ?? [];
  return {
    ...page,
    width: ocr.width * scale,
    height: ocr.height * scale,
    words,
    ...(ocr.skew === undefined ? {} : { skew: ocr.skew }),
    rulings: drawn.length > 0 || turned ? drawn : page.rulings,
    slants: turned ? [] : page.slants,
    regions: turned ? [] : page.regions,
    // OCR reads bullets as letters.
    marks: [],
    images: turned ? [] : page.images,
    glyphs: words.reduce((sum, word) => sum + word.text.length, 0),
    unmappedGlyphs: 0,
  };
}

/** y on which a line's letters stand: the foot of its words that no letter or comma hangs below, in pixels. */
function baselineOf(line: OcrLine): number {
  const feet = line.words
    .filter((word) => /^[^gjpqyQJ,;()[\]{}|/_]*$/.test(word.text) && /[\p{L}\p{N}]/u.test(word.text))
    .map((word) => word.box[3])
    .sort((a, b) => a - b);
  return feet[feet.length >> 1] ?? line.box[1] + line.height;
}

function toRuling([x0, y0, x1, y1]: PixelBox, scale: number): Ruling {
  const horizontal = x1 - x0 >= y1 - y0;
  const [start, end, near, far] = horizontal ? [x0, x1, y0, y1] : [y0, y1, x0, x1];
  return {
    horizontal,
    at: ((near + far) / 2) * scale,
    start: start * scale,
    end: end * scale,
    thickness: (far - near) * scale,
    color: 0,
  };
}

/** A word that was read across a table's ruling, as the two of its cells; the stroke in it that was the ruling is left out. */
function cutAtRuling(word: OcrWord, uprights: readonly PixelBox[]): OcrWord[] {
  const [x0, y0, x1, y1] = word.box;
  const height = y1 - y0;
  const ruling = uprights.find(
    (one) => one[0] > x0 + height * 0.3 && one[2] < x1 - height * 0.3 && one[1] <= y0 + 2 && one[3] >= y1 - 2,
  );
  if (!ruling) return [word];
  const share = ((ruling[0] + ruling[2]) / 2 - x0) / (x1 - x0);
  const expected = share * word.text.length - 0.5;
  let stroke = -1;
  for (let n = 1; n + 1 < word.text.length; n++)
    if (
      /[|\u00a6/\\!l1I[\](){}]/.test(word.text[n] ?? '') &&
      Math.abs(n - expected) <= 1.2 &&
      (stroke < 0 || Math.abs(n - expected) < Math.abs(stroke - expected))
    )
      stroke = n;
  if (stroke < 0) return [word];
  return [
    { ...word, text: word.text.slice(0, stroke), box: [x0, y0, ruling[0], y1] },
    { ...word, text: word.text.slice(stroke + 1), box: [ruling[2], y0, x1, y1] },
  ];
}

/** How far a stroke may miss the ruling that it was read from, as a share of the word's height. */
const STROKE_MISS = 0.35;

/** The word without the strokes at its ends that are rulings of a table, read as letters. */
function withoutRulings(word: OcrWord, uprights: readonly PixelBox[]): string {
  const text = word.text.trim();
  const near = (word.box[3] - word.box[1]) * STROKE_MISS;
  const hasRuling = (x: number) =>
    uprights.some(
      ([x0, y0, x1, y1]) => x > x0 - near && x < x1 + near && y0 < word.box[3] - near && y1 > word.box[1] + near,
    );
  if (/^[|\u00a6\u2016!lI[\](){}]{1,2}$/.test(text))
    return hasRuling((word.box[0] + word.box[2]) / 2) && word.box[2] - word.box[0] < near * 2 ? '' : text;
  let kept = text;
  if (/^[|\u00a6\u2016[\]{}]/.test(kept) && hasRuling(word.box[0])) kept = kept.slice(1);
  if (/[|\u00a6\u2016[\]{}]$/.test(kept) && hasRuling(word.box[2])) kept = kept.slice(0, -1);
  return kept.trim();
}
