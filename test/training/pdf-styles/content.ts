// Draws the content of a random document: which blocks it has, in an order that its kind of document has.
import type { Block, ListItem, TableDesign } from './model.ts';
import { drawTableDesign, headingNumber, type Style } from './style.ts';
import { drawForm, drawInvoice, drawTable } from './tables.ts';
import type { Author } from './text.ts';

export const KINDS = [
  'report',
  'report',
  'article',
  'book',
  'statistics',
  'manual',
  'letter',
  'invoice',
  'form',
  'slides',
  'typewritten',
  'bylaws',
] as const;
type Kind = (typeof KINDS)[number];

/** Columns of a table in a column of text, and across a page. */
const MOST_COLUMNS = { narrow: 4, wide: 8 };
/** Width of a wide letter in parts of the size of the text, so that words in cells surely fit. */
const WIDE_LETTER = 0.62;
/** Rows of a table that needs more than one page. */
const LONG_TABLE_ROWS = 55;

/** Writes the blocks of one document. It counts headings, captions and tables. */
class Composer {
  readonly blocks: Block[] = [];
  readonly designs: TableDesign[] = [];
  readonly #author: Author;
  readonly #style: Style;
  readonly #numbers: number[] = [];
  readonly #tableDesigns: readonly TableDesign[];
  readonly #captionWord: string;
  #captions = 0;

  constructor(author: Author, style: Style) {
    this.#author = author;
    this.#style = style;
    this.#tableDesigns = [drawTableDesign(author), drawTableDesign(author)];
    this.#captionWord = author.random.pick(['Table', 'Tab.', 'TABLE', author.phrase(1, 1)]);
  }

  /** Characters that surely fit into a line. */
  get room(): number {
    const { page, columns, columnGap } = this.#style;
    const width = (page.width - 2 * page.margin - columnGap * (columns - 1)) / columns;
    return width / (page.size * WIDE_LETTER);
  }

  add(...blocks: Block[]): void {
    this.blocks.push(...blocks);
  }

  paragraphs(least: number, most: number): void {
    for (let count = this.#author.between(least, most); count > 0; count--) this.add(this.#paragraph());
  }

  #paragraph(): Block {
    const { random } = this.#author;
    const lead = random.oneIn(12) ? `${this.#author.phrase(1, 3)}.` : undefined;
    return { kind: 'paragraph', text: this.#author.paragraph(), role: 'body', ...(lead === undefined ? {} : { lead }) };
  }

  /** @param level 1 is the title of the document, which has no number */
  heading(level: number, startsPage = false): void {
    let number = '';
    if (level > 1) {
      this.#numbers.length = Math.min(this.#numbers.length, level - 1);
      this.#numbers[level - 2] = (this.#numbers[level - 2] ?? 0) + 1;
      number = headingNumber(this.#style, this.#numbers);
    }
    const title = this.#author.title(this.#style.everyWord, level === 1 ? 8 : 6);
    const capitals = this.#style.headings[level - 1]!.case !== 'as is';
    this.add({ kind: 'heading', level, text: [number, title].filter(Boolean).join(' '), capitals, startsPage });
  }

  bylines(): void {
    const { random } = this.#author;
    const count = random.below(4);
    for (let at = 0; at < count; at++)
      this.add({
        kind: 'paragraph',
        role: 'byline',
        text: random.pick([
          () => `${this.#author.name()}, ${this.#author.name()}`,
          () => this.#author.title(true, 4),
          () => this.#author.date(),
        ])(),
      });
  }

  list(depthLimit = 2): void {
    const { random } = this.#author;
    const isNumbered = random.oneIn(2);
    const most = random.pick([4, 12, 30]);
    const items: ListItem[] = [];
    let number = 0;
    for (let count = this.#author.between(3, 6); count > 0; count--) {
      const depth = items.length > 0 && depthLimit > 1 && random.oneIn(4) ? 1 : 0;
      const isBullet = depth === 1 || !isNumbered;
      const marker = isBullet ? this.#style.bullets[depth]! : this.#style.itemNumbers(++number);
      items.push({ marker, depth, text: this.#author.phrase(2, most) + random.pick(['', '.']) });
    }
    this.add({ kind: 'list', items });
  }

  /** @param columns of the table, if it must have the shape of another */
  table(columns?: number, rows = this.#author.between(3, 14)): void {
    const { random } = this.#author;
    const most = this.#style.columns > 1 || this.#style.page.width < 450 ? MOST_COLUMNS.narrow : MOST_COLUMNS.wide;
    const design = random.pick(this.#tableDesigns);
    this.designs.push(design);
    const wish = {
      design,
      rows,
      columns: columns ?? this.#author.between(2, most),
      texts: random.below(3),
      room: this.room,
    };
    const table: Block = { kind: 'table', table: drawTable(this.#author, wish) };
    if (random.oneIn(2)) {
      this.add(table);
      return;
    }
    const text = `${this.#captionWord} ${++this.#captions}${random.pick([':', '.', ''])} ${this.#author.phrase(2, 10)}`;
    const caption: Block = { kind: 'paragraph', role: 'caption', text };
    this.add(...(this.#style.captions === 'above' ? [caption, table] : [table, caption]));
    if (random.oneIn(5)) this.add({ kind: 'paragraph', role: 'note', text: this.#author.sentence() });
  }

  pair(): void {
    const one = (): Block => {
      const design = this.#tableDesigns[0]!;
      this.designs.push(design);
      const wish = {
        design,
        rows: this.#author.between(3, 7),
        columns: this.#author.between(2, 3),
        texts: 0,
        room: this.room / 2 - 2,
      };
      return { kind: 'table', table: { ...drawTable(this.#author, wish), share: 1 } };
    };
    this.add({ kind: 'pair', left: [one()], right: [one()] });
  }

  box(): void {
    const { random } = this.#author;
    const title: Block[] = random.oneIn(2)
      ? [{ kind: 'lines', lines: [this.#author.phrase(1, 3)], align: 'left' }]
      : [];
    this.add({
      kind: 'box',
      design: random.pick(['frame', 'shade', 'bar', 'rules']),
      blocks: [...title, { kind: 'paragraph', role: 'body', text: this.#author.paragraph(this.#author.between(1, 3)) }],
    });
  }

  terms(): void {
    const entries = Array.from(
      { length: this.#author.between(3, 6) },
      () => [this.#author.phrase(1, 3), this.#author.paragraph(this.#author.between(1, 2))] as const,
    );
    this.add({ kind: 'terms', sameLine: this.#author.random.oneIn(2), entries });
  }

  code(): void {
    const { random } = this.#author;
    const word = () => this.#author.word().toLowerCase();
    const lines = Array.from({ length: this.#author.between(3, 9) }, (_, at) => {
      const indent = '  '.repeat(at === 0 ? 0 : random.below(3));
      return `${indent}${random.pick([`${word()} = ${word()}(${random.below(99)}, "${word()}")`, `if ${word()}.${word()} > ${random.below(9)}:`, `# ${word()} ${word()}`, `return ${word()}[${random.below(9)}];`])}`;
    });
    this.add({ kind: 'code', design: random.pick(['plain', 'frame', 'shade']), lines });
  }

  /** Lines such as `Name: value`. */
  fields(): void {
    const { random } = this.#author;
    const lines = Array.from(
      { length: this.#author.between(3, 7) },
      () =>
        `${this.#author.phrase(1, 2)}: ${random.pick([this.#author.name(), this.#author.date(), this.#author.words(2)])}`,
    );
    this.add({ kind: 'lines', lines, align: 'left' });
  }

  address(align: 'left' | 'right' = 'left'): Block {
    const author = this.#author;
    const lines = [author.name(), author.title(true, 3), `${author.phrase(1, 2)} ${author.between(1, 200)}`];
    return { kind: 'lines', lines: [...lines, `${author.between(10_000, 99_999)} ${author.phrase(1, 1)}`], align };
  }

  /** Blocks between two headings. */
  section(extras: readonly (() => void)[]): void {
    this.paragraphs(1, 3);
    if (this.#author.random.below(5) < 3) this.#author.random.pick(extras)();
    if (this.#author.random.oneIn(2)) this.paragraphs(1, 2);
  }

  /** Sections with headings of the levels 2 to 4. */
  sections(count: number, extras: readonly (() => void)[], chapters = false): void {
    for (let at = 0; at < count; at++) {
      this.heading(2, chapters && at > 0);
      if (this.#author.random.oneIn(2)) this.section(extras);
      for (let subs = this.#author.random.below(4); subs > 0; subs--) {
        this.heading(3);
        this.section(extras);
        if (!this.#author.random.oneIn(4)) continue;
        this.heading(4);
        this.section(extras);
      }
      if (this.blocks.at(-1)?.kind === 'heading') this.paragraphs(1, 2);
    }
  }

  /** Tables of one shape, with a heading or a caption above each. */
  stackedTables(): void {
    const columns = this.#author.between(3, this.#style.columns > 1 ? 4 : 6);
    for (let count = this.#author.between(2, 4); count > 0; count--) {
      if (this.#author.random.oneIn(2)) this.heading(3);
      else this.add({ kind: 'lines', lines: [this.#author.phrase(2, 5)], align: 'left' });
      this.table(columns, this.#author.between(2, 6));
    }
  }

  /** Adds notes at the foot of the page, and their marks to the last paragraphs. Only for documents of one page. */
  footnotes(): void {
    const bodies = this.blocks.filter((block) => block.kind === 'paragraph' && block.role === 'body').slice(-3);
    if (bodies.length === 0) return;
    bodies.forEach((body, at) => {
      this.blocks[this.blocks.indexOf(body)] = { ...body, mark: at + 1 } as Block;
    });
    this.add({ kind: 'footnotes', notes: bodies.map(() => this.#author.sentence()) });
  }
}

function composeLetter(composer: Composer, author: Author, style: Style, isInvoice: boolean): void {
  const [sender, receiver] = [composer.address(author.random.oneIn(2) ? 'right' : 'left'), composer.address()];
  if (author.random.oneIn(2)) composer.add(sender, receiver);
  else composer.add({ kind: 'pair', left: [receiver], right: [composer.address('left')] });
  composer.fields();
  composer.heading(1);
  if (!isInvoice) composer.paragraphs(2, 6);
  else {
    const design = drawTableDesign(author);
    composer.designs.push(design);
    composer.add({ kind: 'table', table: drawInvoice(author, design, composer.room) });
    composer.paragraphs(1, 2);
    composer.fields();
  }
  if (!isInvoice && style.page.height > 600 && author.random.oneIn(3)) composer.table();
  composer.add({ kind: 'lines', lines: [author.phrase(2, 3), author.name()], align: 'left' });
}

function composeSlides(composer: Composer, author: Author): void {
  composer.heading(1);
  composer.bylines();
  for (let count = author.between(3, 7); count > 0; count--) {
    composer.heading(2, true);
    author.random.pick([
      () => composer.list(),
      () => composer.list(1),
      () => composer.paragraphs(1, 1),
      () => composer.table(author.between(2, 4), author.between(2, 5)),
    ])();
  }
}

function composeBylaws(composer: Composer, author: Author): void {
  composer.heading(1);
  for (let article = author.between(3, 6); article > 0; article--) {
    composer.heading(2);
    const items = Array.from({ length: author.between(2, 6) }, (_, at): ListItem => {
      const text = author.paragraph(author.between(1, 3));
      return { marker: `(${at + 1})`, depth: 0, text };
    });
    composer.add({ kind: 'list', items });
    if (author.random.oneIn(3)) composer.list(1);
  }
}

/** @returns the blocks, and the designs of their tables */
export function composeDocument(author: Author, style: Style, kind: Kind): Pick<Composer, 'blocks' | 'designs'> {
  const composer = new Composer(author, style);
  const { random } = author;
  const common = [() => composer.list(), () => composer.table(), () => composer.table()];
  const extras = {
    report: [...common, () => composer.pair(), () => composer.box()],
    article: [...common, () => composer.table()],
    book: [...common, () => composer.add({ kind: 'paragraph', role: 'quote', text: author.paragraph(2) })],
    statistics: [() => composer.stackedTables(), () => composer.pair(), () => composer.table()],
    manual: [() => composer.box(), () => composer.code(), () => composer.terms(), () => composer.list()],
    form: [() => composer.fields(), () => composer.table(), () => composer.box()],
    typewritten: [() => composer.table(), () => composer.list(), () => composer.fields()],
  };
  if (kind === 'letter' || kind === 'invoice') composeLetter(composer, author, style, kind === 'invoice');
  else if (kind === 'slides') composeSlides(composer, author);
  else if (kind === 'bylaws') composeBylaws(composer, author);
  else {
    if (!random.oneIn(5)) {
      composer.heading(1);
      composer.bylines();
    }
    if (kind === 'form') {
      const design = drawTableDesign(author);
      composer.designs.push(design);
      composer.add({ kind: 'table', table: drawForm(author, design, composer.room) });
    }
    if (kind === 'statistics' && random.oneIn(3)) composer.table(undefined, LONG_TABLE_ROWS);
    const count = kind === 'article' ? author.between(3, 6) : author.between(2, kind === 'form' ? 3 : 4);
    composer.sections(count, extras[kind], kind === 'book');
  }
  if ((kind === 'letter' || kind === 'form') && random.oneIn(3)) composer.footnotes();
  return composer;
}
