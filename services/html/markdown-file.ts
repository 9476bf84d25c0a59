// Converts Markdown files (CommonMark, GFM, footnotes, formulas, front matter) into semantic HTML.
import MarkdownIt, { type StateCore, type StateInline } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import { ParseError } from '#shared/contract/errors.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { escapeHtml } from '#shared/document/escape-html.ts';
import { decodeText } from '#shared/readers/charset.ts';
import { readFrontMatter } from './front-matter.ts';

/** Raw HTML stays in the output, because the render pipeline cleans it as it cleans every other HTML. */
const PARSER = new MarkdownIt({ html: true, linkify: true, maxNesting: DOCUMENT_LIMITS.markdownDepth });
PARSER.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
PARSER.use(footnotes);
// Without the rule above the notes, which would be a thematic break of the document.
PARSER.renderer.rules.footnote_block_open = () => '<section class="footnotes"><ol>\n';
PARSER.inline.ruler.before('escape', 'formula', readFormula);
PARSER.core.ruler.after('inline', 'task-list', readTasks);

const DOLLAR = 0x24;
/** UTF-16 code units of one formula. */
const FORMULA_LENGTH = 10_000;
const CHECKBOX = /^\[([ xX])\](?=\s)/;

/**
 * Converts one Markdown file. The front matter becomes metadata. Without a title there, the first heading of level 1 is the title.
 * @throws ParseError DOCUMENT_TOO_COMPLEX above `markdownBytes` or `markdownDepth`
 */
export function convertMarkdown(file: SourceFile): ConvertedDocument {
  if (file.bytes.length > DOCUMENT_LIMITS.markdownBytes)
    throw new ParseError(
      'DOCUMENT_TOO_COMPLEX',
      `The Markdown file has more than ${DOCUMENT_LIMITS.markdownBytes} bytes; split it, or send it as .txt`,
    );
  const { text } = decodeText(file.bytes, file.charset === undefined ? {} : { charset: file.charset });
  const { metadata, body } = readFrontMatter(text.replace(/\r\n?/g, '\n'));
  const tokens = PARSER.parse(body, {});
  for (const { level } of tokens)
    if (level >= DOCUMENT_LIMITS.markdownDepth - 1)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The document nests lists and quotes deeper than ${DOCUMENT_LIMITS.markdownDepth} levels; simplify the document and send it again`,
      );
  const heading = tokens.findIndex((token) => token.type === 'heading_open' && token.tag === 'h1');
  const title = heading < 0 ? '' : plainText(tokens[heading + 1]?.children ?? []);
  const html = PARSER.renderer.render(tokens, PARSER.options, {});
  const warnings = body.trim() === '' ? ['The document contains no text'] : [];
  return { genre: 'document', html, metadata: { ...(title === '' ? {} : { title }), ...metadata }, warnings };
}

function plainText(tokens: readonly { type: string; content: string }[]): string {
  return tokens
    .map((token) =>
      token.type === 'text' || token.type === 'code_inline' ? token.content : token.type === 'softbreak' ? ' ' : '',
    )
    .join('')
    .trim();
}

/**
 * Reads `$...$` and `$$...$$` as formulas, by the rules of GitHub: no white space next to the dollar signs of an inline
 * formula, and no digit after it, so that "$5 and $6" stays text.
 */
function readFormula(state: StateInline, silent: boolean): boolean {
  const { src, pos } = state;
  if (src.charCodeAt(pos) !== DOLLAR) return false;
  const display = src.charCodeAt(pos + 1) === DOLLAR;
  const mark = display ? '$$' : '$';
  const start = pos + mark.length;
  const end = src.slice(start, start + FORMULA_LENGTH).search(display ? /(?<!\\)\$\$/ : /(?<!\\)\$/) + start;
  if (end <= start) return false;
  const latex = src.slice(start, end);
  if (latex.trim() === '') return false;
  if (!display && (/^\s|\s$/.test(latex) || /\d/.test(src.charAt(end + 1)) || /\n\s*\n/.test(latex))) return false;
  if (!silent)
    state.push('html_inline', '', 0).content =
      `<span data-latex="${escapeHtml(latex.trim())}"${display ? ' data-display="block"' : ''}></span>`;
  state.pos = end + mark.length;
  return true;
}

/** Turns `[ ]` and `[x]` at the start of a list item into a checkbox (GFM, 5.3). */
function readTasks(state: StateCore): void {
  const { tokens } = state;
  for (let i = 2; i < tokens.length; i++) {
    const token = tokens[i];
    if (
      token?.type !== 'inline' ||
      tokens[i - 1]?.type !== 'paragraph_open' ||
      tokens[i - 2]?.type !== 'list_item_open'
    )
      continue;
    const first = token.children?.[0];
    const mark = first?.type === 'text' ? CHECKBOX.exec(first.content) : null;
    if (!first || !mark) continue;
    first.content = first.content.slice(mark[0].length);
    const box = new state.Token('html_inline', '', 0);
    box.content = `<input type="checkbox" disabled${mark[1] === ' ' ? '' : ' checked'}>`;
    token.children?.unshift(box);
  }
}
