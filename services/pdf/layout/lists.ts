// Nests list items by their indent and writes them as HTML lists.
// Pages made by hand that need its rules: lists.test.ts; files that do are named where the rule stands.
import { escapeHtml } from '#shared/document/escape-html.ts';
import type { ListItemDraft } from '../text/blocks.ts';

/** Indents this close, in points, are one level. */
const SAME_LEVEL = 5;
const MAX_DEPTH = 8;

/** HTML of a run of items. Numbers that Markdown has no list for (letters, Roman) stay as text before the item. */
export function listHtml(items: readonly ListItemDraft[]): string {
  const out: string[] = [];
  const open: { indent: number; kind: string; tag: 'ul' | 'ol'; next: number }[] = [];
  const closeTop = () => {
    const top = open.pop();
    if (top) out.push(`</li></${top.tag}>`);
  };
  for (const item of items) {
    const ordered = item.marker.style === 'decimal' && item.marker.shape !== '()';
    const tag = ordered ? 'ol' : 'ul';
    // `1.` and `1)` are lists of their own.
    const kind = ordered ? item.marker.shape : tag;
    while (item.indent < (open.at(-1)?.indent ?? -Infinity) - SAME_LEVEL) closeTop();
    const top = open.at(-1);
    const beside = item.indent <= (top?.indent ?? -Infinity) + SAME_LEVEL;
    let number = '';
    if (beside && top?.kind === kind) {
      out.push('</li>');
      // A list counts on by itself: a number that the print leaves out or repeats has to be told.
      if (ordered && item.marker.value !== top.next) number = ` value="${item.marker.value}"`;
      top.next = item.marker.value + 1;
    } else {
      if (beside || open.length >= MAX_DEPTH) closeTop();
      out.push(ordered ? orderedList(item.marker) : '<ul>');
      open.push({ indent: item.indent, kind, tag, next: item.marker.value + 1 });
    }
    out.push(`<li${number}>${literalMarker(item)}${item.html}`);
  }
  while (open.length > 0) closeTop();
  return out.join('');
}

/** The start of a list whose first number is printed so. */
function orderedList({ shape, value }: ListItemDraft['marker']): string {
  const marker = shape === ')' ? ' data-marker=")"' : '';
  return value === 1 ? `<ol${marker}>` : `<ol${marker} start="${value}">`;
}

function literalMarker(item: ListItemDraft): string {
  const { style, shape, value } = item.marker;
  // A ticked box says what its item alone does not (fixtures/pdf/form-filled-noted.pdf).
  if (/^[☐☑☒]$/.test(shape)) return `${shape} `;
  if (style === 'bullet' || (style === 'decimal' && shape !== '()')) return '';
  const body =
    style === 'decimal'
      ? String(value)
      : style.endsWith('alpha')
        ? String.fromCharCode((style === 'lower-alpha' ? 96 : 64) + value)
        : romanText(value, style === 'upper-roman');
  return escapeHtml(shape === '()' ? `(${body}) ` : `${body}${shape} `);
}

function romanText(value: number, upper: boolean): string {
  const parts: [number, string][] = [
    [10, 'x'],
    [9, 'ix'],
    [5, 'v'],
    [4, 'iv'],
    [1, 'i'],
  ];
  let rest = value;
  let text = '';
  for (const [size, digit] of parts)
    while (rest >= size) {
      text += digit;
      rest -= size;
    }
  return upper ? text.toUpperCase() : text;
}
