// Makes tagged PDF files of a few lines, and converts them to Markdown, for the tests of what tags say.
import {
  PDFDocument,
  type PDFFont,
  type PDFHexString,
  PDFName,
  type PDFPage,
  type PDFRef,
  StandardFonts,
} from 'pdf-lib';
import { convert } from './pictures.ts';

/** An element of the structure tree, with the lines that it shows or the elements that it holds. */
export interface Tagged {
  type: string;
  lines?: Line[];
  kids?: Tagged[];
  /** Page on which it stands, where that is another than its parent's: an index from 0. */
  page?: number;
  /** Of a cell. */
  spans?: { RowSpan?: number; ColSpan?: number };
}

/** One line of text; `y` from the top of the page. */
interface Line {
  said: string;
  x: number;
  y: number;
  size: number;
  bold: boolean;
}

const HEIGHT = 700;

/** A line at the left margin in type of 10 points. */
export const said = (text: string, y: number, { x = 50, size = 10, bold = false } = {}): Line => ({
  said: text,
  x,
  y,
  size,
  bold,
});

/** Elements of one type and one line each, 14 points apart. */
export const lines = (type: string, from: number, texts: readonly string[]): Tagged[] =>
  texts.map((text, n) => ({ type, lines: [said(text, from + n * 14)] }));

/** A paragraph of several lines. */
export const paragraph = (from: number, count = 4): Tagged => ({
  type: 'P',
  lines: Array.from({ length: count }, (_, n) =>
    said('The keeper of the light counts every ship that passes the harbour in the night, and', from + n * 14),
  ),
});

/** A row of cells, 100 points apart; an empty text is an empty cell. */
export const row = (y: number, cells: readonly string[], type = 'TD'): Tagged => ({
  type: 'TR',
  kids: cells.map((text, n) => ({ type, ...(text !== '' && { lines: [said(text, y, { x: 50 + n * 100 })] }) })),
});

/**
 * @param pages elements of each page; those of type `Artifact` are marked as such, those of type `untagged` are not, and both are not in the tree
 * @param roles other names of structure types
 */
async function taggedPdf(
  pages: readonly (readonly Tagged[])[],
  roles: Record<string, string> = {},
): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const { context, catalog } = document;
  const plain = await document.embedFont(StandardFonts.Helvetica);
  const bold = await document.embedFont(StandardFonts.HelveticaBold);
  const root = context.nextRef();
  const tops: PDFRef[] = [];
  const parents: (number | PDFRef[])[] = [];
  const drawn: TaggedPage[] = [];
  for (const _ of pages) drawn.push(new TaggedPage(document.addPage([600, HEIGHT]), plain, bold, drawn));
  for (const [index, elements] of pages.entries())
    tops.push(...elements.flatMap((element) => drawn[index]?.add(element, root) ?? []));
  for (const [index, page] of drawn.entries()) {
    page.finish(index);
    parents.push(index, page.marked);
  }
  const ParentTree = context.register(context.obj({ Nums: parents }));
  context.assign(root, context.obj({ Type: 'StructTreeRoot', K: tops, ParentTree, RoleMap: roles }));
  catalog.set(PDFName.of('StructTreeRoot'), root);
  catalog.set(PDFName.of('MarkInfo'), context.obj({ Marked: true }));
  return document.save({ useObjectStreams: false });
}

class TaggedPage {
  /** The element of each marked content, by its id. */
  readonly marked: PDFRef[] = [];
  readonly #page: PDFPage;
  readonly #fonts: { F: PDFFont; B: PDFFont };
  readonly #out: string[] = [];
  readonly #all: readonly TaggedPage[];

  constructor(page: PDFPage, plain: PDFFont, bold: PDFFont, all: readonly TaggedPage[]) {
    this.#page = page;
    this.#all = all;
    this.#fonts = { F: plain, B: bold };
    for (const [name, font] of Object.entries(this.#fonts)) page.node.setFontDictionary(PDFName.of(name), font.ref);
  }

  add({ page, ...element }: Tagged, parent: PDFRef): PDFRef | undefined {
    if (page !== undefined) return this.#all[page]?.add(element, parent);
    const { type, lines: own = [], kids = [], spans } = element;
    const { context } = this.#page.doc;
    if (type === 'Artifact' || type === 'untagged') {
      this.#write(type === 'Artifact' ? '/Artifact BMC' : '/Span BMC', own);
      return undefined;
    }
    const ref = context.nextRef();
    const ids = own.map((line) => {
      this.marked.push(ref);
      const id = this.marked.length - 1;
      this.#write(`/${type} <</MCID ${id}>> BDC`, [line]);
      return id;
    });
    const children = kids.flatMap((kid) => this.add(kid, ref) ?? []);
    const A = spans ? { A: { O: 'Table', ...spans } } : {};
    context.assign(
      ref,
      context.obj({ Type: 'StructElem', S: type, P: parent, Pg: this.#page.ref, K: [...ids, ...children], ...A }),
    );
    return ref;
  }

  #write(begin: string, own: readonly Line[]): void {
    const shown = own.map(({ said: text, x, y, size, bold }) => {
      const name = bold ? 'B' : 'F';
      const code: PDFHexString = this.#fonts[name].encodeText(text);
      return `BT /${name} ${size} Tf ${x} ${HEIGHT - y} Td ${code} Tj ET`;
    });
    this.#out.push(begin, ...shown, 'EMC');
  }

  finish(index: number): void {
    const { context } = this.#page.doc;
    this.#page.node.addContentStream(context.register(context.stream(this.#out.join('\n'))));
    this.#page.node.set(PDFName.of('StructParents'), context.obj(index));
  }
}

/** The blocks of the Markdown of tagged pages. */
export async function readTagged(
  pages: readonly (readonly Tagged[])[],
  roles?: Record<string, string>,
): Promise<string[]> {
  const { markdown } = await convert(await taggedPdf(pages, roles));
  return markdown.split('\n\n');
}
