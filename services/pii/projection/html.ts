// Projects HTML source: text nodes as prose, attribute values and URLs in separate projections.
import { readReference } from '#shared/document/source/character-references.ts';
import { readTag, type Tag } from '#shared/document/source/html-tag.ts';
import { INLINE_ELEMENTS, SILENT_ATTRIBUTES, URL_ATTRIBUTES } from './elements.ts';
import { CHUNK_UNITS, CHUNK_UNITS_MAX, type Projection, ProjectionBuilder } from './projection.ts';
import { projectUrl } from './url.ts';

/** Copies source[start, end) with character references decoded. */
function projectReferences(builder: ProjectionBuilder, source: string, start: number, end: number): void {
  let copied = start;
  // Search inside the range only: a search to the end of the document for each text node takes quadratic time.
  const range = source.slice(start, end);
  for (let at = range.indexOf('&'); at >= 0; at = range.indexOf('&', at)) {
    const index = start + at;
    const reference = readReference(source, index);
    if (!reference || index + reference.length > end) {
      at += 1;
      continue;
    }
    builder.copy(source, copied, index);
    builder.emit(reference.text, index, index + reference.length);
    at += reference.length;
    copied = start + at;
  }
  builder.copy(source, copied, end);
}

/** Adds the attribute values of a tag: URLs to `urls`, other texts to `words`. */
export function projectAttributes(tag: Tag, source: string, words: ProjectionBuilder, urls: ProjectionBuilder): void {
  for (const attribute of tag.attributes) {
    if (attribute.end - attribute.start < 3 || SILENT_ATTRIBUTES.has(attribute.name)) continue;
    const isUrl =
      URL_ATTRIBUTES.has(attribute.name) ||
      /^(?:[a-z][a-z0-9+.-]{1,20}:\/\/|mailto:|tel:)\S*$/i.test(
        source.slice(attribute.start, Math.min(attribute.end, attribute.start + 200)),
      );
    if (isUrl) projectUrl(urls, source, attribute.start, attribute.end);
    else {
      words.gap('\n\n');
      projectReferences(words, source, attribute.start, attribute.end);
    }
  }
}

/** Tracks the rows of a table and labels each cell with the heading of its column. */
class TableHeadings {
  #headings: string[] = [];
  #column = -1;
  #first = true;

  tag(tag: Tag, builder: ProjectionBuilder): void {
    if (tag.name === 'table') {
      this.#headings = [];
      this.#first = true;
    } else if (tag.name === 'tr') {
      if (tag.closing && this.#column >= 0) this.#first = false;
      this.#column = -1;
    } else if (!tag.closing) {
      this.#column += 1;
      builder.openCell();
    } else {
      const text = builder.closeCell(this.#first ? '' : (this.#headings[this.#column] ?? ''));
      if (this.#first && this.#column >= 0 && this.#column < 1000) this.#headings[this.#column] = text.toLowerCase();
    }
  }
}

const TABLE_TAGS: ReadonlySet<string> = new Set(['table', 'tr', 'td', 'th']);

/** The projections of an HTML text. Chunks end at the ends of blocks. */
export function* projectHtml(source: string): Generator<Projection> {
  const builder = new ProjectionBuilder('text', 'html');
  const words = new ProjectionBuilder('attribute', 'html');
  const urls = new ProjectionBuilder('url', 'percent');
  const table = new TableHeadings();
  let position = 0;
  while (position < source.length) {
    const open = source.indexOf('<', position);
    const textEnd = open < 0 ? source.length : open;
    for (let start = position; start < textEnd; start += CHUNK_UNITS) {
      projectReferences(builder, source, start, Math.min(textEnd, start + CHUNK_UNITS));
      if (builder.length > CHUNK_UNITS_MAX) yield* builder.flush();
    }
    if (open < 0) break;
    if (source.startsWith('<!--', open)) {
      const end = source.indexOf('-->', open + 4);
      const stop = end < 0 ? source.length : end;
      words.gap('\n\n');
      words.copy(source, open + 4, stop);
      position = end < 0 ? stop : end + 3;
      continue;
    }
    const tag = readTag(source, open);
    if (!tag) {
      builder.copy(source, open, open + 1);
      position = open + 1;
      continue;
    }
    projectAttributes(tag, source, words, urls);
    position = tag.end;
    if (TABLE_TAGS.has(tag.name)) table.tag(tag, builder);
    if (tag.name === 'br') builder.gap('\n');
    else if (!INLINE_ELEMENTS.has(tag.name)) {
      if (builder.length >= CHUNK_UNITS && tag.name !== 'td' && tag.name !== 'th') yield* builder.flush();
      builder.gap(tag.name === 'td' || tag.name === 'th' || tag.name === 'tr' ? '\n' : '\n\n');
    }
    if (words.length >= CHUNK_UNITS) yield* words.flush();
    if (urls.length >= CHUNK_UNITS) yield* urls.flush();
  }
  yield* builder.flush();
  yield* words.flush();
  yield* urls.flush();
}
