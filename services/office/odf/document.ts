// Reads an odt, ods or odp (OpenDocument 1.3), as a package or as one XML document, into semantic HTML.
import { ParseError } from '#shared/contract/errors.ts';
import type { DocumentMetadata, RenderOptions } from '#shared/contract/jobs.ts';
import { attribute, childElement, childElements, parseXml, type XmlElement } from '#shared/readers/xml.ts';
import type { ZipContainer } from '#shared/readers/zip.ts';
import type { PictureOptions } from '../drawing.ts';
import { EMPTY_ELEMENT } from '../empty-element.ts';
import { readProperties } from '../properties.ts';
import { type SheetContent, writeSheets } from '../sheet/write.ts';
import { OdfContent } from './content.ts';
import { readSpreadsheet } from './sheets.ts';
import { readSlides } from './slides.ts';
import { OdfStyles } from './styles.ts';
import { withoutDeletions } from './tracked-changes.ts';

interface OdfDocument extends SheetContent {
  metadata: DocumentMetadata;
}

/** The root elements of the parts of a document. They are the same element in a flat document, which has no package. */
interface OdfParts {
  content: XmlElement | undefined;
  styles: XmlElement | undefined;
  meta: XmlElement | undefined;
  zip?: ZipContainer;
}

/** @throws ParseError DOCUMENT_CORRUPT, DOCUMENT_TOO_COMPLEX */
export function packageParts(zip: ZipContainer): OdfParts {
  const tree = (part: string) => (zip.has(part) ? parseXml(zip.text(part)) : undefined);
  return { content: tree('content.xml'), styles: tree('styles.xml'), meta: tree('meta.xml'), zip };
}

/** @throws ParseError DOCUMENT_CORRUPT, DOCUMENT_TOO_COMPLEX */
export function flatParts(xml: string): OdfParts {
  const root = parseXml(xml);
  return { content: root, styles: root, meta: root };
}

/** @throws ParseError DOCUMENT_CORRUPT, DOCUMENT_TOO_COMPLEX */
export function readOdf(parts: OdfParts, options: RenderOptions, pictures: PictureOptions): OdfDocument {
  const { content: root, styles: stylesRoot, meta, zip } = parts;
  const styles = new OdfStyles([stylesRoot, root]);
  const content = new OdfContent(zip, styles, pictures);
  const metadata = readProperties(childElement(meta, 'meta'));
  const body = childElements(childElement(root, 'body') ?? EMPTY_ELEMENT)[0];
  switch (body?.local) {
    case 'spreadsheet':
      return { ...writeSheets(readSpreadsheet(body, styles, content), options), metadata };
    case 'presentation':
      return { html: readSlides(body, styles, content), metadata };
    case 'text': {
      const main = content.read(withoutDeletions(body));
      const { headers, footers } = readHeadersAndFooters(stylesRoot, styles, content);
      return { html: [...headers, main, content.notesHtml(), ...footers].join('\n'), metadata };
    }
    default:
      throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: it has no body');
  }
}

/** The headers and footers of the master pages in use, without duplicates. */
function readHeadersAndFooters(
  stylesRoot: XmlElement | undefined,
  styles: OdfStyles,
  content: OdfContent,
): { headers: Set<string>; footers: Set<string> } {
  const found = { headers: new Set<string>(), footers: new Set<string>() };
  const used = styles.masterPages().add('Standard');
  for (const page of childElements(childElement(stylesRoot, 'master-styles') ?? EMPTY_ELEMENT, 'master-page')) {
    if (!used.has(attribute(page, 'name') ?? '')) continue;
    for (const part of childElements(page)) {
      const kind = /^(header|footer)(?:-first|-left)?$/.exec(part.local)?.[1];
      if (kind === undefined || attribute(part, 'display') === 'false') continue;
      const html = content.read(part).trim();
      if (html !== '') found[kind === 'header' ? 'headers' : 'footers'].add(`<${kind}>${html}</${kind}>`);
    }
  }
  return found;
}
