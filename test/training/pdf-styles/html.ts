// Writes a random document as HTML with all its styles inline, for Chromium.
import type { Flow, Furniture, Grid, GridCell, Look, PageStyle, RandomDocument, Run } from './model.ts';

/** Size of running heads and of footnote marks, in parts of the size of the text. */
const SMALL = 0.85;
const RAISED = 0.65;

const escaped = (text: string) =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

/** @param properties pairs of a property and its value; without a value it is left out */
const css = (properties: Readonly<Record<string, string | number | false | undefined>>) =>
  Object.entries(properties)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name, value]) => `${name}:${typeof value === 'number' ? `${Number(value.toFixed(2))}pt` : value}`)
    .join(';');

const line = (width: number | undefined, kind = 'solid') => (width ? `${width}pt ${kind} #333` : undefined);

function lookCss(look: Look): string {
  const padded = look.frame || look.fill ? '3pt 5pt' : undefined;
  return css({
    'font-size': look.size,
    'font-weight': look.bold && 'bold',
    'font-style': look.italic && 'italic',
    'font-family': look.mono && 'var(--mono)',
    'text-decoration': look.underline && 'underline',
    'text-align': look.align,
    'letter-spacing': look.tracking,
    color: look.colour,
    background: look.fill,
    padding: padded,
    border: line(look.frame),
    'border-top': line(look.ruleAbove),
    'border-bottom': line(look.ruleBelow),
    margin: `${look.before ?? 0}pt 0 ${look.after ?? 0}pt ${look.left ?? 0}pt`,
    'text-indent': look.first,
    'break-after': look.keep && 'avoid',
    'break-before': look.startsPage && 'page',
  });
}

function runHtml(run: Run): string {
  const style = css({
    'font-weight': run.bold && 'bold',
    'font-style': run.italic && 'italic',
    'font-size': run.raised ? `${RAISED}em` : run.scale && `${run.scale}em`,
    'vertical-align': run.raised && 'super',
    'line-height': run.raised && '0',
  });
  return style === '' ? escaped(run.text) : `<span style="${style}">${escaped(run.text)}</span>`;
}

function paragraphHtml({ look, runs }: Flow & { kind: 'paragraph' }): string {
  const marker =
    look.marker === undefined
      ? ''
      : `<span style="display:inline-block;text-indent:0;min-width:${-(look.first ?? 0)}pt">${escaped(look.marker)} </span>`;
  const [first, ...others] = runs;
  if (!look.dropCap || first === undefined)
    return `<p style="${lookCss(look)}">${marker}${runs.map(runHtml).join('')}</p>`;
  const initial = `<span style="float:left;font-size:3.1em;line-height:.85;padding-right:3pt">${escaped(first.text.charAt(0))}</span>`;
  const rest = [{ ...first, text: first.text.slice(1) }, ...others].map(runHtml).join('');
  return `<p style="${lookCss(look)}">${initial}${rest}</p>`;
}

function cellHtml(cell: GridCell, [vertical, horizontal]: Grid['padding'], width: string): string {
  const [top, right, bottom, left] = cell.edges.map((edge) => line(edge, cell.line));
  const style = css({
    'border-top': top,
    'border-right': right,
    'border-bottom': bottom,
    'border-left': left,
    background: cell.fill,
    'vertical-align': cell.vertical,
    padding: `${vertical}pt ${horizontal}pt`,
    width,
  });
  const spans = `${cell.columns > 1 ? ` colspan="${cell.columns}"` : ''}${cell.rows > 1 ? ` rowspan="${cell.rows}"` : ''}`;
  return `<td${spans} style="${style}">${cell.flows.map(flowHtml).join('')}</td>`;
}

function gridHtml(grid: Grid): string {
  const columns = grid.widths.map((width) => `<col style="width:${(width * 100).toFixed(1)}%">`).join('');
  const row = (cells: readonly GridCell[]) =>
    `<tr style="break-inside:avoid">${cells.map((cell) => cellHtml(cell, grid.padding, 'auto')).join('')}</tr>`;
  const head = grid.rows.slice(0, grid.headRows).map(row).join('');
  const body = grid.rows.slice(grid.headRows).map(row).join('');
  const margin = `${grid.before}pt ${grid.align === 'center' ? 'auto' : 0} ${grid.after}pt`;
  const style = css({
    'border-collapse': 'collapse',
    width: `${grid.share * 100}%`,
    margin: `${margin} ${grid.align === 'center' ? 'auto' : 0}`,
  });
  return `<table style="${style}"><colgroup>${columns}</colgroup>${head && `<thead>${head}</thead>`}<tbody>${body}</tbody></table>`;
}

function flowHtml(flow: Flow): string {
  switch (flow.kind) {
    case 'paragraph':
      return paragraphHtml(flow);
    case 'grid':
      return gridHtml(flow.grid);
    case 'columns': {
      const style = css({
        columns: String(flow.count),
        'column-gap': flow.gap,
        'column-rule': flow.rule && line(0.5),
        'column-fill': 'balance',
      });
      return `<div style="${style}">${flow.flows.map(flowHtml).join('')}</div>`;
    }
    case 'footer':
      return `<div class="foot">${flow.flows.map(flowHtml).join('')}</div>`;
  }
}

/** The text of a running head, as a value of the property `content`. */
const content = (text: string) =>
  text
    .split(/(\{pages?\})/)
    .filter(Boolean)
    .map((part) => (/^\{pages?\}$/.test(part) ? `counter(${part.slice(1, -1)})` : JSON.stringify(part)))
    .join(' ') || '""';

function furnitureCss(edge: 'top' | 'bottom', { left, centre, right, rule }: Furniture, isMirrored: boolean): string {
  const border = rule ? `border-${edge === 'top' ? 'bottom' : 'top'}:.5pt solid #333;` : '';
  const texts = isMirrored ? [right, centre, left] : [left, centre, right];
  return ['left', 'center', 'right']
    .map((side, at) => `@${edge}-${side}{content:${content(texts[at] ?? '')};${border}vertical-align:middle}`)
    .join('');
}

function pageCss(page: PageStyle): string {
  const boxes = (isMirrored: boolean) =>
    (page.head ? furnitureCss('top', page.head, isMirrored) : '') +
    (page.foot ? furnitureCss('bottom', page.foot, isMirrored) : '');
  const size = `size:${page.width}pt ${page.height}pt;margin:${page.margin}pt`;
  const empty = ['left', 'center', 'right'].map((side) => `@top-${side}{content:none;border:none}`).join('');
  return [
    `@page{${size};font:${page.size * SMALL}pt '${page.font}';${boxes(false)}}`,
    page.mirrored ? `@page :left{${boxes(true)}}` : '',
    page.plainFirst ? `@page :first{${empty}}` : '',
  ].join('\n');
}

export function htmlOf({ name, page, flows }: RandomDocument): string {
  return `<!DOCTYPE html>
<html lang="${page.language}"><head><meta charset="utf-8"><title>${name}</title><style>
${pageCss(page)}
:root{--mono:'${page.mono}'}
body{margin:0;font-family:'${page.font}';font-size:${page.size}pt;line-height:${page.lineHeight}}
p{orphans:2;widows:2}
.foot{position:absolute;bottom:0;left:0;right:0;border-top:.5pt solid #333;padding-top:3pt}
</style></head><body>
${flows.map(flowHtml).join('\n')}
</body></html>
`;
}
