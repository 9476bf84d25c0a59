// Generates minimal OpenDocument and EPUB files with text that tests search for.
import { type Content, escapeXml } from './ooxml.ts';
import { zip } from './zip.ts';

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>';
const NAMES =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"';

const paragraph = (text: string) => `<text:p>${escapeXml(text)}</text:p>`;

function tableOf(name: string, rows: readonly (readonly string[])[]): string {
  const width = Math.max(1, ...rows.map((row) => row.length));
  const cell = (text: string) =>
    /^\d+$/.test(text)
      ? `<table:table-cell office:value-type="float" office:value="${text}">${paragraph(text)}</table:table-cell>`
      : `<table:table-cell office:value-type="string">${paragraph(text)}</table:table-cell>`;
  const lines = rows.map((row) => `<table:table-row>${row.map(cell).join('')}</table:table-row>`).join('');
  return `<table:table table:name="${escapeXml(name)}"><table:table-column table:number-columns-repeated="${width}"/>${lines}</table:table>`;
}

/** How an OpenDocument is stored: a package, a package of a template, or one XML document. */
export type OdfStorage = 'package' | 'template' | 'flat';

function openDocument(type: string, body: string, storage: OdfStorage): Buffer {
  if (storage === 'flat')
    return Buffer.from(
      `${HEAD}<office:document ${NAMES} office:version="1.2" office:mimetype="${type}"><office:body>${body}</office:body></office:document>`,
    );
  const mime = storage === 'template' ? `${type}-template` : type;
  const manifest = 'urn:oasis:names:tc:opendocument:xmlns:manifest:1.0';
  return zip([
    { name: 'mimetype', content: mime },
    {
      name: 'META-INF/manifest.xml',
      content: `${HEAD}<manifest:manifest xmlns:manifest="${manifest}" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:version="1.2" manifest:media-type="${mime}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
    },
    {
      name: 'content.xml',
      content: `${HEAD}<office:document-content ${NAMES} office:version="1.2"><office:body>${body}</office:body></office:document-content>`,
      deflate: true,
    },
  ]);
}

/** An .odt, .ott or .fodt: a heading, paragraphs and a table. */
export function odt(content: Content, storage: OdfStorage = 'package'): Buffer {
  const heading = `<text:h text:outline-level="1">${escapeXml(content.title)}</text:h>`;
  return openDocument(
    'application/vnd.oasis.opendocument.text',
    `<office:text>${heading}${content.paragraphs.map(paragraph).join('')}${content.table.length > 0 ? tableOf('Table1', content.table) : ''}</office:text>`,
    storage,
  );
}

/** An .ods, .ots or .fods with one sheet. */
export function ods(content: Content, storage: OdfStorage = 'package', sheet = 'Boats'): Buffer {
  const rows = [[content.title], ...content.paragraphs.map((text) => [text]), ...content.table];
  return openDocument(
    'application/vnd.oasis.opendocument.spreadsheet',
    `<office:spreadsheet>${tableOf(sheet, rows)}</office:spreadsheet>`,
    storage,
  );
}

/** An .odp, .otp or .fodp with one slide: a title frame and an outline frame. */
export function odp(content: Content, storage: OdfStorage = 'package'): Buffer {
  const frame = (kind: string, top: number, body: string) =>
    `<draw:frame presentation:class="${kind}" svg:x="2cm" svg:y="${top}cm" svg:width="22cm" svg:height="5cm"><draw:text-box>${body}</draw:text-box></draw:frame>`;
  const page = `<draw:page draw:name="Slide 1" draw:master-page-name="Default">${frame('title', 1, paragraph(content.title))}${frame('outline', 7, content.paragraphs.map(paragraph).join(''))}</draw:page>`;
  return openDocument(
    'application/vnd.oasis.opendocument.presentation',
    `<office:presentation>${page}</office:presentation>`,
    storage,
  );
}

/** An .epub 3 with a navigation document and one chapter. */
export function epub(content: Content, chapterBody: string): Buffer {
  const page = (title: string, body: string) =>
    `${HEAD}<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>${escapeXml(title)}</title></head><body>${body}</body></html>`;
  return zip([
    { name: 'mimetype', content: 'application/epub+zip' },
    {
      name: 'META-INF/container.xml',
      content: `${HEAD}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
    },
    {
      name: 'OEBPS/content.opf',
      content: `${HEAD}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">urn:uuid:6f1f7f0a-1111-4222-8333-944445555666</dc:identifier><dc:title>${escapeXml(content.title)}</dc:title><dc:language>en</dc:language><meta property="dcterms:modified">2024-05-01T00:00:00Z</meta></metadata><manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="c1" href="chapter1.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c1"/></spine></package>`,
    },
    {
      name: 'OEBPS/nav.xhtml',
      content: page('Contents', '<nav epub:type="toc"><ol><li><a href="chapter1.xhtml">Chapter</a></li></ol></nav>'),
    },
    { name: 'OEBPS/chapter1.xhtml', content: page(content.title, chapterBody), deflate: true },
  ]);
}
