// Projects Markdown: prose without its marks, table cells with their headings, and link targets in a separate projection.
import { readInline } from '#shared/document/source/markdown-inline.ts';
import { type Range, readLines } from '#shared/document/source/markdown-lines.ts';
import { INLINE_ELEMENTS } from './elements.ts';
import { projectAttributes } from './html.ts';
import { CHUNK_UNITS, CHUNK_UNITS_MAX, type Projection, ProjectionBuilder } from './projection.ts';
import { projectUrl } from './url.ts';

interface Builders {
  text: ProjectionBuilder;
  titles: ProjectionBuilder;
  attributes: ProjectionBuilder;
  urls: ProjectionBuilder;
}

function projectInline(builders: Builders, source: string, start: number, end: number): void {
  const { text, titles, attributes, urls } = builders;
  for (const token of readInline(source, start, end)) {
    switch (token.kind) {
      case 'text':
      case 'note':
        text.copy(source, token.start, token.end);
        break;
      case 'code':
        text.copy(source, token.text[0], token.text[1]);
        break;
      case 'decoded':
        text.emit(token.text, token.start, token.end);
        break;
      case 'open':
        if (token.image) text.copy(source, token.start, token.start + 1);
        text.gap('[');
        break;
      case 'target':
        text.gap(']');
        projectUrl(urls, source, token.url[0], token.url[1]);
        titles.gap('\n\n');
        titles.copy(source, token.title[0], token.title[1]);
        break;
      case 'autolink':
        projectUrl(urls, source, token.url[0], token.url[1]);
        text.gap(' ');
        break;
      case 'mail':
        // The first and last unit include the brackets, so that an edit replaces them too and does not write `<<EMAIL>>`.
        text.emit(source[token.start + 1]!, token.start, token.start + 2);
        text.copy(source, token.start + 2, token.end - 2);
        text.emit(source[token.end - 2]!, token.end - 2, token.end);
        break;
      case 'tag':
        projectAttributes(token.tag, source, attributes, urls);
        if (!INLINE_ELEMENTS.has(token.tag.name))
          text.gap(token.tag.name === 'td' || token.tag.name === 'th' ? '\n|\n' : '\n');
        break;
      case 'comment':
        attributes.gap('\n\n');
        attributes.copy(source, token.text[0], token.text[1]);
        break;
      default:
        token satisfies never;
    }
  }
}

/** Projects the cells of a row. @returns their texts in lower case, which are the headings if this is the first row */
function projectRow(
  builders: Builders,
  source: string,
  cells: readonly Range[],
  headings: readonly string[],
): string[] {
  return cells.map(([start, end], column) => {
    builders.text.openCell();
    projectInline(builders, source, start, end);
    return builders.text.closeCell(headings[column] ?? '').toLowerCase();
  });
}

/** The projections of a Markdown text. Chunks end at the ends of paragraphs; a table may be cut between rows. */
export function* projectMarkdown(source: string): Generator<Projection> {
  const builders: Builders = {
    text: new ProjectionBuilder('text', 'raw'),
    titles: new ProjectionBuilder('attribute', 'raw'),
    attributes: new ProjectionBuilder('attribute', 'html'),
    urls: new ProjectionBuilder('url', 'percent'),
  };
  const { text } = builders;
  const flushAll = function* (): Generator<Projection> {
    for (const builder of Object.values(builders)) yield* builder.flush();
  };
  let headings: readonly string[] | undefined;
  for (const { start, end, blank, content } of readLines(source)) {
    switch (content.kind) {
      case 'code':
        text.copy(source, start, end);
        break;
      case 'fence':
        if (content.info[0] === content.info[1]) break;
        builders.titles.gap('\n\n');
        builders.titles.copy(source, content.info[0], content.info[1]);
        break;
      case 'row': {
        const cells = projectRow(builders, source, content.cells, headings ?? []);
        headings ??= cells;
        break;
      }
      case 'delimiter':
        headings ??= [];
        break;
      case 'blank':
      case 'rule':
        headings = undefined;
        break;
      default: {
        headings = undefined;
        const [first, last] = content.range;
        for (let from = first; from < last; from += CHUNK_UNITS) {
          projectInline(builders, source, from, Math.min(last, from + CHUNK_UNITS));
          if (text.length > CHUNK_UNITS_MAX) yield* text.flush();
        }
      }
    }
    if ((content.kind === 'row' || content.kind === 'delimiter') && text.length >= CHUNK_UNITS) yield* flushAll();
    text.copy(source, end, Math.min(end + 1, source.length));
    if (text.length >= (blank ? CHUNK_UNITS : CHUNK_UNITS_MAX)) yield* flushAll();
  }
  yield* flushAll();
}
