// Writes a flat list of inline tokens as one line of Markdown: normalizes white space and marks, then escapes the text.
import { escapeDestination, escapeText, titlePart } from './escape-markdown.ts';

/** A span of text with emphasis or a link. Adjacent spans of the same kind become one span, except links. */
export interface Mark {
  kind: 'strong' | 'em' | 'del' | 'sub' | 'sup' | 'link';
  href?: string;
  title?: string;
}

export type InlineToken =
  | { type: 'text'; text: string }
  /** Markdown that is written unchanged: an image, a code span, a formula, a footnote reference. */
  | { type: 'raw'; text: string }
  | { type: 'open'; mark: Mark }
  | { type: 'close'; mark: Mark }
  /** A `br`, or the edge of a block inside inline content. */
  | { type: 'break' };

interface InlineContext {
  /** Inside a pipe table: breaks are written as `<br>`. */
  cell: boolean;
  /** Inside a heading: breaks are written as spaces, and bold is left out. */
  heading: boolean;
}

const SPACE = /[\s\u00a0\u2028\u2029]+/g;
const INVISIBLE = /[\u0000-\u0008\u000e-\u001f\u007f\u00ad\u200b\ufeff\ufffe\uffff]/g;
const DELIMITER: Partial<Record<Mark['kind'], string>> = { strong: '**', em: '*', del: '~~' };
const TAG: Partial<Record<Mark['kind'], string>> = { strong: 'strong', em: 'em', del: 'del', sub: 'sub', sup: 'sup' };
const WORD_GAP = /[\s]/;
const PUNCTUATION = /[\p{P}\p{S}]/u;

/** Removes invisible characters, and turns each run of white space into one space. */
export function collapseSpace(text: string): string {
  return text.replace(INVISIBLE, '').replace(SPACE, ' ');
}

/** Splits a token list at two or more consecutive breaks. Open marks are closed before the split and opened again after it. */
export function splitParagraphs(tokens: InlineToken[]): InlineToken[][] {
  const paragraphs: InlineToken[][] = [];
  let current: InlineToken[] = [];
  let breaks = 0;
  let sinceBreak: InlineToken[] = [];
  const active: Mark[] = [];
  for (const token of tokens) {
    if (token.type === 'break') {
      breaks++;
      sinceBreak.push(token);
      continue;
    }
    const blank = token.type === 'text' && token.text.trim() === '';
    if (breaks > 0 && blank) {
      sinceBreak.push(token);
      continue;
    }
    if (breaks >= 2) {
      for (let index = active.length - 1; index >= 0; index--) current.push({ type: 'close', mark: active[index]! });
      paragraphs.push(current);
      current = active.map((mark) => ({ type: 'open', mark }));
    } else for (const skipped of sinceBreak) current.push(skipped);
    breaks = 0;
    sinceBreak = [];
    if (token.type === 'open') active.push(token.mark);
    else if (token.type === 'close') active.pop();
    current.push(token);
  }
  paragraphs.push(current);
  return paragraphs;
}

/** Markdown of one paragraph, heading or cell, or an empty string. */
export function renderInline(tokens: InlineToken[], context: InlineContext): string {
  return write(normalize(tokens, context), context);
}

/** Moves spaces out of marks, drops empty marks and marks of a kind that is already open, and joins adjacent marks. */
function normalize(tokens: InlineToken[], context: InlineContext): InlineToken[] {
  const normalized: InlineToken[] = [];
  /** The open marks. */
  const stack: { mark: Mark; written: boolean; skipped: boolean }[] = [];
  const activeKinds = new Map<string, number>();
  let space = false;
  let pendingBreak = false;

  const beginContent = (): void => {
    const started = normalized.length > 0;
    if (pendingBreak && started) normalized.push({ type: 'break' });
    else if (space && started) addText(normalized, ' ');
    space = false;
    pendingBreak = false;
    for (const entry of stack) {
      if (entry.written || entry.skipped) continue;
      entry.written = true;
      const last = normalized[normalized.length - 1];
      if (last?.type === 'close' && last.mark.kind === entry.mark.kind && entry.mark.kind !== 'link') normalized.pop();
      else normalized.push({ type: 'open', mark: entry.mark });
    }
  };

  for (const token of tokens) {
    if (token.type === 'text') {
      const text = collapseSpace(token.text);
      const body = text.trim();
      if (text.startsWith(' ')) space = true;
      if (body === '') continue;
      beginContent();
      addText(normalized, body);
      if (text.endsWith(' ')) space = true;
    } else if (token.type === 'raw') {
      if (token.text === ' ') space = true;
      else if (token.text !== '') {
        beginContent();
        normalized.push(token);
      }
    } else if (token.type === 'break') {
      if (context.heading) space = true;
      else pendingBreak = true;
    } else if (token.type === 'open') {
      const { kind } = token.mark;
      const skipped = (activeKinds.get(kind) ?? 0) > 0 || (context.heading && kind === 'strong');
      activeKinds.set(kind, (activeKinds.get(kind) ?? 0) + 1);
      stack.push({ mark: token.mark, written: false, skipped });
    } else {
      const entry = stack.pop();
      if (!entry) continue;
      activeKinds.set(entry.mark.kind, (activeKinds.get(entry.mark.kind) ?? 1) - 1);
      if (entry.written) normalized.push({ type: 'close', mark: entry.mark });
    }
  }
  while (stack.length > 0) {
    const entry = stack.pop();
    if (entry?.written) normalized.push({ type: 'close', mark: entry.mark });
  }
  return normalized;
}

function addText(tokens: InlineToken[], text: string): void {
  const last = tokens[tokens.length - 1];
  if (last?.type === 'text') last.text += text;
  else tokens.push({ type: 'text', text });
}

function write(tokens: InlineToken[], context: InlineContext): string {
  movePunctuationOut(tokens);
  const asTag = unreadableDelimiters(tokens);
  const parts: string[] = [];
  let links = 0;
  let lineStart = !context.cell && !context.heading;
  tokens.forEach((token, index) => {
    switch (token.type) {
      case 'text': {
        let text = escapeText(token.text, { lineStart, cell: context.cell, link: links > 0 });
        const next = tokens[index + 1];
        if (text.endsWith('!') && next?.type === 'open' && next.mark.kind === 'link') text = `${text.slice(0, -1)}\\!`;
        parts.push(text);
        lineStart = false;
        break;
      }
      case 'raw':
        parts.push(token.text);
        lineStart = false;
        break;
      case 'break':
        parts.push(context.cell ? '<br>' : '\\\n');
        lineStart = !context.cell;
        break;
      case 'open':
        if (token.mark.kind === 'link') {
          parts.push('[');
          links++;
        } else parts.push(delimiter(token.mark, asTag.has(index), false));
        lineStart = false;
        break;
      case 'close':
        if (token.mark.kind === 'link') {
          parts.push(`](${escapeDestination(token.mark.href ?? '')}${titlePart(token.mark.title, context.cell)})`);
          links--;
        } else parts.push(delimiter(token.mark, asTag.has(index), true));
        break;
    }
  });
  const line = parts.join('').trim();
  return context.heading ? line.replace(/(^|\s)(#+)$/, '$1\\$2') : line;
}

function delimiter(mark: Mark, asTag: boolean, closing: boolean): string {
  const sign = DELIMITER[mark.kind];
  if (sign !== undefined && !asTag) return sign;
  return `<${closing ? '/' : ''}${TAG[mark.kind] ?? 'span'}>`;
}

/**
 * Moves punctuation out of a mark if Markdown does not recognize a delimiter next to it: `number<b>: 7</b>` becomes `number: **7**`,
 * `<b>Note:</b>text` becomes `**Note**:text`.
 */
function movePunctuationOut(tokens: InlineToken[]): void {
  tokens.forEach((token, index) => {
    if ((token.type !== 'open' && token.type !== 'close') || DELIMITER[token.mark.kind] === undefined) return;
    const before = tokens[index - 1];
    const after = tokens[index + 1];
    if (before?.type !== 'text' || after?.type !== 'text') return;
    if (token.type === 'open' && !flanks(neighbour(tokens, index, 1), neighbour(tokens, index, -1))) {
      const signs = /^[,.:;!?\u2013\u2014\u2026-]+ ?/.exec(after.text)?.[0] ?? '';
      if (signs === '' || signs.length === after.text.length) return;
      before.text += signs;
      after.text = after.text.slice(signs.length);
    } else if (token.type === 'close' && !flanks(neighbour(tokens, index, -1), neighbour(tokens, index, 1))) {
      const kept = before.text.replace(/[,.:;!?\u2013\u2014\u2026-]{1,8}$/, '');
      if (kept === '' || kept.length === before.text.length || kept.endsWith(' ')) return;
      after.text = before.text.slice(kept.length) + after.text;
      before.text = kept;
    }
  });
}

/**
 * Indexes of the open and close tokens that must be written as HTML tags, because a Markdown reader would show their
 * delimiters as text (CommonMark 6.2).
 */
function unreadableDelimiters(tokens: InlineToken[]): Set<number> {
  const asTag = new Set<number>();
  const opens: number[] = [];
  tokens.forEach((token, index) => {
    if (token.type === 'open') opens.push(index);
    if (token.type !== 'close') return;
    const start = opens.pop();
    if (start === undefined || DELIMITER[token.mark.kind] === undefined) return;
    const opensWell = flanks(neighbour(tokens, start, 1), neighbour(tokens, start, -1));
    const closesWell = flanks(neighbour(tokens, index, -1), neighbour(tokens, index, 1));
    if (!opensWell || !closesWell || opensInLongRun(tokens, start)) asTag.add(start).add(index);
  });
  return asTag;
}

/**
 * Whether a mark opens directly after others close, in a run of four asterisks or more (`**a*b****c*`). The delimiters of
 * such a run do not always match (CommonMark 6.2, rules 9 and 10).
 */
function opensInLongRun(tokens: InlineToken[], start: number): boolean {
  let length = asterisks(tokens[start]);
  let closes = false;
  for (const step of [-1, 1])
    for (let index = start + step; asterisks(tokens[index]) > 0; index += step) {
      length += asterisks(tokens[index]);
      closes ||= tokens[index]?.type === 'close';
    }
  return closes && length > 3;
}

/** The number of asterisks of an open or close token. */
function asterisks(token: InlineToken | undefined): number {
  if (token?.type !== 'open' && token?.type !== 'close') return 0;
  const sign = DELIMITER[token.mark.kind];
  return sign?.startsWith('*') ? sign.length : 0;
}

/** Whether a delimiter is flanking (CommonMark 6.2). `inner` is the character on the side of the marked text. */
function flanks(inner: string, outer: string): boolean {
  if (inner === '' || WORD_GAP.test(inner)) return false;
  if (!PUNCTUATION.test(inner)) return true;
  return outer === '' || WORD_GAP.test(outer) || PUNCTUATION.test(outer);
}

/** The next character from a token in one direction. Skips other delimiters. */
function neighbour(tokens: InlineToken[], from: number, step: 1 | -1): string {
  for (let index = from + step; ; index += step) {
    const token = tokens[index];
    if (token === undefined) return '';
    if (token.type === 'break') return '\n';
    if (token.type === 'text' || token.type === 'raw') {
      const characters = step === 1 ? token.text.slice(0, 2) : token.text.slice(-2);
      const points = [...characters];
      return (step === 1 ? points[0] : points[points.length - 1]) ?? '';
    }
    if (token.mark.kind === 'link') return token.type === 'open' ? '[' : ')';
    if (token.mark.kind === 'sub' || token.mark.kind === 'sup') return step === 1 ? '<' : '>';
  }
}
