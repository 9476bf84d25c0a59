// Escapes text that would be read as Markdown, with as few backslashes as possible.

interface EscapeContext {
  /** The text is at the start of a line, where block markers have a meaning. */
  lineStart: boolean;
  /** Inside a pipe table, where `|` ends a cell. */
  cell: boolean;
  /** Inside the text of a link, where `]` ends the text. */
  link: boolean;
}

const SPECIAL = /[\\`*_<&~|[\]]/g;
const ENTITY = /&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});/y;
const WORD = /[\p{L}\p{N}]/u;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const BLANK = /\s/;
const SYMBOL = /[\p{P}\p{S}]/u;
const LINE_START = /^(?:#{1,6}(?=\s|$)|>|[-+](?=\s|$)|(?:-\s*){3,}$|=+\s*$|-+\s*$|~~~)/;
const ORDINAL = /^(\d{1,9})([.)])(?=\s|$)/;
const TASK = /^\[[ xX]\](?=\s|$)/;

/** Escapes one run of text for GitHub-flavoured Markdown (CommonMark 2.4 and the GFM extensions that this product writes). */
export function escapeText(text: string, context: EscapeContext): string {
  const struck = text.includes('~') ? strikethroughRange(text) : undefined;
  let escaped = text.replace(SPECIAL, (mark, index: number) =>
    isSyntax(text, mark, index, context) || (struck && mark === '~' && index >= struck.start && index <= struck.end)
      ? `\\${mark}`
      : mark,
  );
  if (context.lineStart) {
    if (LINE_START.test(escaped) || TASK.test(escaped)) escaped = `\\${escaped}`;
    else escaped = escaped.replace(ORDINAL, '$1\\$2');
  }
  return escaped;
}

/** Whether a Markdown reader would read the character at `index` as syntax. */
function isSyntax(text: string, mark: string, index: number, context: EscapeContext): boolean {
  const before = text[index - 1] ?? '';
  const after = text[index + 1] ?? '';
  switch (mark) {
    case '\\':
      return after === '' || PUNCTUATION.test(after);
    case '*':
      return !(isGap(before) && isGap(after)) || (context.lineStart && index === 0);
    case '_':
      if (isGap(before) && isGap(after)) return context.lineStart && index === 0;
      return !(WORD.test(before) && WORD.test(after));
    case '<':
      return /[A-Za-z/!?]/.test(after) || after === '';
    case '&':
      ENTITY.lastIndex = index;
      return ENTITY.test(text);
    case '~':
      return before === '~' || after === '~';
    case '|':
      return context.cell;
    case '[':
      return context.link || after === '^';
    case ']':
      return context.link || after === '(' || after === ':';
    default:
      return true;
  }
}

/**
 * The range from the first tilde that can begin strikethrough to the last that can end it ("3~5 or 6~8"; GFM 6.5, flanking
 * as in CommonMark 6.2). Undefined if no tilde can end it.
 */
function strikethroughRange(text: string): { start: number; end: number } | undefined {
  let start = Number.POSITIVE_INFINITY;
  let end = -1;
  for (const { index } of text.matchAll(/~/g)) {
    const before = text[index - 1] ?? ' ';
    const after = text[index + 1] ?? ' ';
    if (!BLANK.test(after) && (!SYMBOL.test(after) || BLANK.test(before) || SYMBOL.test(before)))
      start = Math.min(start, index);
    if (!BLANK.test(before) && (!SYMBOL.test(before) || BLANK.test(after) || SYMBOL.test(after))) end = index;
  }
  return start < end ? { start, end } : undefined;
}

function isGap(character: string): boolean {
  return character === '' || character === ' ' || character === '\n';
}

/** The destination of a link: characters that would end it are percent-encoded (CommonMark 6.3). */
export function escapeDestination(url: string): string {
  const encoded = url.replace(/[\s<>\u0000-\u001f|\\]/g, (character) => encodeURIComponent(character));
  let depth = 0;
  let balanced = true;
  for (const character of encoded) {
    if (character === '(') depth++;
    else if (character === ')' && --depth < 0) balanced = false;
  }
  return balanced && depth === 0 && depth < 32 ? encoded : encoded.replaceAll('(', '%28').replaceAll(')', '%29');
}

/** ` "title"`, or an empty string without a title. */
export function titlePart(title: string | undefined, cell = false): string {
  const text = title?.replace(/\s+/g, ' ').trim();
  if (!text) return '';
  const escaped = text.replace(/["\\]/g, '\\$&');
  return ` "${cell ? escaped.replaceAll('|', '\\|') : escaped}"`;
}

/** A code span (CommonMark 6.1). Its fence is longer than every run of backticks in the text. */
export function codeSpan(text: string, cell: boolean): string {
  const flat = text.replace(/\s+/g, ' ');
  if (flat.trim() === '') return flat === '' ? '' : ' ';
  let longest = 0;
  for (const run of flat.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest === 0 ? 1 : longest + 1);
  const body = cell ? flat.trim().replaceAll('|', '\\|') : flat.trim();
  return body.startsWith('`') || body.endsWith('`') ? `${fence} ${body} ${fence}` : `${fence}${body}${fence}`;
}
