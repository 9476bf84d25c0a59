// Generates PDF pages with a correct, wrong, hidden or missing text layer, and states for each which words a parser must read from which source.
import { degrees, PDFDocument, type PDFFont, PDFName, type PDFPage, rgb, StandardFonts } from 'pdf-lib';
import { openPageSource } from '#services/pdf/source/open-page-source.ts';
import { drawAsStrokes, inTrueTypeWithoutToUnicode, inType3Font } from './glyphs.ts';

interface TextLayerPage {
  name: string;
  /** Expected source of the words. Null if the page has no words. */
  source: 'native_text' | 'layout_ocr' | null;
  /** Each must be in a block of that source, and only once on the page. */
  texts: readonly string[];
  /** Must be in blocks of the other source. */
  otherTexts?: readonly string[];
  /** Must not be in any block. */
  absent?: readonly string[];
  draw(pen: Pen, page: PDFPage): Promise<void> | void;
}

interface Pen {
  document: PDFDocument;
  font: PDFFont;
}

/** A5, because small pages need less time. */
const PAGE: [number, number] = [420, 595];
const SCAN_DPI = 130;
const TEXT = [
  'The harbour office keeps a book of every ship',
  'that comes in before noon. A clerk writes the',
  'name, the flag and the port that she left, and',
  'how many days she was at sea. Cargo follows on',
  'the facing page with lemons and bales of wool.',
];
const WORDS = ['harbour office', 'clerk writes', 'bales of wool'];
/** The same text with the errors of old OCR software on a bad scan. */
const GARBLED = [
  'Tbc h^rb0ur 0ff|<c kccps ~ b{){}k 0f cv#ry sb|p',
  'tb^t c0mcs |n bcf0rc n0{}n. ^ clcrk wr|tcs tbc',
  'n~mc, tbc fl^g ^nd tbc p0rt tb^t sbc lcft, ^nd',
  'b0w m~ny d^ys sbc w^s ^t sc~. C^rg0 f0ll0ws 0n',
  'tbc f^c|ng p~gc w|tb lcm0ns ^nd b~lcs 0f w{}{}l.',
];
const CAPITALS = ['THE WHITE HALL', 'TEN MEN WALK HALF A MILE', 'TAKE THE LINE TWELVE'];
const NOTICE =
  'Downloaded from the library of the harbour town by a reader on the fifth of May, for private study and for no other use whatever';
const PRIVATE_USE = 0xe000;

function write(page: PDFPage, font: PDFFont, lines: readonly string[], x = 40, y = 520, size = 13): void {
  lines.forEach((line, index) => {
    page.drawText(line, { x, y: y - index * size * 1.5, size, font });
  });
}

function paint({ document }: Pen, page: PDFPage, operators: string): void {
  page.node.addContentStream(document.context.register(document.context.stream(`\n${operators}\n`)));
}

/** Draws an image of 8-bit grey pixels into a box of the page. */
function picture(
  pen: Pen,
  page: PDFPage,
  { width, height, pixels }: { width: number; height: number; pixels: Uint8Array },
  [x, y, wide, high]: readonly [number, number, number, number],
): void {
  const { context } = pen.document;
  const image = context.flateStream(pixels, {
    Type: 'XObject',
    Subtype: 'Image',
    Width: width,
    Height: height,
    ColorSpace: 'DeviceGray',
    BitsPerComponent: 8,
  });
  const name = page.node.newXObject('Picture', context.register(image));
  paint(pen, page, `q ${wide} 0 0 ${high} ${x} ${y} cm ${name} Do Q`);
}

/** Renders what `draw` draws to an image, and places the image into a box of the page, like a scan. */
async function scan(
  pen: Pen,
  page: PDFPage,
  draw: (page: PDFPage, font: PDFFont) => void,
  box: readonly [number, number, number, number] = [0, 0, ...PAGE],
): Promise<void> {
  const printed = await PDFDocument.create();
  draw(printed.addPage([box[2], box[3]]), await printed.embedFont(StandardFonts.TimesRoman));
  const source = await openPageSource(await printed.save(), undefined);
  try {
    picture(pen, page, await source.renderGrey(0, SCAN_DPI), box);
  } finally {
    await source.close();
  }
}

const drawText = (page: PDFPage, font: PDFFont) => write(page, font, TEXT);

/** Adds invisible lines (text rendering mode 3), as OCR programs add them to a scan. */
function addHiddenText({ document, font }: Pen, page: PDFPage, lines: readonly string[]): void {
  const name = page.node.newFontDictionary('Hidden', font.ref);
  const shown = lines.map((line, index) => `1 0 0 1 40 ${520 - index * 19.5} Tm ${font.encodeText(line)} Tj`);
  paint({ document, font }, page, `BT 3 Tr ${name} 13 Tf ${shown.join(' ')} ET`);
}

/** Soft shapes in many grey levels, like a photograph, without text. */
function photograph(): { width: number; height: number; pixels: Uint8Array } {
  const [width, height] = [300, 200];
  const pixels = Uint8Array.from({ length: width * height }, (_, at) => {
    const [x, y] = [at % width, Math.floor(at / width)];
    return 128 + 60 * Math.sin(x / 31) * Math.cos(y / 23) + 40 * Math.sin((x + y) / 57) + ((x * 7 + y * 13) % 11);
  });
  return { width, height, pixels };
}

export const TEXT_LAYER_PAGES: readonly TextLayerPage[] = [
  {
    name: 'a scan without a text layer',
    source: 'layout_ocr',
    texts: WORDS,
    draw: (pen, page) => scan(pen, page, drawText),
  },
  {
    name: 'a scan with only a watermark in its text layer',
    source: 'layout_ocr',
    texts: WORDS,
    draw: async (pen, page) => {
      await scan(pen, page, drawText);
      for (let at = 0; at < 9; at++)
        page.drawText('DRAFT COPY', {
          x: 60,
          y: 30 + at * 40,
          size: 20,
          font: pen.font,
          rotate: degrees(35),
          opacity: 0.08,
        });
    },
  },
  {
    name: 'a scan with only a page number in its text layer',
    source: 'layout_ocr',
    texts: WORDS,
    draw: async (pen, page) => {
      await scan(pen, page, drawText);
      page.drawText('17', { x: 205, y: 24, size: 9, font: pen.font });
    },
  },
  {
    name: 'a scan with only a long download notice in its text layer',
    source: 'layout_ocr',
    texts: WORDS,
    draw: async (pen, page) => {
      await scan(pen, page, drawText);
      page.drawText(NOTICE, { x: 20, y: 12, size: 5, font: pen.font });
    },
  },
  {
    name: 'a font that maps its letters to private-use code points',
    source: 'layout_ocr',
    texts: ['WHITE HALL', 'MEN WALK'],
    draw: (pen, page) =>
      paint(
        pen,
        page,
        inType3Font(pen.document, page, CAPITALS, { x: 40, y: 480, size: 18 }, (code) => PRIVATE_USE + code),
      ),
  },
  {
    name: 'a Type 3 font without ToUnicode',
    source: 'layout_ocr',
    texts: ['WHITE HALL', 'MEN WALK'],
    draw: (pen, page) => paint(pen, page, inType3Font(pen.document, page, CAPITALS, { x: 40, y: 480, size: 18 })),
  },
  {
    name: 'a TrueType font with glyph numbers as codes, without ToUnicode',
    source: 'layout_ocr',
    texts: WORDS,
    draw: (pen, page) =>
      paint(pen, page, inTrueTypeWithoutToUnicode(pen.document, page, TEXT, { x: 30, y: 500, size: 14 })),
  },
  {
    name: 'a scan with a hidden text layer full of OCR errors',
    source: 'layout_ocr',
    texts: WORDS,
    absent: ['kccps'],
    draw: async (pen, page) => {
      await scan(pen, page, drawText);
      addHiddenText(pen, page, GARBLED);
    },
  },
  {
    name: 'a scan with a hidden text layer of only the first line',
    source: 'layout_ocr',
    texts: WORDS,
    draw: async (pen, page) => {
      await scan(pen, page, drawText);
      addHiddenText(pen, page, TEXT.slice(0, 1));
    },
  },
  {
    name: 'a scan with a correct hidden text layer',
    source: 'native_text',
    texts: WORDS,
    draw: async (pen, page) => {
      await scan(pen, page, drawText);
      addHiddenText(pen, page, TEXT);
    },
  },
  {
    name: 'a picture with text that covers most of the page',
    source: 'layout_ocr',
    texts: WORDS,
    draw: async (pen, page) => {
      await scan(pen, page, (sheet, font) => write(sheet, font, TEXT, 30, 380), [10, 60, 400, 470]);
      page.drawText('Plate 4', { x: 190, y: 30, size: 10, font: pen.font });
    },
  },
  {
    name: 'correct text with a scanned figure',
    source: 'native_text',
    texts: WORDS,
    otherTexts: ['Monday Petersen', 'Tuesday Lindqvist'],
    draw: async (pen, page) => {
      write(page, pen.font, TEXT);
      await scan(
        pen,
        page,
        (sheet, font) => write(sheet, font, ['Lighthouse rota', 'Monday Petersen', 'Tuesday Lindqvist'], 25, 110, 16),
        [60, 180, 300, 160],
      );
      // The text layer repeats the title of the figure at the same position, so the title must be read once, from the text layer.
      page.drawRectangle({ x: 80, y: 286, width: 150, height: 24, color: rgb(1, 1, 1) });
      page.drawText('Lighthouse rota', { x: 85, y: 292, size: 16, font: pen.font });
    },
  },
  {
    name: 'correct text with a chart that is a picture and has vertical labels',
    source: 'native_text',
    texts: WORDS,
    otherTexts: ['Ships by cargo', 'Lemons and oranges', 'Woollen blankets', 'Timber from Norway'],
    draw: async (pen, page) => {
      write(page, pen.font, TEXT);
      const labels = ['Lemons and oranges', 'Woollen blankets', 'Timber from Norway'];
      await scan(
        pen,
        page,
        (sheet, font) => {
          sheet.drawText('Ships by cargo', { x: 90, y: 300, size: 14, font });
          labels.forEach((label, at) => {
            const x = 70 + at * 70;
            sheet.drawRectangle({
              x,
              y: 150,
              width: 30,
              height: 120 - at * 30,
              borderWidth: 1,
              borderColor: rgb(0, 0, 0),
            });
            sheet.drawText(label, { x: x + 20, y: 15, size: 13, font, rotate: degrees(90) });
          });
        },
        [60, 40, 300, 330],
      );
    },
  },
  {
    name: 'correct text with a photograph',
    source: 'native_text',
    texts: WORDS,
    draw: (pen, page) => {
      write(page, pen.font, TEXT);
      picture(pen, page, photograph(), [60, 180, 300, 200]);
    },
  },
  { name: 'a blank page', source: null, texts: [], draw: () => undefined },
  {
    name: 'text drawn as outlines, with a page number in the text layer',
    source: 'layout_ocr',
    texts: ['WHITE HALL', 'MEN WALK'],
    draw: (pen, page) => {
      paint(pen, page, drawAsStrokes(CAPITALS, 40, 480, 18));
      page.drawText('21', { x: 205, y: 24, size: 9, font: pen.font });
    },
  },
  {
    name: 'correct text in a ruled frame',
    source: 'native_text',
    texts: WORDS,
    draw: (pen, page) => {
      write(page, pen.font, TEXT);
      page.drawRectangle({ x: 30, y: 430, width: 360, height: 120, borderWidth: 1, borderColor: rgb(0, 0, 0) });
    },
  },
];

/** One PDF with all pages of `TEXT_LAYER_PAGES`. */
export async function textLayers(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const pen = { document, font: await document.embedFont(StandardFonts.TimesRoman) };
  for (const { draw } of TEXT_LAYER_PAGES) {
    const page = document.addPage(PAGE);
    // Each page has its own resources, because several pages use the same names for fonts and images.
    page.node.set(PDFName.of('Resources'), document.context.obj({}));
    await draw(pen, page);
  }
  return document.save();
}
