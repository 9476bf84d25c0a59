// Generates one file of each format with every kind of external link that the format supports, and with a word that a parser must still read.
import { png, pngChunk } from './images.ts';
import { HEAD, packageOf, TYPE } from './ooxml.ts';
import { zip } from './zip.ts';

export interface LinkingDocument {
  fileName: string;
  file: Uint8Array | string;
  /** A word that the Markdown must contain. Undefined if the file may be rejected. */
  word: string | undefined;
}

const WORD = 'herons';
const OFFICE_DOCUMENT = 'application/vnd.openxmlformats-officedocument';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** Relationships with targets outside the package. */
const externalRelations = (targets: readonly (readonly [type: string, target: string])[]): string =>
  `${HEAD}<Relationships xmlns="${RELATIONS}">${targets
    .map(
      ([type, target], index) =>
        `<Relationship Id="rId${index + 1}" Type="${TYPE}/${type}" Target="${target}" TargetMode="External"/>`,
    )
    .join('')}</Relationships>`;

function html(url: (name: string) => string): string {
  return `<!doctype html><html manifest="${url('app.manifest')}"><head><base href="${url('')}"><title>Links</title>
<link rel="stylesheet" href="${url('style.css')}"><link rel="preload" as="image" href="${url('pre.png')}"><link rel="icon" href="${url('icon.ico')}">
<meta http-equiv="refresh" content="0;url=${url('refresh')}"><script src="${url('script.js')}"></script>
<style>@import url("${url('import.css')}"); @font-face{font-family:x;src:url(${url('font.woff2')})} body{background:url(${url('back.png')});font-family:x}</style></head>
<body background="${url('body.png')}" onload="fetch('${url('onload')}')"><p>Seventeen ${WORD} were counted.</p>
<img src="${url('img.png')}" srcset="${url('set.png')} 2x"><picture><source srcset="${url('source.webp')}"><img src="relative.png"></picture>
<iframe src="${url('frame.html')}"></iframe><object data="${url('object.swf')}"></object><embed src="${url('embed.pdf')}">
<video src="${url('video.mp4')}" poster="${url('poster.png')}"></video><audio src="${url('audio.mp3')}"></audio>
<svg><image href="${url('svg.png')}"/><use href="${url('use.svg')}#a"/></svg><input type="image" src="${url('input.png')}">
<form action="${url('form')}"><button>Go</button></form><a href="${url('link')}" ping="${url('ping')}">link</a></body></html>`;
}

const xhtml = (url: (name: string) => string): string =>
  `<?xml version="1.0"?><?xml-stylesheet href="${url('pi.css')}" type="text/css"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "${url('xhtml.dtd')}" [<!ENTITY remote SYSTEM "${url('entity.txt')}"><!ENTITY % more SYSTEM "${url('more.dtd')}"> %more;]><html xmlns="http://www.w3.org/1999/xhtml" xmlns:xi="http://www.w3.org/2001/XInclude"><body><p>Seventeen ${WORD} &remote;</p><xi:include href="${url('include.xml')}" parse="text"/><img src="${url('x.png')}"/></body></html>`;

function epub(url: (name: string) => string): Uint8Array {
  return zip([
    { name: 'mimetype', content: 'application/epub+zip' },
    {
      name: 'META-INF/container.xml',
      content: `${HEAD}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
    },
    {
      name: 'c.opf',
      content: `${HEAD}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">a</dc:identifier><dc:title>T</dc:title><dc:language>en</dc:language></metadata><manifest><item id="c1" href="c1.xhtml" media-type="application/xhtml+xml" properties="remote-resources"/><item id="far" href="${url('chapter.xhtml')}" media-type="application/xhtml+xml"/><item id="font" href="${url('font.otf')}" media-type="font/otf"/></manifest><spine><itemref idref="c1"/><itemref idref="far"/></spine></package>`,
    },
    {
      name: 'c1.xhtml',
      content: `${HEAD}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title><link rel="stylesheet" href="${url('epub.css')}"/><style>@font-face{font-family:x;src:url(${url('epub.woff')})}</style></head><body><p>Seventeen ${WORD}</p><img src="${url('epub.png')}"/><audio src="${url('epub.mp3')}"/></body></html>`,
    },
  ]);
}

function docx(url: (name: string) => string): Uint8Array {
  const names =
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"';
  const field = (code: string) =>
    `<w:p><w:r><w:fldChar w:fldCharType="begin" w:dirty="true"/></w:r><w:r><w:instrText>${code}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>old</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`;
  const picture = `<w:drawing><wp:inline><wp:extent cx="900" cy="900"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:blipFill><a:blip r:link="rId1"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>`;
  const ole = `<w:object><v:shape id="s" style="width:10pt;height:10pt"><v:imagedata r:id="rId1" src="${url('vml.png')}"/></v:shape><o:OLEObject Type="Link" ProgID="Excel.Sheet.12" ShapeID="s" DrawAspect="Content" r:id="rId2" UpdateMode="Always"/></w:object>`;
  return packageOf(
    'word/document.xml',
    {
      'word/document.xml': `${OFFICE_DOCUMENT}.wordprocessingml.document.main+xml`,
      'word/settings.xml': `${OFFICE_DOCUMENT}.wordprocessingml.settings+xml`,
    },
    [
      {
        name: 'word/document.xml',
        content: `${HEAD}<w:document ${names}><w:body><w:p><w:r><w:t>Seventeen ${WORD}</w:t></w:r></w:p><w:p><w:r>${picture}</w:r></w:p><w:p><w:r>${ole}</w:r></w:p>${field(`INCLUDEPICTURE "${url('include.png')}" \\d`)}${field(`INCLUDETEXT "${url('include.docx')}"`)}${field(`DDEAUTO Excel "${url('dde.xlsx')}" a`)}<w:subDoc r:id="rId4"/><w:altChunk r:id="rId3"/></w:body></w:document>`,
      },
      {
        name: 'word/_rels/document.xml.rels',
        content: externalRelations([
          ['image', url('linked.png')],
          ['oleObject', url('linked.xlsx')],
          ['aFChunk', url('chunk.html')],
          ['subDocument', url('sub.docx')],
        ]).replace(
          '</Relationships>',
          `<Relationship Id="rId9" Type="${TYPE}/settings" Target="settings.xml"/></Relationships>`,
        ),
      },
      {
        name: 'word/settings.xml',
        content: `${HEAD}<w:settings ${names}><w:attachedTemplate r:id="rId1"/></w:settings>`,
      },
      {
        name: 'word/_rels/settings.xml.rels',
        content: externalRelations([['attachedTemplate', url('template.dotm')]]),
      },
    ],
  );
}

/** A .docx whose main part defines external entities. */
const docxWithEntity = (url: (name: string) => string): Uint8Array =>
  packageOf('word/document.xml', { 'word/document.xml': `${OFFICE_DOCUMENT}.wordprocessingml.document.main+xml` }, [
    {
      name: 'word/document.xml',
      content: `<?xml version="1.0"?><!DOCTYPE w:document SYSTEM "${url('w.dtd')}" [<!ENTITY x SYSTEM "${url('x.txt')}"><!ENTITY f SYSTEM "file:///etc/hostname">]><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Seventeen ${WORD} &x;&f;</w:t></w:r></w:p></w:body></w:document>`,
    },
  ]);

function xlsx(url: (name: string) => string): Uint8Array {
  const names =
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
  const type = (part: string) => `${OFFICE_DOCUMENT}.spreadsheetml.${part}+xml`;
  const inside = (targets: readonly (readonly [string, string])[]) =>
    externalRelations(targets).replaceAll(' TargetMode="External"', '');
  const sheet = inside([
    ['worksheet', 'worksheets/sheet1.xml'],
    ['externalLink', 'externalLinks/externalLink1.xml'],
    ['connections', 'connections.xml'],
  ]);
  return packageOf(
    'xl/workbook.xml',
    {
      'xl/workbook.xml': type('sheet.main'),
      'xl/worksheets/sheet1.xml': type('worksheet'),
      'xl/externalLinks/externalLink1.xml': type('externalLink'),
      'xl/connections.xml': type('connections'),
    },
    [
      {
        name: 'xl/workbook.xml',
        content: `${HEAD}<workbook ${names}><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets><externalReferences><externalReference r:id="rId2"/></externalReferences><calcPr fullCalcOnLoad="1"/></workbook>`,
      },
      { name: 'xl/_rels/workbook.xml.rels', content: sheet },
      {
        name: 'xl/worksheets/sheet1.xml',
        content: `${HEAD}<worksheet ${names}><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Seventeen ${WORD}</t></is></c><c r="B1"><f>[1]Sheet1!$A$1</f><v>1</v></c><c r="C1"><f>WEBSERVICE("${url('service')}")</f><v>2</v></c><c r="D1"><f>HYPERLINK("${url('link')}")</f><v>3</v></c></row></sheetData></worksheet>`,
      },
      {
        name: 'xl/externalLinks/externalLink1.xml',
        content: `${HEAD}<externalLink ${names}><externalBook r:id="rId1"><sheetNames><sheetName val="Sheet1"/></sheetNames></externalBook></externalLink>`,
      },
      {
        name: 'xl/externalLinks/_rels/externalLink1.xml.rels',
        content: externalRelations([['externalLinkPath', url('book.xlsx')]]),
      },
      {
        name: 'xl/connections.xml',
        content: `${HEAD}<connections ${names}><connection id="1" name="c" type="4" refreshedVersion="6" refreshOnLoad="1"><webPr sourceData="1" parsePre="1" url="${url('query')}"/></connection></connections>`,
      },
    ],
  );
}

const ODF_NAMES =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"';

/** The body of an OpenDocument file with links, for both the flat and the packaged form. */
function odfBody(kind: 'text' | 'spreadsheet' | 'presentation', url: (name: string) => string): string {
  const link = (name: string) =>
    `xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad" xlink:href="${url(name)}"`;
  const frame = `<draw:frame svg:width="5cm" svg:height="5cm"><draw:image ${link(`${kind}.png`)}/></draw:frame><draw:frame svg:width="5cm" svg:height="5cm"><draw:object ${link(`${kind}.ods`)}/></draw:frame>`;
  const words = `<text:p>Seventeen ${WORD}</text:p>`;
  if (kind === 'text')
    return `<office:text>${words}<text:p>${frame}</text:p><text:section text:name="s"><text:section-source ${link('section.odt')}/><text:p>old</text:p></text:section><text:section text:name="d"><office:dde-source office:dde-application="soffice" office:dde-topic="${url('dde')}" office:dde-item="a" office:automatic-update="true"/><text:p>old</text:p></text:section></office:text>`;
  if (kind === 'presentation')
    return `<office:presentation><draw:page draw:name="1"><draw:frame svg:width="20cm" svg:height="5cm"><draw:text-box>${words}</draw:text-box></draw:frame>${frame}<draw:frame svg:width="5cm" svg:height="5cm"><draw:plugin draw:mime-type="application/vnd.sun.star.media" ${link('film.mp4')}/></draw:frame></draw:page></office:presentation>`;
  return `<office:spreadsheet><table:table table:name="A"><table:table-row><table:table-cell office:value-type="string">${words}</table:table-cell><table:table-cell table:formula="of:='${url('book.ods')}'#$A.A1" office:value-type="float" office:value="1"/><table:table-cell table:formula="of:=WEBSERVICE(&quot;${url('service')}&quot;)" office:value-type="string"><text:p>old</text:p></table:table-cell></table:table-row></table:table><table:table table:name="B"><table:table-source ${link('table.ods')} table:table-name="A" table:refresh-delay="PT1S"/><table:table-row><table:table-cell><table:cell-range-source ${link('range.ods')} table:name="A" table:last-column-spanned="1" table:last-row-spanned="1"/></table:table-cell></table:table-row></table:table></office:spreadsheet>`;
}

const odfMime = (kind: string): string => `application/vnd.oasis.opendocument.${kind}`;

function odf(kind: 'text' | 'spreadsheet' | 'presentation', url: (name: string) => string): Uint8Array {
  return zip([
    { name: 'mimetype', content: odfMime(kind) },
    {
      name: 'META-INF/manifest.xml',
      content: `${HEAD}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="${odfMime(kind)}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`,
    },
    {
      name: 'content.xml',
      content: `${HEAD}<office:document-content ${ODF_NAMES} office:version="1.2"><office:body>${odfBody(kind, url)}</office:body></office:document-content>`,
    },
  ]);
}

/** The same document as one XML file. LibreOffice converts it to the legacy formats and keeps the links. */
export function flatOdf(kind: 'text' | 'spreadsheet' | 'presentation', url: (name: string) => string): string {
  return `${HEAD}<office:document ${ODF_NAMES} office:version="1.2" office:mimetype="${odfMime(kind)}"><office:body>${odfBody(kind, url)}</office:body></office:document>`;
}

function rtf(url: (name: string) => string): string {
  const field = (code: string) => `{\\field\\flddirty{\\*\\fldinst ${code}}{\\fldrslt old}}`;
  return `{\\rtf1\\ansi{\\*\\template ${url('template.dot')}}{\\fonttbl{\\f0 Liberation Serif;}}{\\pard Seventeen ${WORD}\\par}{\\pard ${field(`INCLUDEPICTURE "${url('rtf.png')}" \\\\d`)}${field(`INCLUDETEXT "${url('rtf.docx')}"`)}${field(`LINK Excel.Sheet.8 "${url('rtf.xls')}" "" \\\\a \\\\p`)}\\par}{\\object\\objautlink\\objupdate{\\*\\objclass htmlfile}{\\*\\objdata 0105000001000000}{\\result old}}{\\*\\htmltag <img src="${url('rtf-tag.png')}">}\\pard\\par}`;
}

/** A PDF with every action that can open a URL, and with an image whose data is at a URL. */
function pdf(url: (name: string) => string): string {
  const content = `BT /F1 12 Tf 60 700 Td (Seventeen ${WORD}) Tj ET q 90 0 0 90 60 500 cm /Far Do Q`;
  const action = (fields: string) => `<< /Type /Action ${fields} >>`;
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R /OpenAction ${action(`/S /URI /URI (${url('open')})`)} /AA << /WC ${action(`/S /JavaScript /JS (app.launchURL\\("${url('js')}"\\))`)} >> /URI << /Base (${url('base')}) >> /AcroForm << /Fields [] /XFA (<xdp href="${url('xfa')}"/>) >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /Far 6 0 R >> >> /AA << /O ${action(`/S /SubmitForm /F << /FS /URL /F (${url('submit')}) >>`)} >> /Annots [${[
      action(`/S /URI /URI (${url('uri')})`),
      action(`/S /Launch /F (${url('launch.exe')}) /NewWindow true`),
      action(`/S /GoToR /F << /FS /URL /F (${url('other.pdf')}) >> /D [0 /Fit]`),
      action(`/S /ImportData /F << /FS /URL /F (${url('data.fdf')}) >>`),
    ]
      .map(
        (one, index) =>
          `<< /Type /Annot /Subtype /Link /Rect [60 ${600 - index * 20} 200 ${615 - index * 20}] /A ${one} >>`,
      )
      .join(' ')}] >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Type /XObject /Subtype /Image /Width 8 /Height 8 /BitsPerComponent 8 /ColorSpace /DeviceGray /F << /Type /Filespec /FS /URL /F (${url('pdf-image')}) >> /FFilter /DCTDecode /Length 0 >>\nstream\n\nendstream`,
  ];
  let text = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')}trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return text;
}

const csv = (url: (name: string) => string): string =>
  `Birds,Count\r\n${WORD},"=WEBSERVICE(""${url('csv')}"")"\r\n"=HYPERLINK(""${url('csv-link')}"")",=cmd|' /C calc'!A0\r\n`;

/** XMP metadata with an external document type, which an XML reader could fetch. */
const xmp = (url: (name: string) => string): string =>
  `<!DOCTYPE x SYSTEM "${url('dtd')}"><x:xmpmeta xmlns:x="adobe:ns:meta/" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${url('title')}</dc:title></x:xmpmeta>`;

const imageWithLinks = (url: (name: string) => string): Buffer =>
  png(40, 40, new Uint8Array(41 * 40), [pngChunk('iTXt', Buffer.from(`XML:com.adobe.xmp\0\0\0\0\0${xmp(url)}`))]);

/** libvips could draw it, and then load what it refers to. */
const svg = (url: (name: string) => string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="40" height="40"><image xlink:href="${url('svg')}" width="40" height="40"/></svg>`;

/** One file of each format. @param url returns the URL of a named resource, which a parser must not fetch */
export function documentsWithExternalLinks(url: (name: string) => string): LinkingDocument[] {
  return [
    { fileName: 'links.html', file: html(url), word: WORD },
    { fileName: 'links.xhtml', file: xhtml(url), word: undefined },
    { fileName: 'links.epub', file: epub(url), word: WORD },
    { fileName: 'links.docx', file: docx(url), word: WORD },
    { fileName: 'entity.docx', file: docxWithEntity(url), word: undefined },
    { fileName: 'links.xlsx', file: xlsx(url), word: WORD },
    { fileName: 'links.odt', file: odf('text', url), word: WORD },
    { fileName: 'links.ods', file: odf('spreadsheet', url), word: WORD },
    { fileName: 'links.odp', file: odf('presentation', url), word: WORD },
    { fileName: 'links.rtf', file: rtf(url), word: WORD },
    { fileName: 'links.pdf', file: pdf(url), word: WORD },
    { fileName: 'links.csv', file: csv(url), word: WORD },
    { fileName: 'links.png', file: imageWithLinks(url), word: undefined },
    { fileName: 'drawing.png', file: svg(url), word: undefined },
  ];
}
