// Converts the plain text of a mail to HTML: joins flowed lines (RFC 3676), and turns lines that begin with `>` into quotes.
import { plainTextHtml } from '../plain-text.ts';
import type { QuotedLine } from './message.ts';

/** Quotes that are nested deeper are shown at this depth. */
const QUOTE_DEPTH = 20;
const QUOTE = /^(?:> ?)+/;

/** The lines of a text that is not flowed. */
export function readQuotedLines(text: string): QuotedLine[] {
  return text.split(/\r?\n/).map((line) => {
    const signs = QUOTE.exec(line)?.[0] ?? '';
    return { depth: signs.split('>').length - 1, text: line.slice(signs.length) };
  });
}

/**
 * The joined lines of a flowed text (RFC 3676).
 * @param deleteSpace of `delsp=yes`: the space at the end of a flowed line is not part of the text
 */
export function joinFlowedLines(text: string, deleteSpace: boolean): QuotedLine[] {
  const lines: QuotedLine[] = [];
  let flowing = false;
  for (const raw of text.split(/\r?\n/)) {
    const depth = /^>*/.exec(raw)?.[0].length ?? 0;
    // A space after the signs of a quote, or at the start, protects the line and is not part of it (RFC 3676, 4.4).
    const line = raw.slice(depth).replace(/^ /, '');
    const signature = line === '-- ';
    const before = lines.at(-1);
    if (flowing && before?.depth === depth && !signature) before.text += line;
    else lines.push({ depth, text: line });
    flowing = line.endsWith(' ') && !signature;
    const last = lines.at(-1);
    if (flowing && deleteSpace && last) last.text = last.text.slice(0, -1);
  }
  return lines;
}

/** HTML of a text, with its quoted lines as block quotes. */
export function quotedLinesHtml(quoted: readonly QuotedLine[]): string {
  const parts: string[] = [];
  let depth = 0;
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) parts.push(plainTextHtml(lines.join('\n')));
    lines = [];
  };
  const nest = (wanted: number): void => {
    if (wanted === depth) return;
    flush();
    for (; depth < wanted; depth++) parts.push('<blockquote>');
    for (; depth > wanted; depth--) parts.push('</blockquote>');
  };
  for (const line of quoted) {
    nest(Math.min(QUOTE_DEPTH, line.depth));
    lines.push(line.text);
  }
  flush();
  nest(0);
  return parts.join('\n');
}
