// Generates scanned PDF files of any length with known words: renders text, adds noise, and embeds only the images.
import { readFile } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import { PDFDocument, PDFName, StandardFonts } from 'pdf-lib';
import { openPageSource } from '#services/pdf/source/open-page-source.ts';

interface ScanOptions {
  /** Printed lines per page. */
  lines: number;
  /** Resolution of the scan. */
  dpi: number;
  /** Width and height of each page in points; A4 by default. */
  size?: readonly [number, number];
}

export interface Scan {
  bytes: Uint8Array;
  /** The words of each page, in order. The first line of each page is unique. */
  pages: string[];
}

const A4: [number, number] = [595, 842];
const LEADING = 17;
const WORDS_PER_LINE = 11;
/** The words are long, so that OCR does not read one as another. */
const WORDS =
  'harbour keeper counted herons before evening storm while fishing boats returned slowly through narrow channel carrying barrels lanterns copper timber letters from distant islands where gardens market bridges follow river northern hills every morning someone writes careful notes about weather tides cargo'.split(
    ' ',
  );
const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** Generates uniformly distributed numbers in [0, 1) that are the same in every run (Mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function linesOf(page: number, count: number): string[] {
  const random = seeded(page);
  const number = [...String(page)].map((digit) => DIGITS[Number(digit)]).join(' ');
  const line = () =>
    Array.from({ length: WORDS_PER_LINE }, () => WORDS[Math.floor(random() * WORDS.length)] ?? '').join(' ');
  return [`Harbour log sheet ${number}`, ...Array.from({ length: count - 1 }, line)];
}

const GRAIN_COUNT = 1 << 16;
let grains: Float32Array | undefined;

/** The noise of a scanner, in grey levels. It is computed once, because three random numbers per pixel cost more than rendering the page. */
function scannerGrain(): Float32Array {
  const random = seeded(1);
  grains ??= Float32Array.from({ length: GRAIN_COUNT }, () => (random() + random() + random() - 1.5) * 28);
  return grains;
}

/** Adds noise like that of a scanner, and reduces the pixels to 16 grey levels, two pixels per byte. Each seed shifts the noise. */
function scanned(pixels: Uint8Array, width: number, height: number, seed: number): Uint8Array {
  const grain = scannerGrain();
  let next = Math.floor(seeded(seed)() * GRAIN_COUNT);
  const stride = (width + 1) >> 1;
  const packed = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      next = (next + 1) % GRAIN_COUNT;
      const paper = 16 + ((pixels[y * width + x] ?? 255) * 224) / 255;
      const shade = Math.max(0, Math.min(15, Math.round((paper + (grain[next] ?? 0)) / 16)));
      const at = y * stride + (x >> 1);
      packed[at] = (packed[at] ?? 0) | (x % 2 === 0 ? shade << 4 : shade);
    }
  return packed;
}

const REPORT_SCAN = new URL('../../../fixtures/pdf/scanned-harbour-report.pdf', import.meta.url);

/** A PDF with `count` copies of the committed scan of one page. The stored image is copied, because pdf-lib takes 0.3 s to embed a page as PNG. */
export async function repeatedScan(count: number): Promise<Uint8Array> {
  const source = await PDFDocument.load(await readFile(REPORT_SCAN));
  const scan = await PDFDocument.create();
  for (const page of await scan.copyPages(source, new Array<number>(count).fill(0))) scan.addPage(page);
  return scan.save();
}

/** A PDF with `count` scanned pages and no text layer. */
export async function scannedLog(count: number, { lines, dpi, size }: ScanOptions): Promise<Scan> {
  const texts = Array.from({ length: count }, (_, index) => linesOf(index + 1, lines));
  return { bytes: await scanOf(texts, dpi, [], size), pages: texts.map((text) => text.join(' ')) };
}

/**
 * A PDF with one scanned page for each list of lines.
 * @param mirrored 0-based indexes of pages that are mirrored, so that their text is unreadable
 */
export async function scanOf(
  texts: readonly (readonly string[])[],
  dpi: number,
  mirrored: readonly number[] = [],
  [pageWidth, pageHeight]: readonly [number, number] = A4,
): Promise<Uint8Array> {
  const printed = await PDFDocument.create();
  const font = await printed.embedFont(StandardFonts.TimesRoman);
  for (const text of texts)
    printed
      .addPage([pageWidth, pageHeight])
      .drawText(text.join('\n'), { x: 50, y: pageHeight - 62, size: 12, lineHeight: LEADING, font });
  const source = await openPageSource(await printed.save(), undefined);
  const scan = await PDFDocument.create();
  try {
    for (let index = 0; index < texts.length; index++) {
      const { width, height, pixels } = await source.renderGrey(index, dpi);
      // zlib, because the JavaScript deflate of pdf-lib costs several times as much.
      const image = scan.context.stream(deflateSync(scanned(pixels, width, height, index + 1), { level: 1 }), {
        Filter: 'FlateDecode',
        Type: 'XObject',
        Subtype: 'Image',
        Width: width,
        Height: height,
        ColorSpace: 'DeviceGray',
        BitsPerComponent: 4,
      });
      const page = scan.addPage([pageWidth, pageHeight]);
      page.node.setXObject(PDFName.of('Scan'), scan.context.register(image));
      const across = mirrored.includes(index)
        ? `${-pageWidth} 0 0 ${pageHeight} ${pageWidth} 0`
        : `${pageWidth} 0 0 ${pageHeight} 0 0`;
      page.node.set(PDFName.of('Contents'), scan.context.register(scan.context.stream(`q ${across} cm /Scan Do Q`)));
    }
  } finally {
    await source.close();
  }
  return scan.save();
}

/** Share (0 to 1) of the words of `truth` that `text` contains. A repeated word must be repeated in `text` too. */
export function wordsFound(truth: string, text: string): number {
  const left = new Map<string, number>();
  for (const word of text.split(/[^\p{L}]+/u)) left.set(word, (left.get(word) ?? 0) + 1);
  const wanted = truth.split(' ');
  const found = wanted.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  });
  return found.length / wanted.length;
}
