// Converts plain text: keeps its words and lines, joins wrapped paragraphs, and keeps the layout of tables, drawings and code.
import { ParseError } from '#shared/contract/errors.ts';
import type { RenderOptions } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { escapeHtml } from '#shared/document/escape-html.ts';
import { escapeText } from '#shared/document/escape-markdown.ts';
import { decodeText } from '#shared/readers/charset.ts';
import { blocksOf, type PlainBlock } from './plain/blocks.ts';
import { readLines, runningLines, withoutControlCodes } from './plain/lines.ts';
import { indentOf, WrapStatistics } from './plain/wrapping.ts';

/** Lines of one run. A longer run without a blank line is divided, so that the memory does not grow with it. */
const RUN_LINES = 10_000;
/** Lines whose indentation is counted, at the start of a document. */
const INDENT_LINES = 5_000;
/** An indentation is that of the document if this many lines have it, and if it has at most this many columns. */
const COMMON_INDENT_LINES = 20;
const COMMON_INDENT_MAX = 16;
/** UTF-16 code units that are escaped at once. */
const ESCAPED_LENGTH = 64 * 1024;
/** Most lines have none of these characters, so this check saves time. */
const MAY_BE_MARKUP = /[\\`*_<&~[\]#>|]|^[-+=\d]|\s\s|[\t\u00a0\u2028\u2029]/;

/**
 * Converts one plain text file of any charset. The Markdown is written without a tree, block by block.
 * @throws ParseError DOCUMENT_TOO_COMPLEX above `fieldLength`
 */
export function convertPlainText(file: SourceFile, options: RenderOptions): ConvertedDocument {
  const decoded = decodeText(file.bytes, file.charset === undefined ? {} : { charset: file.charset });
  const text = withoutControlCodes(decoded.text);
  const selectsTags = options.includeTags.length > 0 || options.excludeTags.length > 0;
  const needsHtml = selectsTags || options.fields.some((field) => field === 'html' || field === 'rawHtml');
  const markdown = new Output('\n\n');
  const html = new Output('\n');
  let delimiter = '.';
  readBlocks(text, options.onlyMainContent, (block) => {
    // Markdown joins two numbered lists with the same delimiter.
    delimiter = block.kind === 'list' && block.start !== undefined && delimiter === '.' ? ')' : '.';
    markdown.add(blockMarkdown(block, delimiter === ')' ? '.' : ')'));
    if (needsHtml) html.add(blockHtml(block));
  });
  const warnings = text.trim() === '' ? ['The document contains no text'] : [];
  return { genre: 'document', html: html.text(), markdown: markdown.text(), metadata: {}, warnings };
}

/** HTML of a plain text that is part of a document, without headers and footers of pages. */
export function plainTextHtml(text: string): string {
  const html: string[] = [];
  readBlocks(withoutControlCodes(text), true, (block) => html.push(blockHtml(block)));
  return html.join('\n');
}

/** Collects blocks up to the limit of a field of the response. */
class Output {
  readonly #parts: string[] = [];
  readonly #separator: string;
  #length = 0;

  constructor(separator: string) {
    this.#separator = separator;
  }

  add(part: string): void {
    this.#length += part.length + this.#separator.length;
    if (this.#length > DOCUMENT_LIMITS.fieldLength)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The text would be longer than ${DOCUMENT_LIMITS.fieldLength} characters; split the file`,
      );
    this.#parts.push(part);
  }

  text(): string {
    return this.#parts.join(this.#separator);
  }
}

function readBlocks(text: string, onlyMainContent: boolean, onBlock: (block: PlainBlock) => void): void {
  const running = onlyMainContent ? runningLines(text) : new Set<string>();
  const { width, base } = measure(text, running);
  let held: string[] | undefined;
  const release = (): void => {
    if (held) onBlock({ kind: 'preformatted', lines: dedent(held) });
    held = undefined;
  };
  readRuns(text, running, (lines, blankLines) => {
    // Code and drawings often contain blank lines. Lines after one belong to them if they are indented.
    const continues = held !== undefined && held.length < RUN_LINES && lines.every((line) => indentOf(line) > base);
    for (const block of blocksOf(lines, width, base)) {
      const indented = continues && lines.length === 1 && indentOf(lines[0] ?? '') >= base + 4;
      if (block.kind !== 'preformatted' && !indented) {
        release();
        onBlock(block);
        continue;
      }
      if (!continues) release();
      if (held) held.push(...Array.from({ length: Math.min(blankLines, 3) }, () => ''), ...lines);
      else held = [...lines];
    }
  });
  release();
}

/** Calls `onRun` for each run of lines between blank lines. A paragraph that continues after a page break is one run. */
function readRuns(
  text: string,
  running: ReadonlySet<string>,
  onRun: (lines: readonly string[], blankLinesBefore: number) => void,
): void {
  let run: string[] = [];
  let blanks = 0;
  let blanksAfter = 0;
  const flush = (): void => {
    if (run.length > 0) onRun(run, blanks);
    run = [];
    blanks = blanksAfter;
  };
  readLines(text, running, ({ text: line, page }) => {
    if (line.trim() === '') {
      blanksAfter++;
      return;
    }
    const continues =
      page &&
      running.size > 0 &&
      /[\p{Ll},]-?$/u.test((run.at(-1) ?? '').slice(-3)) &&
      /^\s*\p{Ll}/u.test(line.slice(0, 200));
    if ((blanksAfter > 0 || page || run.length >= RUN_LINES) && !continues) flush();
    blanksAfter = 0;
    run.push(line);
  });
  flush();
}

/** The width at which the document wraps its lines, and the indentation that most of its lines have. */
function measure(text: string, running: ReadonlySet<string>): { width: number | undefined; base: number } {
  const statistics = new WrapStatistics();
  const indents = new Map<number, number>();
  let counted = 0;
  let before = '';
  // The start of a document is representative, and a sample keeps the cost of a large file low.
  readLines(text.slice(0, 2_000_000), running, ({ text: line, page }) => {
    if (line !== '' && before !== '' && !page && !statistics.full) statistics.add(before, line);
    if (line !== '' && counted++ < INDENT_LINES) indents.set(indentOf(line), (indents.get(indentOf(line)) ?? 0) + 1);
    before = line;
  });
  const [common, lines] = [...indents].reduce((best, entry) => (entry[1] > best[1] ? entry : best), [0, 0]);
  const base = lines >= COMMON_INDENT_LINES && common <= COMMON_INDENT_MAX ? common : 0;
  return { width: statistics.width(), base };
}

/** The lines without the indentation that all of them share. */
function dedent(lines: readonly string[]): string[] {
  let shared: string | undefined;
  for (const line of lines) {
    if (line === '') continue;
    const blank = line.slice(0, line.length - line.trimStart().length);
    if (shared === undefined) shared = blank;
    while (shared !== '' && !blank.startsWith(shared)) shared = shared.slice(0, -1);
  }
  const cut = shared?.length ?? 0;
  return cut === 0 ? [...lines] : lines.map((line) => line.slice(cut));
}

/** Escapes a line. A very long one is escaped in parts, because the memory of the replacements grows with the text. */
function lineMarkdown(line: string): string {
  if (line.length <= ESCAPED_LENGTH) return escapePart(line, true);
  const parts: string[] = [];
  for (let start = 0; start < line.length; ) {
    const space = line.indexOf(' ', start + ESCAPED_LENGTH);
    const end = space < 0 || space > start + 2 * ESCAPED_LENGTH ? start + ESCAPED_LENGTH : space + 1;
    parts.push(escapePart(line.slice(start, end), start === 0));
    start = end;
  }
  return parts.join('');
}

function escapePart(text: string, lineStart: boolean): string {
  if (!MAY_BE_MARKUP.test(text)) return text;
  return escapeText(text.replace(/\s+/g, ' '), { lineStart, cell: false, link: false });
}

function blockMarkdown(block: PlainBlock, delimiter: string): string {
  if (block.kind === 'paragraph') return block.lines.map(lineMarkdown).join('\\\n');
  if (block.kind === 'list')
    return block.items
      .map((item, i) => {
        const marker = block.start === undefined ? '- ' : `${block.start + i}${delimiter} `;
        return marker + item.map(lineMarkdown).join(`\\\n${' '.repeat(marker.length)}`);
      })
      .join('\n');
  const text = block.lines.join('\n');
  let longest = 2;
  for (const ticks of text.match(/`{3,}/g) ?? []) longest = Math.max(longest, ticks.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function blockHtml(block: PlainBlock): string {
  if (block.kind === 'paragraph') return `<p>${block.lines.map(escapeHtml).join('<br>\n')}</p>`;
  if (block.kind === 'preformatted') return `<pre>${escapeHtml(block.lines.join('\n'))}</pre>`;
  const items = block.items.map((item) => `<li>${item.map(escapeHtml).join('<br>\n')}</li>`).join('\n');
  if (block.start === undefined) return `<ul>\n${items}\n</ul>`;
  return `<ol${block.start === 1 ? '' : ` start="${block.start}"`}>\n${items}\n</ol>`;
}
