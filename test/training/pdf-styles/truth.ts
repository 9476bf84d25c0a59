// Writes the Markdown that a perfect reader returns for a random document.
import type { Block, Table } from './model.ts';

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

function tableHtml({ rows }: Table): string {
  const lines = rows.map(
    (row) =>
      `<tr>${row
        .map(({ text, columns, rows: spanned }) => {
          const spans = `${spanned > 1 ? ` rowspan="${spanned}"` : ''}${columns > 1 ? ` colspan="${columns}"` : ''}`;
          return `<td${spans}>${escaped(text)}</td>`;
        })
        .join('')}</tr>`,
  );
  return ['<table>', ...lines, '</table>'].join('\n');
}

function markdownOf(block: Block): string[] {
  switch (block.kind) {
    case 'heading':
      return [`${'#'.repeat(block.level)} ${block.capitals ? block.text.toUpperCase() : block.text}`];
    case 'paragraph':
      return [`${block.lead === undefined ? '' : `${block.lead} `}${block.text}${block.mark ?? ''}`];
    case 'lines':
      return [...block.lines];
    case 'list':
      return block.items.map(
        ({ marker, text, depth }) => `${'  '.repeat(depth)}${/^[\p{L}\d(]/u.test(marker) ? marker : '-'} ${text}`,
      );
    case 'table':
      return [tableHtml(block.table)];
    case 'pair':
      return [...block.left, ...block.right].flatMap(markdownOf);
    case 'box':
      return block.blocks.flatMap(markdownOf);
    case 'terms':
      return block.entries.flatMap(([term, text]) => (block.sameLine ? [`${term} ${text}`] : [term, text]));
    case 'code':
      return [['```', ...block.lines, '```'].join('\n')];
    case 'footnotes':
      return block.notes.map((note, at) => `${at + 1} ${note}`);
  }
}

/** @returns Markdown with tables as HTML. Running heads and feet are not in it. */
export function truthOf(blocks: readonly Block[]): string {
  return `${blocks.flatMap(markdownOf).join('\n\n')}\n`;
}
