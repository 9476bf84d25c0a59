// Reads title, author and dates of a document and gives them the same names for all formats.
import type { DocumentMetadata } from '#shared/contract/jobs.ts';
import { childElements, textContent, type XmlElement } from '#shared/readers/xml.ts';

/** The local names of Dublin Core, core properties (ECMA-376-2, 11) and ODF meta (ODF 1.3 part 3, 4.3), with our names. */
const FIELDS: Record<string, string> = {
  title: 'title',
  creator: 'author',
  description: 'description',
  subject: 'subject',
  keywords: 'keywords',
  language: 'language',
  category: 'category',
  lastModifiedBy: 'lastModifiedBy',
  created: 'created',
  modified: 'modified',
  'initial-creator': 'author',
  'creation-date': 'created',
  date: 'modified',
};
/** Longer values are cut: they are not titles or names. */
const VALUE_LENGTH = 4_096;

/** The properties in the root of `core.xml` or in an `office:meta` element, without empty ones. */
export function readProperties(root: XmlElement | undefined): DocumentMetadata {
  const metadata: DocumentMetadata = {};
  for (const element of root ? childElements(root) : []) {
    const field = FIELDS[element.local];
    const value = textContent(element).trim().slice(0, VALUE_LENGTH);
    if (field === undefined || value === '') continue;
    // The first author is kept, because in ODF `creator` is the person who saved the file last.
    if (field === 'author' && metadata.author !== undefined && element.local === 'creator')
      metadata.lastModifiedBy = value;
    else metadata[field] = value;
  }
  const keywords = root
    ? childElements(root, 'keyword')
        .map((element) => textContent(element).trim())
        .filter(Boolean)
    : [];
  if (keywords.length > 0) metadata.keywords = keywords.join(', ').slice(0, VALUE_LENGTH);
  return metadata;
}
