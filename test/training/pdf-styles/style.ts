// Draws the style of a random document: page, fonts, headings, numbers of headings, tables and running heads.
import type { Furniture, Look, PageStyle, Run, TableDesign } from './model.ts';
import { type Author, letter, roman } from './text.ts';

/** Points. */
const PAGES: Readonly<Record<string, readonly [number, number]>> = {
  A4: [595, 842],
  letter: [612, 792],
  A5: [420, 595],
  B5: [499, 709],
  legal: [612, 1008],
  'A4 landscape': [842, 595],
  slide: [720, 405],
  'wide slide': [960, 540],
};
const FONTS = [
  'Liberation Serif',
  'Liberation Sans',
  'Liberation Sans Narrow',
  'DejaVu Serif',
  'DejaVu Sans',
  'DejaVu Sans Condensed',
  'Noto Sans',
  'Noto Serif',
];
const MONO_FONTS = ['Liberation Mono', 'DejaVu Sans Mono'];

const NO_LINES: TableDesign = {
  name: 'none',
  top: 0,
  bottom: 0,
  sides: 0,
  underHead: 0,
  rows: 0,
  headColumns: 0,
  bodyColumns: 0,
  line: 'solid',
};
/** Lines and shades of tables, beside `NO_LINES`. Width and kind of the lines and the colours vary. */
const TABLE_DESIGNS: Readonly<Record<string, Partial<TableDesign>>> = {
  none: {},
  grid: { top: 1, bottom: 1, sides: 1, underHead: 1, rows: 1, headColumns: 1, bodyColumns: 1 },
  'grid with thick head rule': { top: 1, bottom: 1, sides: 1, underHead: 3, rows: 1, headColumns: 1, bodyColumns: 1 },
  'open grid': { underHead: 1, rows: 1, headColumns: 1, bodyColumns: 1 },
  'outer box': { top: 1, bottom: 1, sides: 1 },
  'outer box, head rule': { top: 1, bottom: 1, sides: 1, underHead: 1 },
  'outer box, columns': { top: 1, bottom: 1, sides: 1, underHead: 1, headColumns: 1, bodyColumns: 1 },
  columns: { headColumns: 1, bodyColumns: 1 },
  'columns, head rule': { underHead: 1, headColumns: 1, bodyColumns: 1 },
  'head columns, rows': { top: 1, bottom: 1, sides: 0, underHead: 1, rows: 1, headColumns: 1 },
  'boxed head': { top: 1, sides: 0, underHead: 1, headColumns: 1 },
  rows: { top: 1, bottom: 1, underHead: 1, rows: 1 },
  'inner rows': { underHead: 1, rows: 1 },
  'head rule': { underHead: 1 },
  'top and bottom': { top: 1, bottom: 1 },
  booktabs: { top: 2, bottom: 2, underHead: 1 },
  zebra: { zebraFill: '#eeeeee' },
  'zebra, head': { zebraFill: '#e4ecf4', headFill: '#31506e', headColour: '#ffffff' },
  'shaded head': { headFill: '#d8d8d8' },
  'shaded head, rows': { headFill: '#e8e0d0', rows: 1, bottom: 1 },
  'dark head': { headFill: '#222222', headColour: '#ffffff' },
  'first column': { firstColumnFill: '#e6e6e6', rows: 1 },
  'dotted rows': { underHead: 1, rows: 1, line: 'dotted' },
  'dashed grid': { top: 1, bottom: 1, sides: 1, underHead: 1, rows: 1, headColumns: 1, bodyColumns: 1, line: 'dashed' },
};
const TABLE_DESIGN_NAMES = Object.keys(TABLE_DESIGNS);

/** Decorations of headings. Several can be drawn for one level. */
const DECORATIONS = [
  'plain',
  'plain',
  'centred',
  'underlined',
  'rule above',
  'rule below',
  'rules',
  'coloured',
  'boxed',
  'bar',
  'tracked',
] as const;
type Decoration = (typeof DECORATIONS)[number];
const FACES = ['bold', 'bold', 'bold', 'italic', 'bold italic', 'regular'] as const;
const CASES = ['as is', 'as is', 'as is', 'capitals', 'small capitals'] as const;
const NUMBERINGS = ['none', 'decimal', 'decimal dot', 'roman', 'letter', 'paragraph sign', 'word'] as const;
type Numbering = (typeof NUMBERINGS)[number];

interface HeadingStyle {
  look: Look;
  case: (typeof CASES)[number];
  name: string;
}

export interface Style {
  page: PageStyle;
  pageName: string;
  columns: number;
  columnGap: number;
  columnRule: boolean;
  justified: boolean;
  hyphens: boolean;
  /** `indent`: paragraphs have no space between them, but an indented first line. */
  paragraphs: 'space' | 'indent';
  headings: readonly HeadingStyle[];
  numbering: Numbering;
  numberWord: string;
  everyWord: boolean;
  bullets: readonly string[];
  itemNumbers: (number: number) => string;
  captions: 'above' | 'below';
  mono: boolean;
}

/** How many points headings of levels 2, 3 and 4 are larger than the text, at most. */
const LARGEST_GAIN = [8, 4, 2];
const SMALL_CAPITALS = 0.8;

function decorate(look: Look, decoration: Decoration, author: Author): Look {
  const line = author.random.pick([0.5, 1, 1.5]);
  const colour = author.random.pick(['#8a1c1c', '#1d4f91', '#23663c', '#777777']);
  switch (decoration) {
    case 'plain':
      return look;
    case 'centred':
      return { ...look, align: 'center' };
    case 'underlined':
      return { ...look, underline: true };
    case 'rule above':
      return { ...look, ruleAbove: line };
    case 'rule below':
      return { ...look, ruleBelow: line };
    case 'rules':
      return { ...look, ruleAbove: line, ruleBelow: line };
    case 'coloured':
      return { ...look, colour };
    case 'boxed':
      return { ...look, frame: line };
    case 'bar':
      return { ...look, fill: colour, colour: '#ffffff' };
    case 'tracked':
      return { ...look, tracking: look.size / 10 };
  }
}

/** Styles of the title and of three levels of headings. A deeper level is never larger. */
function drawHeadings(author: Author, size: number, isMono: boolean): HeadingStyle[] {
  const { random } = author;
  const isSameSize = isMono || random.oneIn(4);
  let upper = size + 10;
  const title: HeadingStyle = {
    look: {
      size: isMono ? size : size + author.between(7, 14),
      bold: isMono || !random.oneIn(3),
      align: random.pick(['left', 'center', 'right', 'left', 'center']),
      after: 8,
      keep: true,
    },
    case: isMono ? 'capitals' : random.pick(['as is', 'as is', 'capitals']),
    name: 'title',
  };
  const others = LARGEST_GAIN.map((gain, at): HeadingStyle => {
    const own = isSameSize ? size : Math.min(upper, size + random.below(gain + 1));
    upper = own;
    const face = own > size + 2 ? random.pick(FACES) : random.pick(FACES.slice(0, 5));
    const decoration = random.pick(DECORATIONS);
    const lettering = at === 2 ? 'as is' : random.pick(CASES);
    const look: Look = {
      size: own,
      bold: face.includes('bold'),
      italic: face.includes('italic'),
      before: author.between(isMono ? 6 : 8, 18),
      after: author.between(2, 8),
      keep: true,
    };
    return { look: decorate(look, decoration, author), case: lettering, name: `${decoration}, ${face}, ${lettering}` };
  });
  return [title, ...others];
}

/** The number of a heading, from the numbers of its level and of the levels above it. Level 1 is the first that has a number. */
export function headingNumber(style: Style, numbers: readonly number[]): string {
  const [first = 0] = numbers;
  const last = numbers.at(-1) ?? 0;
  const isTop = numbers.length === 1;
  switch (style.numbering) {
    case 'none':
      return '';
    case 'decimal':
      return numbers.join('.');
    case 'decimal dot':
      return `${numbers.join('.')}.`;
    case 'roman':
      return isTop ? `${roman(first)}.` : numbers.length === 2 ? `${letter(last)}.` : `${last})`;
    case 'letter':
      return isTop ? `${letter(first)}.` : `${letter(first)}.${numbers.slice(1).join('.')}`;
    case 'paragraph sign':
      return isTop ? `§ ${first}` : `(${numbers.slice(1).join('.')})`;
    case 'word':
      return isTop ? `${style.numberWord} ${first}:` : numbers.join('.');
  }
}

export function drawTableDesign(author: Author): TableDesign {
  const name = author.random.pick(TABLE_DESIGN_NAMES);
  const width = author.random.pick([0.5, 0.5, 0.75, 1]);
  const own: TableDesign = { ...NO_LINES, ...TABLE_DESIGNS[name], name };
  for (const line of ['top', 'bottom', 'sides', 'underHead', 'rows', 'headColumns', 'bodyColumns'] as const)
    own[line] *= width;
  return own;
}

/** Runs of a text in small capitals: letters that were capitals before are larger. */
export function smallCapitals(text: string): Run[] {
  return text.split(/(?<=\s)/).flatMap((word) => {
    const large = /^[\p{Lu}\d]/u.test(word) ? 1 : 0;
    return [{ text: word.slice(0, large) }, { text: word.slice(large).toUpperCase(), scale: SMALL_CAPITALS }].filter(
      (run) => run.text !== '',
    );
  });
}

function drawFurniture(author: Author, organisation: string, title: string): Pick<PageStyle, 'head' | 'foot'> {
  const { random } = author;
  const none: Furniture = { left: '', centre: '', right: '', rule: false };
  const number = random.pick(['{page}', '– {page} –', '{page} / {pages}', `${author.word()} {page}`, '[{page}]']);
  const rule = random.oneIn(3);
  switch (random.below(7)) {
    case 0:
      return {};
    case 1:
      return { foot: { ...none, centre: number } };
    case 2:
      return { head: { ...none, left: title, right: number, rule } };
    case 3:
      return { head: { ...none, centre: title, rule }, foot: { ...none, right: number } };
    case 4:
      return { head: { ...none, left: organisation, right: title, rule } };
    case 5:
      return { foot: { left: organisation, centre: author.date(), right: number, rule } };
    default:
      return { head: { ...none, right: number }, foot: { ...none, left: title, rule } };
  }
}

/** @param kind of the document: slides, typewritten pages and articles have pages of their own */
export function drawStyle(author: Author, kind: string): Style {
  const { random } = author;
  const [isSlide, isMono, isArticle] = [kind === 'slides', kind === 'typewritten', kind === 'article'];
  const pageName = isSlide
    ? random.pick(['slide', 'wide slide'])
    : random.pick(['A4', 'A4', 'A4', 'letter', 'letter', 'letter', 'B5', 'A5', 'legal', 'A4 landscape']);
  const [width, height] = PAGES[pageName]!;
  const size = isSlide ? author.between(14, 20) : random.pick(pageName === 'A5' ? [9, 9.5] : [9, 10, 10.5, 11, 12]);
  const mono = random.pick(MONO_FONTS);
  const columns = isArticle ? (pageName === 'A4 landscape' ? 3 : pageName === 'A5' ? 1 : 2) : 1;
  const page: PageStyle = {
    width,
    height,
    margin: isSlide ? 40 : author.between(columns > 1 ? 42 : 50, pageName === 'A5' ? 56 : 90),
    font: isMono ? mono : random.pick(FONTS),
    mono,
    size,
    lineHeight: random.pick([1.15, 1.2, 1.3, 1.45]),
    ...(random.oneIn(6) ? {} : drawFurniture(author, author.title(true, 3), author.title(false, 4))),
    mirrored: random.oneIn(4),
    plainFirst: random.oneIn(3),
    language: author.language,
  };
  return {
    page,
    pageName,
    columns,
    columnGap: author.between(14, 26),
    columnRule: random.oneIn(5),
    justified: !isSlide && !isMono && random.oneIn(2),
    hyphens: random.oneIn(2),
    paragraphs: isSlide || random.below(3) < 2 ? 'space' : 'indent',
    headings: drawHeadings(author, size, isMono),
    numbering: isSlide ? 'none' : random.pick(NUMBERINGS.concat('none', 'none')),
    numberWord: random.pick(['Chapter', 'Part', 'Section', 'Article', author.phrase(1, 1)]),
    everyWord: random.oneIn(2),
    bullets: random.pick([
      ['•', '◦'],
      ['–', '·'],
      ['▪', '–'],
      ['‣', '•'],
      ['*', '-'],
    ]),
    itemNumbers: random.pick([
      (at: number) => `${at}.`,
      (at: number) => `${at})`,
      (at: number) => `(${at})`,
      (at: number) => `${letter(at).toLowerCase()})`,
      (at: number) => `${roman(at).toLowerCase()}.`,
    ]),
    captions: random.pick(['above', 'below']),
    mono: isMono,
  };
}
