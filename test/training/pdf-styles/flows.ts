// Turns the blocks of a random document into paragraphs, grids and columns with a fixed look, which each engine can write.
import type { Block, Flow, Grid, GridCell, Look, Run, Table } from './model.ts';
import { type Style, smallCapitals } from './style.ts';
import { type Author, hyphenated } from './text.ts';

/** Sizes of captions, notes and code in parts of the size of the text. */
const SMALL = 0.88;

/** Draws the looks that all blocks of a document share. */
export class Typesetter {
  readonly #author: Author;
  readonly #style: Style;
  readonly #indent: number;
  readonly #gap: number;
  readonly #padding: readonly [number, number];
  readonly #bylineLook: Look;
  readonly #captionLook: Look;
  readonly #sideHeads: boolean;
  #hasDropCap: boolean;
  #notes: readonly string[] = [];

  constructor(author: Author, style: Style) {
    const { random } = author;
    this.#author = author;
    this.#style = style;
    const { size } = style.page;
    this.#indent = author.between(14, 30);
    this.#gap = author.between(4, 10);
    this.#padding = [author.between(1, 5), author.between(3, 9)];
    const align = style.headings[0]!.look.align ?? 'left';
    this.#bylineLook = { size: size + random.below(3), align, italic: random.oneIn(3), after: 4 };
    this.#captionLook = {
      size: style.mono ? size : size * random.pick([SMALL, 1]),
      italic: random.oneIn(3),
      bold: random.oneIn(4),
      align: random.pick(['left', 'center']),
      before: 4,
      after: 4,
    };
    this.#hasDropCap = !style.mono && style.columns === 1 && random.oneIn(6);
    this.#sideHeads = style.columns === 1 && style.page.width > 500 && !style.mono && random.oneIn(12);
  }

  get tags(): string[] {
    return [this.#hasDropCap ? 'drop cap' : '', this.#sideHeads ? 'side heads' : ''].filter(Boolean);
  }

  /** All flows of the document: in columns of text, except what is above the first section. */
  typeset(blocks: readonly Block[]): Flow[] {
    const { columns, columnGap, columnRule } = this.#style;
    this.#notes = blocks.flatMap((block) => (block.kind === 'footnotes' ? block.notes : []));
    if (this.#sideHeads) return this.#withSideHeads(blocks);
    const flows = blocks.map((block) => this.#flowsOf(block));
    if (columns === 1) return flows.flat();
    const first = Math.max(
      0,
      blocks.findIndex((block) => block.kind === 'heading' && block.level > 1),
    );
    return [
      ...flows.slice(0, first).flat(),
      { kind: 'columns', count: columns, gap: columnGap, rule: columnRule, flows: flows.slice(first).flat() },
    ];
  }

  /** Headings below the title stand in a column of their own, at the left of their text. */
  #withSideHeads(blocks: readonly Block[]): Flow[] {
    const flows: Flow[] = [];
    for (const block of blocks) {
      const previous = blocks[blocks.indexOf(block) - 1];
      const own = this.#flowsOf(block);
      const isText = block.kind === 'paragraph' || block.kind === 'list';
      if (block.kind === 'heading' && block.level > 1) flows.push(this.#sideBySide([own, []], [0.27, 0.73]));
      else if (isText && previous?.kind === 'heading' && previous.level > 1) {
        const headed = flows.at(-1);
        if (headed?.kind !== 'grid') flows.push(...own);
        else flows[flows.length - 1] = this.#sideBySide([headed.grid.rows[0]![0]!.flows, own], [...headed.grid.widths]);
      } else flows.push(this.#sideBySide([[], own], [0.27, 0.73]));
    }
    return flows;
  }

  #sideBySide(sides: readonly (readonly Flow[])[], widths: readonly number[], before = 0): Flow {
    const row = sides.map((flows) => gridCell(flows, { edges: [0, 0, 0, 0] }));
    const grid: Grid = {
      rows: [row],
      headRows: 0,
      widths,
      share: 1,
      padding: [0, 6],
      align: 'left',
      before,
      after: before,
    };
    return { kind: 'grid', grid };
  }

  #runs(text: string): Run[] {
    const { random } = this.#author;
    const shown = this.#style.hyphens && this.#style.justified ? hyphenated(text) : text;
    const words = shown.split(' ');
    if (words.length < 8 || !random.oneIn(5)) return [{ text: shown }];
    const at = this.#author.between(2, words.length - 4);
    const emphasis = random.oneIn(2) ? { bold: true } : { italic: true };
    return [
      { text: `${words.slice(0, at).join(' ')} ` },
      { text: words.slice(at, at + 2).join(' '), ...emphasis },
      { text: ` ${words.slice(at + 2).join(' ')}` },
    ];
  }

  #body(more: Partial<Look> = {}): Look {
    const { paragraphs, justified, page } = this.#style;
    const spacing = paragraphs === 'space' ? { after: this.#gap } : { first: this.#indent / 1.5, after: 0 };
    return { size: page.size, align: justified ? 'justify' : 'left', ...spacing, ...more };
  }

  #flowsOf(block: Block): Flow[] {
    switch (block.kind) {
      case 'heading':
        return [this.#heading(block)];
      case 'paragraph':
        return [this.#paragraph(block)];
      case 'lines':
        return block.lines.map((line, at) =>
          paragraph(line, {
            size: this.#style.page.size,
            align: block.align,
            after: at === block.lines.length - 1 ? this.#gap + 4 : 1,
          }),
        );
      case 'list':
        return block.items.map(({ marker, text, depth }) => ({
          kind: 'paragraph',
          look: this.#body({ left: this.#indent * (depth + 1), first: -this.#indent, marker, after: this.#gap / 2 }),
          runs: this.#runs(text),
        }));
      case 'table':
        return [{ kind: 'grid', grid: this.#table(block.table) }];
      case 'pair':
        return [
          this.#sideBySide(
            [block.left, block.right].map((side) => side.flatMap((one) => this.#flowsOf(one))),
            [0.5, 0.5],
            8,
          ),
        ];
      case 'box':
        return [this.#box(block)];
      case 'terms':
        return this.#terms(block);
      case 'code':
        return [this.#code(block)];
      case 'footnotes':
        return [{ kind: 'footer', flows: block.notes.map((note, at) => this.#note(note, at + 1)) }];
    }
  }

  #heading({ level, text, capitals, startsPage }: Block & { kind: 'heading' }): Flow {
    const { look, case: lettering } = this.#style.headings[level - 1]!;
    const runs =
      lettering === 'small capitals' ? smallCapitals(text) : [{ text: capitals ? text.toUpperCase() : text }];
    return { kind: 'paragraph', look: { ...look, startsPage }, runs };
  }

  #paragraph({ text, role, lead, mark }: Block & { kind: 'paragraph' }): Flow {
    const { size } = this.#style.page;
    switch (role) {
      case 'byline':
        return paragraph(text, this.#bylineLook);
      case 'caption':
        return paragraph(text, this.#captionLook);
      case 'note':
        return paragraph(text, { size: this.#style.mono ? size : size * SMALL, after: this.#gap });
      case 'quote':
        return paragraph(text, this.#body({ left: this.#indent, first: 0, italic: true, after: this.#gap }));
      case 'body': {
        const runs: Run[] = lead === undefined ? this.#runs(text) : [{ text: `${lead} `, bold: true }, { text }];
        const dropCap = this.#hasDropCap && lead === undefined && /^\p{L}/u.test(text) && text.length > 300;
        if (dropCap) this.#hasDropCap = false;
        if (mark !== undefined) runs.push({ text: String(mark), raised: true, note: this.#notes[mark - 1] ?? '' });
        return { kind: 'paragraph', look: this.#body(dropCap ? { dropCap, first: 0 } : {}), runs };
      }
    }
  }

  #table(table: Table): Grid {
    const { design, rows, headRows, vertical } = table;
    const size = this.#style.mono
      ? this.#style.page.size
      : this.#style.page.size * (table.widths.length > 5 ? SMALL : 1);
    const covered = new Set<string>();
    const last = { row: rows.length - 1, column: table.widths.length - 1 };
    const cells = rows.map((row, at) => {
      let column = 0;
      return row.map((cell): GridCell => {
        while (covered.has(`${at} ${column}`)) column++;
        const isHead = at < headRows;
        for (let down = 1; down < cell.rows; down++)
          for (let right = 0; right < cell.columns; right++) covered.add(`${at + down} ${column + right}`);
        const columnLine = isHead ? design.headColumns : design.bodyColumns;
        const ends = { row: at + cell.rows - 1 === last.row, column: column + cell.columns - 1 === last.column };
        const innerTop = at === headRows ? design.underHead : isHead ? design.headColumns : design.rows;
        const isHeadless = headRows === 0 && at === 0;
        const fill =
          (isHead ? design.headFill : (at - headRows) % 2 === 1 ? design.zebraFill : undefined) ??
          (column === 0 && !isHead ? design.firstColumnFill : undefined);
        const colour = isHead ? design.headColour : undefined;
        const made = gridCell(
          [paragraph(cell.text, { size, align: cell.align, bold: cell.bold, ...(colour ? { colour } : {}) })],
          {
            edges: [
              at === 0 || isHeadless ? design.top : innerTop,
              ends.column ? design.sides : 0,
              ends.row ? design.bottom : 0,
              column === 0 ? design.sides : columnLine,
            ],
            ...(fill === undefined ? {} : { fill }),
          },
        );
        column += cell.columns;
        return { ...made, columns: cell.columns, rows: cell.rows, line: design.line, vertical };
      });
    });
    return {
      rows: cells,
      headRows: table.repeatsHead ? headRows : 0,
      widths: table.widths,
      share: table.share,
      padding: this.#padding,
      align: table.share < 1 && this.#captionLook.align === 'center' ? 'center' : 'left',
      before: 6,
      after: 10,
    };
  }

  #box({ design, blocks }: Block & { kind: 'box' }): Flow {
    const flows = blocks.flatMap((block) => this.#flowsOf(block));
    const line = 1;
    const edges: Readonly<Record<typeof design, GridCell['edges']>> = {
      frame: [line, line, line, line],
      shade: [0, 0, 0, 0],
      bar: [0, 0, 0, 4 * line],
      rules: [line, 0, line, 0],
    };
    const fill = design === 'shade' || design === 'bar' ? { fill: '#ececec' } : {};
    return boxGrid(gridCell(flows, { edges: edges[design], ...fill }));
  }

  #code({ design, lines }: Block & { kind: 'code' }): Flow {
    const size = this.#style.page.size * SMALL;
    const flows = lines.map((line) => paragraph(line.replace(/ /g, '\u00a0'), { size, mono: true }));
    const line = design === 'frame' ? 0.75 : 0;
    const fill = design === 'shade' ? { fill: '#f0f0f0' } : {};
    return boxGrid(gridCell(flows, { edges: [line, line, line, line], ...fill }));
  }

  #terms({ entries, sameLine }: Block & { kind: 'terms' }): Flow[] {
    const look = this.#body({ left: this.#indent * 1.5, first: 0, after: this.#gap });
    return entries.flatMap(([term, text]) =>
      sameLine
        ? [
            {
              kind: 'paragraph' as const,
              look: { ...look, first: -this.#indent },
              runs: [{ text: `${term} `, bold: true }, { text }],
            },
          ]
        : [paragraph(term, { size: look.size, bold: true, after: 1, keep: true }), paragraph(text, look)],
    );
  }

  #note(note: string, number: number): Flow {
    const runs = [{ text: String(number), raised: true }, { text: ` ${note}` }];
    return { kind: 'paragraph', look: { size: this.#style.page.size * 0.8, after: 2 }, runs };
  }
}

const paragraph = (text: string, look: Look): Flow => ({ kind: 'paragraph', look, runs: [{ text }] });

const gridCell = (flows: readonly Flow[], more: Pick<GridCell, 'edges'> & Partial<GridCell>): GridCell => ({
  flows,
  columns: 1,
  rows: 1,
  line: 'solid',
  vertical: 'top',
  ...more,
});

const boxGrid = (cell: GridCell): Flow => ({
  kind: 'grid',
  grid: { rows: [[cell]], headRows: 0, widths: [1], share: 1, padding: [6, 9], align: 'left', before: 6, after: 8 },
});
