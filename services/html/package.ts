// Reads the package of an EPUB: the chapters in reading order, the metadata, and whether the book is encrypted.
import { ParseError } from '#shared/contract/errors.ts';
import type { DocumentMetadata } from '#shared/contract/jobs.ts';
import { percentDecoded } from '#shared/document/addresses.ts';
import {
  attribute,
  childElement,
  childElements,
  descendants,
  parseXml,
  textContent,
  type XmlElement,
} from '#shared/readers/xml.ts';
import type { ZipContainer } from '#shared/readers/zip.ts';

interface BookPackage {
  /** Paths inside the container, in reading order, without duplicates. */
  chapters: string[];
  /** Media types of the manifest, by path. */
  mediaTypes: Map<string, string>;
  metadata: DocumentMetadata;
}

const CHAPTER_TYPE = /xhtml|html|dtbook|x-oeb1-document/i;
/** Font obfuscation is not encryption: everybody can decode it (EPUB 3.3 OCF, 4.2.6.3.1). */
const FONT_OBFUSCATION = new Set(['http://www.idpf.org/2008/embedding', 'http://ns.adobe.com/pdf/enc#RC']);

/** @throws ParseError DOCUMENT_CORRUPT, DOCUMENT_ENCRYPTED */
export function readPackage(zip: ZipContainer): BookPackage {
  const path = packagePath(zip);
  const root = parseXml(zip.text(path));
  const manifest = new Map<string, { path: string; type: string }>();
  for (const item of descendants(root, 'item')) {
    const id = attribute(item, 'id');
    const href = attribute(item, 'href');
    if (id === undefined || href === undefined) continue;
    const target = resolvePath(path, href);
    if (target !== undefined && !manifest.has(id))
      manifest.set(id, { path: target, type: attribute(item, 'media-type') ?? '' });
  }
  const spine = descendants(root, 'itemref').flatMap(
    (reference) => manifest.get(attribute(reference, 'idref') ?? '') ?? [],
  );
  const listed = spine.length > 0 ? spine : [...manifest.values()].filter((item) => CHAPTER_TYPE.test(item.type));
  const chapters = [
    ...new Set(
      listed.filter((item) => CHAPTER_TYPE.test(item.type) || /\.x?html?$/i.test(item.path)).map((item) => item.path),
    ),
  ].filter((chapter) => zip.has(chapter));
  if (chapters.length === 0)
    throw new ParseError(
      'DOCUMENT_CORRUPT',
      'The document is corrupt: this EPUB contains none of the chapters that it lists',
    );
  refuseEncrypted(zip, new Set(chapters));
  return {
    chapters,
    mediaTypes: new Map([...manifest.values()].map((item) => [item.path, item.type])),
    metadata: bookMetadata(root),
  };
}

/** Returns the path of the package document that META-INF/container.xml names, or of the first `.opf` file if it names none. */
function packagePath(zip: ZipContainer): string {
  if (zip.has('META-INF/container.xml')) {
    for (const file of descendants(parseXml(zip.text('META-INF/container.xml')), 'rootfile')) {
      const path = resolvePath('', attribute(file, 'full-path') ?? '');
      if (path !== undefined && zip.has(path)) return path;
    }
  }
  const found = zip.names().find((name) => name.toLowerCase().endsWith('.opf'));
  if (found === undefined)
    throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: this EPUB has no package document (.opf)');
  return found;
}

/** Resolves `href` in the file `from` to a path inside the container, without the fragment. Undefined for an empty or absolute URL. */
export function resolvePath(from: string, href: string): string | undefined {
  if (href === '' || /^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return undefined;
  const withoutFragment = href.replace(/[#?].*$/s, '');
  const decoded = percentDecoded(withoutFragment);
  const parts = decoded.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const part of decoded.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return parts.join('/');
}

function refuseEncrypted(zip: ZipContainer, chapters: ReadonlySet<string>): void {
  if (!zip.has('META-INF/encryption.xml')) return;
  for (const data of descendants(parseXml(zip.text('META-INF/encryption.xml')), 'EncryptedData')) {
    const algorithm = attribute(childElement(data, 'EncryptionMethod'), 'Algorithm') ?? '';
    if (FONT_OBFUSCATION.has(algorithm)) continue;
    const target = descendants(data, 'CipherReference').map((reference) =>
      resolvePath('', attribute(reference, 'URI') ?? ''),
    )[0];
    if (target !== undefined && chapters.has(target))
      throw new ParseError(
        'DOCUMENT_ENCRYPTED',
        'The document is encrypted: this EPUB is protected by digital rights management; send a copy without it',
      );
  }
}

/** Dublin Core terms (EPUB 3.3, 5.5), and their names in the metadata of the response. */
const TERMS: readonly (readonly [term: string, name: string])[] = [
  ['title', 'title'],
  ['language', 'language'],
  ['description', 'description'],
  ['subject', 'keywords'],
  ['creator', 'author'],
  ['contributor', 'contributor'],
  ['publisher', 'publisher'],
  ['date', 'date'],
  ['identifier', 'identifier'],
  ['rights', 'rights'],
];

function bookMetadata(root: XmlElement): DocumentMetadata {
  const holder = childElement(root, 'metadata');
  const metadata: DocumentMetadata = {};
  if (!holder) return metadata;
  // OEBPS 1 packages have the terms one level deeper.
  const holders = [holder, ...childElements(holder, 'dc-metadata')];
  for (const [term, name] of TERMS) {
    const values = holders
      .flatMap((one) => childElements(one, term))
      .map((element) => withoutTags(textContent(element)));
    const unique = [...new Set(values.filter((value) => value !== ''))].slice(0, 100);
    const [first] = unique;
    if (first === undefined) continue;
    // The first title is the main title, the others are subtitles.
    metadata[name] = unique.length === 1 || name === 'title' ? first : unique;
  }
  return metadata;
}

/** Descriptions often contain escaped HTML. */
function withoutTags(text: string): string {
  return text
    .replace(/<[^<>]{0,500}>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
