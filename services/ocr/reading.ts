// Reads one page: puts it right (size, side, slope, head), has the engine read it once, and maps the result back to the page's own pixels.
import type { OcrLine, OcrPage, PixelBox } from '#shared/contract/jobs.ts';
import { rereadCells } from './cells.ts';
import { withoutEdgeMarks, withoutSpecks } from './edge-marks.ts';
import type { Engine, ReadingOptions, ReadLine } from './engine.ts';
import { meanConfidence, probe, sampleLines, weighWords } from './orientation.ts';
import {
  cropImage,
  enlargeImage,
  type GreyImage,
  type QuarterTurn,
  shrinkImage,
  tiltImage,
  turnBox,
  turnImage,
} from './pixels.ts';
import { findRulings } from './rulings.ts';
import { lookAgain } from './second-look.ts';
import { type Survey, surveyPage } from './survey.ts';

/** Radians below which straightening costs more than it gives (0.3 degrees). */
const SLOPE_WORTH = 0.005;
/** Sharpening of the profile below which a slope is not believed: print gains more the more it slopes, handwriting and drawings do not. */
const GAIN_WORTH = 1.08;
const GAIN_WORTH_PER_DEGREE = 0.8;
/** How much clearer lines down the page must be than lines across before it is turned. */
const SIDEWAYS_CLEAR = 1.5;
/** Standard errors at which word shapes say "on its head". */
const HEAD_DOUBT = -3;
/** Confidence below which other ways up are tried after the reading. */
const LOW_CONFIDENCE = 0.6;
/** How much better another way up must read, and how well at least: real print does. */
const CLEARLY_BETTER = 0.15;
const READS_AT_ALL = 0.5;
/** Processor time that a second look at a bad page may cost (a dense page takes 3,500 ms). */
const RETRY_CPU_MS = 5_000;
/** Pixels from line to line below which print is too small for the engine; it is brought near the pitch of 11 pt print at 200 dpi. */
const SMALL_PITCH = 17;
const USUAL_PITCH = 36;
const MOST_ENLARGED = 3;
/** Pixels that a page may have once it is enlarged. */
const ENLARGED_PIXELS = 24_000_000;
/** The engine reads no better above 300 dpi, only slower; and it takes no side over 32767 pixels. */
const ENOUGH_DPI = 500;
const LONGEST_SIDE = 30_000;
const SMALLEST_SIDE = 8;
/** Inches from the edge of the image within which a word lies on it. */
const EDGE_INCHES = 0.01;

interface Prepared {
  image: GreyImage;
  dpi: number;
  /** Pixels of this image for one of the page. */
  scale: number;
}

function fitScale(image: GreyImage, dpi: number): Prepared {
  const bySide = Math.ceil(Math.max(image.width, image.height) / LONGEST_SIDE);
  const factor = Math.max(bySide, dpi >= ENOUGH_DPI ? Math.floor(dpi / 250) : 1);
  return { image: shrinkImage(image, factor), dpi: dpi / factor, scale: 1 / factor };
}

function enlarge(prepared: Prepared, { pitch }: Survey): Prepared {
  if (pitch <= 0 || pitch >= SMALL_PITCH) return prepared;
  const { image, dpi, scale } = prepared;
  const room = Math.floor(Math.sqrt(ENLARGED_PIXELS / image.pixels.length));
  const factor = Math.min(MOST_ENLARGED, Math.round(USUAL_PITCH / pitch), room);
  return factor < 2 ? prepared : { image: enlargeImage(image, factor), dpi: dpi * factor, scale: scale * factor };
}

function believedSlope({ slope, gain }: Survey): number {
  const degrees = (Math.abs(slope) * 180) / Math.PI;
  return Math.abs(slope) >= SLOPE_WORTH && gain >= GAIN_WORTH + GAIN_WORTH_PER_DEGREE * Math.max(0, degrees - 0.4)
    ? slope
    : 0;
}

const addTurns = (a: QuarterTurn, b: QuarterTurn): QuarterTurn => ((a + b) % 360) as QuarterTurn;

/**
 * Reads a page.
 * @param page grey pixels as sent.
 * @param dpi their resolution.
 * @param rotation by which the page is to be turned; looked for where it is not given.
 * @returns lines in the frame of the page after `rotation` (and after `skew`, about the same centre).
 */
export async function readPage(engine: Engine, page: GreyImage, dpi: number, rotation?: QuarterTurn): Promise<OcrPage> {
  const empty: OcrPage = { width: page.width, height: page.height, rotation: 0, confidence: 0, lines: [] };
  if (page.width < SMALLEST_SIDE || page.height < SMALLEST_SIDE) return empty;
  const fitted = fitScale(page, dpi);
  const survey = surveyPage(fitted.image);
  if (survey.blank) return empty;
  const prepared = enlarge(fitted, survey);
  const slope = believedSlope(survey);
  const printed = survey.print.map((place) => (place * prepared.scale) / fitted.scale) as PixelBox;
  const reading = await readStraight(engine, prepared, survey, slope, printed, rotation);
  const swaps = reading.turn === 90 || reading.turn === 270;
  const size = swaps ? { width: page.height, height: page.width } : { width: page.width, height: page.height };
  const { image, options } = reading;
  const print = withoutSpecks(withoutEdgeMarks(reading.lines, image, Math.ceil(prepared.dpi * EDGE_INCHES)));
  const rulings = findRulings(image, prepared.dpi);
  const again = engine.unfit
    ? undefined
    : await engine.attempt(RETRY_CPU_MS, () => rereadCells(engine, image, print, rulings, options));
  const cells = again ?? print;
  const whole = engine.unfit
    ? undefined
    : await engine.attempt(RETRY_CPU_MS, () => lookAgain(engine, image, cells, rulings, options));
  const read = whole ?? cells;
  const frame = { ...size, scale: prepared.scale, left: reading.left, top: reading.top };
  const lines = read.map((line) => toPageLine(line, frame));
  return {
    ...size,
    rotation: reading.turn,
    ...(slope === 0 ? {} : { skew: (slope * 180) / Math.PI }),
    confidence: meanConfidence(read),
    lines,
    rulings: rulings.map((box) => placeBox(box, frame)).filter((ruling) => !runsThrough(ruling, lines)),
  };
}

/** Whether a line across the page is made of the letters of a line of text: blurred print has such strokes. */
function runsThrough(ruling: PixelBox, lines: readonly OcrLine[]): boolean {
  const length = ruling[2] - ruling[0];
  if (length < ruling[3] - ruling[1]) return false;
  const y = (ruling[1] + ruling[3]) / 2;
  let covered = 0;
  for (const line of lines) {
    if (y < line.box[1] || y > line.box[3]) continue;
    for (const { box } of line.words) {
      const edge = (box[3] - box[1]) * 0.1;
      if (y > box[1] + edge && y < box[3] - edge)
        covered += Math.max(0, Math.min(box[2], ruling[2]) - Math.max(box[0], ruling[0]));
    }
  }
  return covered > length * 0.4;
}

/** The page put on its feet as the survey sees it, straightened and read; read as it was sent where that reads badly (rulings may run down a page too). */
async function readStraight(
  engine: Engine,
  { image, dpi, scale }: Prepared,
  survey: Survey,
  slope: number,
  printed: PixelBox,
  rotation?: QuarterTurn,
): Promise<StraightReading> {
  const threshold = scale > 1 ? 'local' : 'global';
  const options: ReadingOptions = { dpi, layout: 'page', threshold };
  const read = async (side: QuarterTurn): Promise<StraightReading> => {
    const turned = turnImage(image, side);
    // Margins of paper cost as much to look at as print does.
    const cut = tiltBox(turnBox(printed, image, side), turned, slope);
    const straight = slope === 0 ? cropImage(turned, cut) : tiltImage(turned, -slope, cut);
    const reading =
      rotation === undefined
        ? await readRightWayUp(engine, straight, options)
        : { turn: 0 as const, lines: await engine.read(straight, options) };
    const [left, top] = turnBox(cut, turned, reading.turn);
    const upright = turnImage(straight, reading.turn);
    return { turn: addTurns(side, reading.turn), lines: reading.lines, image: upright, left, top, options };
  };
  if (rotation !== undefined) return read(rotation);
  if (survey.sideways < SIDEWAYS_CLEAR) return read(0);
  // A page on its side is more often turned clockwise than not; the wrong guess stands on its head, which is found.
  const lying = await read(270);
  const confidence = meanConfidence(lying.lines);
  if (confidence >= LOW_CONFIDENCE || engine.unfit) return lying;
  const standing = await read(0);
  return meanConfidence(standing.lines) > confidence ? standing : lying;
}

interface Reading {
  turn: QuarterTurn;
  lines: ReadLine[];
}

interface StraightReading extends Reading {
  /** The print of the page as its lines lie, upright and straightened. */
  image: GreyImage;
  /** Where it lies on the page, both as they were read. */
  left: number;
  top: number;
  options: ReadingOptions;
}

async function readTurned(
  engine: Engine,
  image: GreyImage,
  turn: QuarterTurn,
  options: ReadingOptions,
): Promise<Reading> {
  const lines = await engine.read(turnImage(image, turn), options);
  return settleSide({ turn, lines }, turn === 90 || turn === 270 ? image.height : image.width);
}

/**
 * The engine reads lines that run down a page (turned clockwise) by itself, and gives their boxes where it found them: such a reading is
 * mapped to the frame in which its lines lie.
 */
function settleSide({ turn, lines }: Reading, width: number): Reading {
  const boxes = lines.flatMap((line) => line.words.filter((word) => word.text.length > 2).map((word) => word.box));
  const tall = boxes.filter((box) => box[3] - box[1] > box[2] - box[0]).length;
  if (tall * 2 <= boxes.length) return { turn, lines };
  const stand = (box: PixelBox): PixelBox => [box[1], width - box[2], box[3], width - box[0]];
  const stood = lines.map((line) => ({
    ...line,
    box: stand(line.box),
    words: line.words.map((word) => ({ ...word, box: stand(word.box) })),
  }));
  return { turn: addTurns(turn, 270), lines: stood };
}

async function readRightWayUp(engine: Engine, image: GreyImage, options: ReadingOptions): Promise<Reading> {
  const laid = engine.layout(image, options);
  const before = laid ? undefined : await engine.read(image, options);
  const seen = laid ?? before ?? [];
  const onItsHead = weighWords(image, seen).certainty < HEAD_DOUBT;
  const sample = onItsHead ? sampleLines(image, seen) : undefined;
  if (sample && (await probe(engine, sample, 180, options)) > (await probe(engine, sample, 0, options)))
    return readTurned(engine, image, 180, options);
  const first = settleSide({ turn: 0, lines: before ?? (await engine.read(image, options)) }, image.width);
  const confidence = meanConfidence(first.lines);
  if (sample || confidence >= LOW_CONFIDENCE) return first;
  // Where the second look is broken off, what was read before stands.
  const second = await engine.attempt(RETRY_CPU_MS, () =>
    readOtherwise(
      engine,
      image,
      options,
      sampleLines(image, seen),
      Math.max(READS_AT_ALL, confidence + CLEARLY_BETTER),
    ),
  );
  return second && meanConfidence(second.lines) > confidence ? second : first;
}

/** A page that read badly, read once more: another way up where a few of its lines say so, else with local thresholds (uneven light, tiny print). */
async function readOtherwise(
  engine: Engine,
  image: GreyImage,
  options: ReadingOptions,
  sample: GreyImage | undefined,
  wanted: number,
): Promise<Reading | undefined> {
  let best: { turn: QuarterTurn; score: number } | undefined;
  for (const turn of sample ? ([180, 270, 90] as const) : []) {
    const score = sample ? await probe(engine, sample, turn, options) : 0;
    if (!best || score > best.score) best = { turn, score };
  }
  if (best && best.score >= wanted) return readTurned(engine, image, best.turn, options);
  if (options.threshold === 'local') return undefined;
  return readTurned(engine, image, 0, { ...options, threshold: 'local' });
}

/** A box that holds what a box of the image holds, once the image is turned by a small angle about its centre. */
function tiltBox([x0, y0, x1, y1]: PixelBox, { width, height }: GreyImage, slope: number): PixelBox {
  const lean = Math.abs(Math.sin(slope));
  const [across, down] = [Math.ceil((lean * height) / 2), Math.ceil((lean * width) / 2)];
  return [Math.max(0, x0 - across), Math.max(0, y0 - down), Math.min(width, x1 + across), Math.min(height, y1 + down)];
}

/** How the image that was read lies on the page, both turned. */
interface Frame {
  /** Of the page. */
  width: number;
  height: number;
  /** Pixels of the image for one of the page. */
  scale: number;
  /** Pixels of the image to its left and above it, were it as large as the page. */
  left: number;
  top: number;
}

/** A box of the image that was read, in pixels of the page. */
function placeBox(box: PixelBox, { scale, left, top, width, height }: Frame): PixelBox {
  return [
    Math.max(0, Math.floor((box[0] + left) / scale)),
    Math.max(0, Math.floor((box[1] + top) / scale)),
    Math.min(width, Math.ceil((box[2] + left) / scale)),
    Math.min(height, Math.ceil((box[3] + top) / scale)),
  ];
}

function toPageLine(line: ReadLine, frame: Frame): OcrLine {
  const place = (box: PixelBox) => placeBox(box, frame);
  const box = place(line.box);
  const height = line.height / frame.scale;
  return {
    box,
    height: height > 0 && height <= box[3] - box[1] ? height : box[3] - box[1],
    block: line.block,
    words: line.words.map((word) => ({
      text: word.text,
      box: place(word.box),
      confidence: Math.min(1, Math.max(0, word.confidence)),
    })),
  };
}
