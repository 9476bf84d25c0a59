// Writes a random document as a flat OpenDocument text, for LibreOffice.
import type { Flow, Furniture, Grid, GridCell, Look, PageStyle, RandomDocument, Run } from './model.ts';

const NAMESPACES = Object.entries({
  office: 'office:1.0',
  style: 'style:1.0',
  text: 'text:1.0',
  table: 'table:1.0',
  fo: 'xsl-fo-compatible:1.0',
  svg: 'svg-compatible:1.0',
})
  .map(([prefix, name]) => `xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${name}"`)
  .join(' ');

/** Size of running heads in parts of the size of the text, and the space between them and the text in points. */
const SMALL = 0.85;
const FURNITURE_GAP = 8;

const escaped = (text: string) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

type Attributes = Readonly<Record<string, string | number | false | undefined>>;

/** An element; numbers are lengths in points. */
function element(name: string, attributes: Attributes, content = ''): string {
  const list = Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(
      ([key, value]) => ` ${key}="${typeof value === 'number' ? `${value.toFixed(2)}pt` : escaped(value as string)}"`,
    )
    .join('');
  return `<${name}${list}>${content}</${name}>`;
}

const line = (width: number | undefined, kind = 'solid') => (width ? `${width}pt ${kind} #333333` : undefined);

/** Writes the body of one document and collects the styles that it uses. */
class Writer {
  readonly #page: PageStyle;
  readonly #styles = new Map<string, string>();

  constructor(page: PageStyle) {
    this.#page = page;
  }

  get styles(): string {
    return [...this.#styles]
      .map(([definition, name]) => definition.replace('style:style', `style:style style:name="${name}"`))
      .join('\n');
  }

  /** The name of a style with these properties. */
  #style(family: string, properties: string, more: Attributes = {}): string {
    const definition = element('style:style', { 'style:family': family, ...more }, properties);
    let name = this.#styles.get(definition);
    if (name === undefined) this.#styles.set(definition, (name = `S${this.#styles.size + 1}`));
    return name;
  }

  #textProperties(look: Partial<Look>): string {
    const weight = look.bold ? 'bold' : undefined;
    const posture = look.italic ? 'italic' : undefined;
    const font = look.mono ? this.#page.mono : undefined;
    return element('style:text-properties', {
      'style:font-name': font,
      'fo:font-size': look.size,
      'fo:font-weight': weight,
      'fo:font-style': posture,
      'fo:color': look.colour,
      'fo:letter-spacing': look.tracking,
      'style:text-underline-style': look.underline && 'solid',
      'style:text-underline-width': look.underline && 'auto',
    });
  }

  #paragraphStyle(look: Look): string {
    const frame = line(look.frame);
    const properties = {
      'fo:text-align': look.align === 'left' ? 'start' : look.align === 'right' ? 'end' : look.align,
      'fo:margin-top': look.before ?? 0,
      'fo:margin-bottom': look.after ?? 0,
      'fo:margin-left': look.left ?? 0,
      'fo:text-indent': look.first ?? 0,
      'fo:line-height': `${Math.round(this.#page.lineHeight * 87)}%`,
      'fo:background-color': look.fill,
      'fo:border': frame,
      'fo:border-top': line(look.ruleAbove),
      'fo:border-bottom': line(look.ruleBelow),
      'fo:padding': look.frame || look.fill || look.ruleAbove || look.ruleBelow ? 2.5 : undefined,
      'fo:keep-with-next': look.keep && 'always',
      'fo:break-before': look.startsPage && 'page',
      'fo:orphans': '2',
      'fo:widows': '2',
    };
    const dropCap = look.dropCap
      ? element('style:drop-cap', { 'style:lines': '3', 'style:length': '1', 'style:distance': 3 })
      : '';
    return this.#style(
      'paragraph',
      element('style:paragraph-properties', properties, dropCap) + this.#textProperties(look),
    );
  }

  #run(run: Run, size: number): string {
    if (run.note !== undefined) {
      const look = this.#paragraphStyle({ size: this.#page.size * 0.8 });
      const body = element('text:note-body', {}, element('text:p', { 'text:style-name': look }, escaped(run.note)));
      const citation = element('text:note-citation', {}, run.text);
      return element('text:note', { 'text:note-class': 'footnote' }, citation + body);
    }
    if (!run.bold && !run.italic && run.scale === undefined) return escaped(run.text);
    const look = { ...run, ...(run.scale === undefined ? {} : { size: size * run.scale }) };
    return element(
      'text:span',
      { 'text:style-name': this.#style('text', this.#textProperties(look)) },
      escaped(run.text),
    );
  }

  flows(flows: readonly Flow[], width: number): string {
    return flows.map((flow) => this.#flow(flow, width)).join('\n');
  }

  #flow(flow: Flow, width: number): string {
    switch (flow.kind) {
      case 'paragraph': {
        const marker = flow.look.marker === undefined ? '' : `${escaped(flow.look.marker)}<text:tab/>`;
        const text = flow.runs.map((run) => this.#run(run, flow.look.size)).join('');
        return element('text:p', { 'text:style-name': this.#paragraphStyle(flow.look) }, marker + text);
      }
      case 'grid':
        return this.#table(flow.grid, width);
      case 'columns': {
        const rule = flow.rule
          ? element('style:column-sep', { 'style:width': 0.5, 'style:color': '#333333', 'style:height': '100%' })
          : '';
        const columns = element(
          'style:columns',
          { 'fo:column-count': String(flow.count), 'fo:column-gap': flow.gap },
          rule,
        );
        const name = this.#style('section', element('style:section-properties', {}, columns));
        const own = (width - flow.gap * (flow.count - 1)) / flow.count;
        const attributes = { 'text:style-name': name, 'text:name': 'Columns' };
        return element('text:section', attributes, this.flows(flow.flows, own));
      }
      case 'footer':
        // The footnotes are with their marks.
        return '';
    }
  }

  #table(grid: Grid, available: number): string {
    const width = available * grid.share;
    const name = this.#style(
      'table',
      element('style:table-properties', {
        'style:width': width,
        'table:align': grid.share === 1 ? 'margins' : grid.align === 'center' ? 'center' : 'left',
        'fo:margin-top': grid.before,
        'fo:margin-bottom': grid.after,
        'table:border-model': 'collapsing',
      }),
    );
    const columns = grid.widths.map((share) => {
      const column = element('style:table-column-properties', { 'style:column-width': width * share });
      return element('table:table-column', { 'table:style-name': this.#style('table-column', column) });
    });
    const whole = this.#style('table-row', element('style:table-row-properties', { 'fo:keep-together': 'always' }));
    const covered = new Set<string>();
    const rows = grid.rows.map((row, at) => {
      const cells: string[] = [];
      let column = 0;
      const skip = () => {
        for (; covered.has(`${at} ${column}`); column++) cells.push('<table:covered-table-cell/>');
      };
      for (const cell of row) {
        skip();
        for (let down = 0; down < cell.rows; down++)
          for (let right = 0; right < cell.columns; right++) covered.add(`${at + down} ${column + right}`);
        const own = grid.widths.slice(column, column + cell.columns).reduce((sum, share) => sum + share * width, 0);
        cells.push(this.#cell(cell, grid, own - grid.padding[1] * 2));
        column++;
      }
      skip();
      return element('table:table-row', { 'table:style-name': whole }, cells.join(''));
    });
    const head = rows.slice(0, grid.headRows).join('\n');
    const parts = [head && element('table:table-header-rows', {}, head), rows.slice(grid.headRows).join('\n')];
    return element('table:table', { 'table:style-name': name }, columns.join('') + parts.join('\n'));
  }

  #cell(cell: GridCell, grid: Grid, width: number): string {
    const [top, right, bottom, left] = cell.edges.map((edge) => line(edge, cell.line) ?? 'none');
    const properties = element('style:table-cell-properties', {
      'fo:border-top': top,
      'fo:border-right': right,
      'fo:border-bottom': bottom,
      'fo:border-left': left,
      'fo:background-color': cell.fill,
      'style:vertical-align': cell.vertical,
      'fo:padding-top': grid.padding[0],
      'fo:padding-bottom': grid.padding[0],
      'fo:padding-left': grid.padding[1],
      'fo:padding-right': grid.padding[1],
    });
    const spans = {
      'table:number-columns-spanned': cell.columns > 1 && String(cell.columns),
      'table:number-rows-spanned': cell.rows > 1 && String(cell.rows),
    };
    const flows = cell.flows.length > 0 ? this.flows(cell.flows, width) : '<text:p/>';
    // After a table, a cell needs a paragraph.
    const end = cell.flows.at(-1)?.kind === 'grid' ? element('text:p', {}) : '';
    return element(
      'table:table-cell',
      { 'table:style-name': this.#style('table-cell', properties), ...spans },
      flows + end,
    );
  }

  furniture(name: 'header' | 'footer', { left, centre, right, rule }: Furniture, width: number): string {
    const stops = [
      element('style:tab-stop', { 'style:position': width / 2, 'style:type': 'center' }),
      element('style:tab-stop', { 'style:position': width, 'style:type': 'right' }),
    ];
    const paragraph = element(
      'style:paragraph-properties',
      {
        'fo:border-bottom': name === 'header' && rule ? line(0.5) : undefined,
        'fo:border-top': name === 'footer' && rule ? line(0.5) : undefined,
      },
      element('style:tab-stops', {}, stops.join('')),
    );
    const style = this.#style('paragraph', paragraph + this.#textProperties({ size: this.#page.size * SMALL }));
    const one = (texts: readonly string[]) =>
      element(
        'text:p',
        { 'text:style-name': style },
        texts
          .map((text) =>
            escaped(text).replace('{pages}', '<text:page-count/>').replace('{page}', '<text:page-number/>'),
          )
          .join('<text:tab/>'),
      );
    const even = this.#page.mirrored ? element(`style:${name}-left`, {}, one([right, centre, left])) : '';
    const first = this.#page.plainFirst && name === 'header' ? element('style:header-first', {}, '<text:p/>') : '';
    return element(`style:${name}`, {}, one([left, centre, right])) + even + first;
  }
}

export function fodtOf({ page, flows }: RandomDocument): string {
  const writer = new Writer(page);
  const width = page.width - 2 * page.margin;
  const body = writer.flows(flows, width);
  const head = page.head ? writer.furniture('header', page.head, width) : '';
  const foot = page.foot ? writer.furniture('footer', page.foot, width) : '';
  // LibreOffice counts the running heads as part of the page without its margins.
  const space = page.size * SMALL * 1.3 + FURNITURE_GAP;
  const layout = element('style:page-layout-properties', {
    'fo:page-width': page.width,
    'fo:page-height': page.height,
    'fo:margin-left': page.margin,
    'fo:margin-right': page.margin,
    'fo:margin-top': page.head ? page.margin - space : page.margin,
    'fo:margin-bottom': page.foot ? page.margin - space : page.margin,
    'style:print-orientation': page.width > page.height ? 'landscape' : 'portrait',
  });
  const side = (edge: string) =>
    element('style:header-footer-properties', { [`fo:margin-${edge}`]: FURNITURE_GAP, 'fo:min-height': space });
  const sides = `${page.head ? element('style:header-style', {}, side('bottom')) : ''}${page.foot ? element('style:footer-style', {}, side('top')) : ''}`;
  const fonts = [page.font, page.mono].map((font) =>
    element('style:font-face', { 'style:name': font, 'svg:font-family': `'${font}'` }),
  );
  const text = element('style:text-properties', {
    'style:font-name': page.font,
    'fo:font-size': page.size,
    'fo:language': page.language,
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document ${NAMESPACES} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:font-face-decls>${[...new Set(fonts)].join('')}</office:font-face-decls>
<office:styles><style:default-style style:family="paragraph">${text}</style:default-style></office:styles>
<office:automatic-styles>${element('style:page-layout', { 'style:name': 'Page' }, layout + sides)}
${writer.styles}</office:automatic-styles>
<office:master-styles>${element('style:master-page', { 'style:name': 'Standard', 'style:page-layout-name': 'Page' }, head + foot)}</office:master-styles>
<office:body><office:text>
${body}
</office:text></office:body></office:document>
`;
}
