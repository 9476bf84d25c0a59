// Reads EPUB books: joins the chapters into one HTML document, and adapts their ids, links and images.
import type { Element } from 'domhandler';
import { ParseError } from '#shared/contract/errors.ts';
import type { RenderOptions } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { isElement, isText, removeElements, textOf, walk } from '#shared/document/dom.ts';
import { PictureCollection } from '#shared/document/pictures.ts';
import { serialize } from '#shared/document/serialize.ts';
import { parseHtml } from '#shared/document/tree.ts';
import { openZip, type ZipContainer } from '#shared/readers/zip.ts';
import { readPackage, resolvePath } from './package.ts';

/** Elements that are left out of web pages as page furniture (headers, sidebars, footers), but are part of the text in a book. */
const BOOK_PARTS = new Set(['aside', 'header', 'footer']);

/**
 * Converts an EPUB 2 or 3 into one document. Damaged chapters are left out, with a warning.
 * @throws ParseError DOCUMENT_CORRUPT, DOCUMENT_ENCRYPTED (digital rights management), DOCUMENT_TOO_COMPLEX
 */
export async function convertEpub(file: SourceFile, options: RenderOptions): Promise<ConvertedDocument> {
  const zip = await openZip(file.bytes);
  const book = readPackage(zip);
  const warnings: string[] = [];
  const chapterIds = new Map(book.chapters.map((path, index) => [path, `c${index + 1}`]));
  const collection = options.embeddedImages ? new PictureCollection() : undefined;
  const pictures =
    collection || !options.removeBase64Images ? new Pictures(zip, book.mediaTypes, collection) : undefined;
  const sections: string[] = [];
  let length = 0;
  let broken = 0;
  let fault: unknown;
  let lastHeading: string | undefined;
  for (const path of book.chapters) {
    let text: string;
    try {
      text = zip.text(path);
    } catch (error) {
      // For encryption or a decompression bomb, reject the complete book.
      if (!(error instanceof ParseError) || error.code !== 'DOCUMENT_CORRUPT') throw error;
      fault = error;
      broken++;
      continue;
    }
    const { html, heading } = chapterHtml(text, path, chapterIds, pictures, lastHeading);
    lastHeading = heading;
    length += html.length;
    if (length > DOCUMENT_LIMITS.fieldLength)
      throw new ParseError(
        'DOCUMENT_TOO_COMPLEX',
        `The chapters of the document have more than ${DOCUMENT_LIMITS.fieldLength} characters; split it into smaller files`,
      );
    sections.push(`<section id="${chapterIds.get(path)}">\n${html}\n</section>`);
  }
  if (sections.length === 0)
    throw fault ?? new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: none of its chapters can be read');
  if (broken > 0) warnings.push(`${broken} of ${book.chapters.length} chapters are damaged and were left out`);
  return {
    genre: 'document',
    html: sections.join('\n'),
    ...(collection ? { pictures: collection } : {}),
    metadata: book.metadata,
    warnings,
  };
}

/** Gives images their address: a data URL, up to a total length, or a reference to the collection. */
class Pictures {
  readonly #zip: ZipContainer;
  readonly #types: ReadonlyMap<string, string>;
  readonly #collection: PictureCollection | undefined;
  #length = 0;

  constructor(zip: ZipContainer, types: ReadonlyMap<string, string>, collection: PictureCollection | undefined) {
    this.#zip = zip;
    this.#types = types;
    this.#collection = collection;
  }

  address(path: string | undefined): string {
    const type = path === undefined ? undefined : this.#types.get(path);
    if (path === undefined || !type?.startsWith('image/') || !this.#zip.has(path)) return '';
    if (this.#collection) return this.#collection.add(path, () => this.#zip.read(path, DOCUMENT_LIMITS.pictureBytes));
    const encoded = Buffer.from(this.#zip.read(path)).toString('base64');
    this.#length += encoded.length;
    return this.#length > DOCUMENT_LIMITS.fieldLength / 4 ? '' : `data:${type};base64,${encoded}`;
  }
}

/** Returns the body of a chapter, with its images, and with ids and links that are unique in the book. */
function chapterHtml(
  text: string,
  path: string,
  chapterIds: ReadonlyMap<string, string>,
  pictures: Pictures | undefined,
  headingBefore: string | undefined,
): Chapter {
  const { body } = parseHtml(text, { xhtml: true });
  const id = chapterIds.get(path) ?? '';
  const dropped: Element[] = [];
  walk(body.children, (node) => {
    if (!isElement(node)) return true;
    if (node.name === 'script' || node.name === 'style') {
      dropped.push(node);
      return false;
    }
    const { attribs } = node;
    if (attribs.id) attribs.id = `${id}-${attribs.id}`;
    if (node.name === 'a') {
      if (attribs.href) attribs.href = bookAddress(attribs.href, path, chapterIds);
      if (attribs.name && !attribs.id) attribs.id = `${id}-${attribs.name}`;
      delete attribs.name;
    }
    if (node.name === 'img' || node.name === 'image') embedPicture(node, path, pictures, dropped);
    else if (node.name === 'svg') unwrapImage(node);
    else if (node.name === 'epub:switch') chooseCase(node, dropped);
    else if (BOOK_PARTS.has(node.name)) {
      attribs['epub:type'] ??= node.name;
      node.name = 'div';
    }
    return true;
  });
  const opening = openingHeading(body);
  const heading = opening && textOf([opening]).replace(/\s+/g, ' ').trim();
  // Some programs repeat the title page's heading in the first chapter.
  if (opening && heading !== '' && heading === headingBefore) dropped.push(opening);
  removeElements(dropped);
  return { html: serialize(body.children), heading };
}

interface Chapter {
  html: string;
  /** Text of the heading at the start of the chapter. */
  heading: string | undefined;
}

/** Returns the heading that comes before all other text of a chapter. */
function openingHeading(body: Element): Element | undefined {
  let found: Element | undefined;
  let done = false;
  walk(body.children, (node) => {
    if (done) return false;
    if (isElement(node) && /^h[1-6]$/.test(node.name)) {
      found = node;
      done = true;
    } else if (isText(node) && node.data.trim() !== '') done = true;
    return !done;
  });
  return found;
}

/** Changes a link to a chapter into a link inside the document, and a link to another file of the book into an empty one. */
function bookAddress(href: string, path: string, chapterIds: ReadonlyMap<string, string>): string {
  const hash = href.indexOf('#');
  const fragment = hash < 0 ? '' : href.slice(hash + 1);
  const target = href.startsWith('#') ? path : resolvePath(path, href);
  if (target === undefined) return href;
  const chapterId = chapterIds.get(target);
  if (chapterId === undefined) return '';
  return fragment === '' ? `#${chapterId}` : `#${chapterId}-${fragment}`;
}

/** Replaces the address of an image by a data URL if the options keep these. Drops an image without data and `alt`. */
function embedPicture(node: Element, path: string, pictures: Pictures | undefined, dropped: Element[]): void {
  const source = node.attribs.src ?? node.attribs['xlink:href'] ?? node.attribs.href ?? '';
  if (/^https?:/i.test(source)) return;
  const inline = source.startsWith('data:')
    ? pictures
      ? source
      : ''
    : (pictures?.address(resolvePath(path, source)) ?? '');
  if (inline === '' && !node.attribs.alt?.trim()) {
    dropped.push(node);
    return;
  }
  delete node.attribs.srcset;
  node.name = 'img';
  node.attribs.src = inline;
}

/** Replaces the `svg` of `<svg><image/></svg>`, which books often use for the cover, by a span around the image. */
function unwrapImage(svg: Element): void {
  const image = svg.children.find((child): child is Element => isElement(child) && child.name === 'image');
  if (image === undefined) return;
  const title = svg.children.find((child): child is Element => isElement(child) && child.name === 'title');
  image.attribs.alt ??=
    title?.children.map((child) => ('data' in child ? child.data : '')).join('') ?? svg.attribs['aria-label'] ?? '';
  svg.name = 'span';
}

/** Keeps the MathML case of an EPUB 3 `switch`, or its default if there is none (EPUB Content Documents 3.0, 2.1.3.3). */
function chooseCase(element: Element, dropped: Element[]): void {
  const parts = element.children.filter(isElement);
  const chosen =
    parts.find((part) => part.name === 'epub:case' && /MathML/i.test(part.attribs['required-namespace'] ?? '')) ??
    parts.find((part) => part.name === 'epub:default');
  for (const part of parts) if (part !== chosen) dropped.push(part);
}
