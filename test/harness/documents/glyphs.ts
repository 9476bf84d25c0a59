// Draws PDF text that is visible but has no Unicode mapping: as strokes, in a Type 3 font, and in a TrueType font without ToUnicode.
import { existsSync, readFileSync } from 'node:fs';
import { type PDFDocument, PDFName, type PDFPage, type PDFRef, PDFString } from 'pdf-lib';

/** Strokes of capital letters with straight lines only, on a grid of 4 by 6 units. */
const STROKES: Readonly<Record<string, string>> = {
  A: '0,0 2,6 4,0 / 0.8,2.2 3.2,2.2',
  E: '4,0 0,0 0,6 4,6 / 0,3 3.2,3',
  F: '0,0 0,6 4,6 / 0,3 3.2,3',
  H: '0,0 0,6 / 4,0 4,6 / 0,3 4,3',
  I: '2,0 2,6',
  K: '0,0 0,6 / 4,6 0,2.6 / 1.2,3.6 4,0',
  L: '0,6 0,0 4,0',
  M: '0,0 0,6 2,2 4,6 4,0',
  N: '0,0 0,6 4,0 4,6',
  T: '2,0 2,6 / 0,6 4,6',
  V: '0,6 2,0 4,6',
  W: '0,6 1,0 2,4 3,0 4,6',
  Y: '0,6 2,3 4,6 / 2,3 2,0',
};
/** Distance between letters and width of a stroke, in grid units. */
const ADVANCE = 6;
const STROKE = 0.75;

/** PDF operators that draw a letter. @param unit points per grid unit */
function strokesOf(letter: string, x: number, y: number, unit: number): string {
  const paths = (STROKES[letter] ?? '').split(' / ').filter((path) => path !== '');
  return paths
    .map((path) => {
      const points = path.split(' ').map((point) => {
        const [right = 0, up = 0] = point.split(',').map(Number);
        return `${(x + right * unit).toFixed(2)} ${(y + up * unit).toFixed(2)}`;
      });
      return `${points.map((point, index) => `${point} ${index === 0 ? 'm' : 'l'}`).join(' ')} S`;
    })
    .join('\n');
}

/** PDF operators that draw text as strokes, as programs do that convert text to outlines. */
export function drawAsStrokes(lines: readonly string[], x: number, y: number, size: number): string {
  const unit = size / 8;
  const strokes = lines.flatMap((line, row) =>
    [...line].map((letter, column) => strokesOf(letter, x + column * ADVANCE * unit, y - row * size * 1.6, unit)),
  );
  return `q ${STROKE * unit} w 1 J 1 j\n${strokes.join('\n')}\nQ`;
}

/** PDF operators that show lines in a font of the page. @param codes hexadecimal character code of a letter */
function show(font: string, lines: readonly string[], codes: (letter: string) => string, at: TextPosition): string {
  const text = lines.map(
    (line, row) => `1 0 0 1 ${at.x} ${at.y - row * at.size * 1.6} Tm <${[...line].map(codes).join('')}> Tj`,
  );
  return `BT /${font} ${at.size} Tf ${text.join('\n')} ET`;
}

interface TextPosition {
  x: number;
  y: number;
  size: number;
}

/**
 * Adds a Type 3 font of stroked capitals to the page. @returns PDF operators that show the lines in it
 * @param toUnicode code point that the font's ToUnicode map contains for a character code; without it, the font has no such map
 */
export function inType3Font(
  document: PDFDocument,
  page: PDFPage,
  lines: readonly string[],
  at: TextPosition,
  toUnicode?: (code: number) => number,
): string {
  const { context } = document;
  const letters = [...new Set(lines.join(''))].sort();
  const codeOf = new Map(letters.map((letter, index) => [letter, 0x41 + index]));
  const procedures = letters.map((letter, index): [string, PDFRef] => [
    `g${index}`,
    context.register(
      context.stream(`750 0 0 -50 600 800 d1 ${STROKE * 125} w 1 J 1 j ${strokesOf(letter, 60, 0, 125)}`),
    ),
  ]);
  const font = context.obj({
    Type: 'Font',
    Subtype: 'Type3',
    FontBBox: [0, -50, 600, 800],
    FontMatrix: [0.001, 0, 0, 0.001, 0, 0],
    FirstChar: 0x41,
    LastChar: 0x40 + letters.length,
    Widths: letters.map(() => 750),
    Encoding: { Type: 'Encoding', Differences: [0x41, ...procedures.map(([name]) => PDFName.of(name))] },
    CharProcs: Object.fromEntries(procedures),
    Resources: {},
  });
  if (toUnicode) font.set(PDFName.of('ToUnicode'), toUnicodeMap(document, [...codeOf.values()], toUnicode));
  page.node.setFontDictionary(PDFName.of('Strokes'), context.register(font));
  return show('Strokes', lines, (letter) => (codeOf.get(letter) ?? 0).toString(16), at);
}

/** A ToUnicode CMap (ISO 32000-1, 9.10.3). */
function toUnicodeMap(document: PDFDocument, codes: readonly number[], meaning: (code: number) => number): PDFRef {
  const rows = codes.map((code) => `<${code.toString(16)}> <${meaning(code).toString(16).padStart(4, '0')}>`);
  const { context } = document;
  return context.register(
    context.stream(
      `/CIDInit /ProcSet findresource begin begincmap /CMapName /M def 1 begincodespacerange <00> <ff> endcodespacerange ${rows.length} beginbfchar\n${rows.join('\n')}\nendbfchar endcmap end`,
    ),
  );
}

const FACES = ['liberation', 'liberation2'].map(
  (folder) => `/usr/share/fonts/truetype/${folder}/LiberationSerif-Regular.ttf`,
);

/**
 * Adds a TrueType font to the page whose character codes are glyph numbers and that has no ToUnicode map, as many printer drivers write it.
 * @returns PDF operators that show the lines in it
 * @throws Error if Liberation Serif is not installed
 */
export function inTrueTypeWithoutToUnicode(
  document: PDFDocument,
  page: PDFPage,
  lines: readonly string[],
  at: TextPosition,
): string {
  const path = FACES.find((face) => existsSync(face));
  if (path === undefined)
    throw new Error('Liberation Serif is not installed (Debian: apt-get install fonts-liberation)');
  const { context } = document;
  const face = readFileSync(path);
  const glyphs = glyphNumbers(face);
  const used = [...new Set(lines.join(''))].map((letter) => glyphs.get(letter.charCodeAt(0)) ?? 0);
  const descriptor = context.register(
    context.obj({
      Type: 'FontDescriptor',
      FontName: 'AAAAAA+Unmapped',
      Flags: 4,
      FontBBox: [-200, -300, 1200, 1000],
      ItalicAngle: 0,
      Ascent: 891,
      Descent: -216,
      CapHeight: 650,
      StemV: 80,
      FontFile2: context.register(context.flateStream(face)),
    }),
  );
  const descendant = context.register(
    context.obj({
      Type: 'Font',
      Subtype: 'CIDFontType2',
      BaseFont: 'AAAAAA+Unmapped',
      CIDSystemInfo: {
        Registry: PDFString.of('Adobe'),
        Ordering: PDFString.of('Identity'),
        Supplement: 0,
      },
      FontDescriptor: descriptor,
      W: used.flatMap((glyph) => [glyph, [glyphWidth(face, glyph)]]),
      CIDToGIDMap: 'Identity',
    }),
  );
  const font = context.obj({
    Type: 'Font',
    Subtype: 'Type0',
    BaseFont: 'AAAAAA+Unmapped',
    Encoding: 'Identity-H',
    DescendantFonts: [descendant],
  });
  page.node.setFontDictionary(PDFName.of('Unmapped'), context.register(font));
  return show('Unmapped', lines, (letter) => (glyphs.get(letter.charCodeAt(0)) ?? 0).toString(16).padStart(4, '0'), at);
}

/** Offset of a table in an OpenType font. @throws Error if the font does not have it */
function tableAt(face: Buffer, tag: string): number {
  const tables = Array.from({ length: face.readUInt16BE(4) }, (_, index) => 12 + index * 16);
  const entry = tables.find((at) => face.toString('latin1', at, at + 4) === tag);
  if (entry === undefined) throw new Error(`the font has no table ${tag}`);
  return face.readUInt32BE(entry + 8);
}

/** Advance width in thousandths of the font size (OpenType, head, hhea and hmtx). */
function glyphWidth(face: Buffer, glyph: number): number {
  const last = face.readUInt16BE(tableAt(face, 'hhea') + 34) - 1;
  const advance = face.readUInt16BE(tableAt(face, 'hmtx') + 4 * Math.min(glyph, last));
  return Math.round((advance * 1000) / face.readUInt16BE(tableAt(face, 'head') + 18));
}

/** Glyph number by code point (OpenType, cmap format 4). @throws Error if the font has no such table */
function glyphNumbers(face: Buffer): Map<number, number> {
  const cmap = tableAt(face, 'cmap');
  const subtables = Array.from(
    { length: face.readUInt16BE(cmap + 2) },
    (_, index) => cmap + face.readUInt32BE(cmap + 8 + index * 8),
  );
  const table = subtables.find((at) => face.readUInt16BE(at) === 4);
  if (table === undefined) throw new Error('the font has no cmap of format 4');
  const doubled = face.readUInt16BE(table + 6);
  const glyphs = new Map<number, number>();
  for (let segment = 0; segment < doubled; segment += 2) {
    const last = face.readUInt16BE(table + 14 + segment);
    const first = face.readUInt16BE(table + 16 + doubled + segment);
    const delta = face.readUInt16BE(table + 16 + 2 * doubled + segment);
    const rangeAt = table + 16 + 3 * doubled + segment;
    const range = face.readUInt16BE(rangeAt);
    for (let code = first; code <= last && code < 0x250; code++) {
      const glyph = range === 0 ? code : face.readUInt16BE(rangeAt + range + 2 * (code - first));
      glyphs.set(code, (glyph + delta) & 0xffff);
    }
  }
  return glyphs;
}
