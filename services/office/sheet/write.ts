// Writes a workbook as semantic HTML, or line by line as Markdown and HTML if it is so large that an HTML tree would cost too much memory.
import type { Element } from 'domhandler';
import type { RenderOptions } from '#shared/contract/jobs.ts';
import type { StreamedTexts } from '#shared/document/document.ts';
import { isElement, walk } from '#shared/document/dom.ts';
import { toMarkdown } from '#shared/document/markdown.ts';
import { joinPieces, type TextPieces } from '#shared/document/text-pieces.ts';
import { parseHtml } from '#shared/document/tree.ts';
import { type Sheet, sheetHtml, sheetMarkdown, sheetReferences } from './sheet.ts';

/** A workbook with more cells, or with more characters in them, is written without a tree. */
const STREAMED_CELLS = 20_000;
const STREAMED_LENGTH = 4 * 1024 * 1024;
/** UTF-16 code units of one piece of a text, about. */
const PIECE_LENGTH = 64 * 1024;

/** The result of a reader; a workbook that is too large for an HTML tree has `streamed`, or `markdown` if pictures are named in it. */
export interface SheetContent {
  html: string;
  markdown?: string;
  streamed?: StreamedTexts;
}

/** @throws ParseError DOCUMENT_TOO_COMPLEX */
export function writeSheets(sheets: Sheet[], options: RenderOptions): SheetContent {
  const cells = sheets.reduce((sum, { rows }) => sum + rows.cells, 0);
  const length = sheets.reduce((sum, { rows }) => sum + rows.length, 0);
  const selects = options.includeTags.length > 0 || options.excludeTags.length > 0;
  const html = () => inPieces(htmlLines(sheets));
  const markdown = () => inPieces(markdownLines(sheets, options.embeddedImages === true));
  if (selects || (cells <= STREAMED_CELLS && length <= STREAMED_LENGTH)) return { html: joinPieces(html()) };
  if (!options.embeddedImages)
    return { html: '', streamed: { markdown, html, references: () => sheets.map(sheetReferences).join('\n') } };
  const needsHtml = options.fields.some((field) => field !== 'markdown');
  return { html: needsHtml ? joinPieces(html()) : '', markdown: joinPieces(markdown()) };
}

function* htmlLines(sheets: Sheet[]): Generator<string> {
  for (const sheet of sheets) yield* sheetHtml(sheet);
}

function* markdownLines(sheets: Sheet[], namesPictures: boolean): Generator<string> {
  let isFirst = true;
  for (const sheet of sheets)
    for (const block of [sheetMarkdown(sheet), namesPictures ? picturesMarkdown(sheet) : []]) {
      let isStart = true;
      for (const line of block) {
        if (isStart && !isFirst) yield '';
        isStart = false;
        isFirst = false;
        yield line;
      }
    }
}

/** Lines as one text, without a line end after the last one. */
function* inPieces(lines: Iterable<string>): TextPieces {
  let piece: string[] = [];
  let length = 0;
  let separator = '';
  for (const line of lines) {
    piece.push(separator, line);
    separator = '\n';
    length += line.length + 1;
    if (length < PIECE_LENGTH) continue;
    yield piece.join('');
    piece = [];
    length = 0;
  }
  yield piece.join('');
}

/** The pictures of a sheet, as references to the collection of pictures. */
function picturesMarkdown({ drawings }: Sheet): string[] {
  const images: Element[] = [];
  walk(parseHtml(drawings).body.children, (node) => {
    if (isElement(node) && node.name === 'img') images.push(node);
    return true;
  });
  const markdown = toMarkdown(images, { webpage: false, apart: true });
  return markdown === '' ? [] : [markdown];
}
