// Generates documents of each format with pictures inside: the same picture twice, one with alternative text, and one that is linked.
import sharp from 'sharp';
import { escapeXml, HEAD, packageOf, TYPE } from './ooxml.ts';
import { type ZipEntry, zip } from './zip.ts';

/** A PNG of one color, with a white corner. */
export async function pngOf(width: number, height: number, color: string): Promise<Buffer> {
  const corner = {
    create: { width: Math.ceil(width / 3), height: Math.ceil(height / 3), channels: 3, background: 'white' },
  } as const;
  const image = sharp({ create: { width, height, channels: 3, background: color } });
  return image
    .composite([{ input: corner, gravity: 'northwest' }])
    .png()
    .toBuffer();
}

/** A file that an option `embedded` is tested with: `boat` stands in it twice, then `map` once. */
interface PictureDocument {
  fileName: string;
  file: Buffer;
}

export interface Pictures {
  /** Alternative text of both places. */
  alt: string;
  boat: Buffer;
  map: Buffer;
}

const draw = 'http://schemas.openxmlformats.org/drawingml/2006/main';
const PNG_TYPE = '<Default Extension="png" ContentType="image/png"/>';
const media = (folder: string, { boat, map }: Pictures): ZipEntry[] => [
  { name: `${folder}/boat.png`, content: boat },
  { name: `${folder}/map.png`, content: map },
];
const relations = (folder: string, more = ''): string =>
  `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="boat" Type="${TYPE}/image" Target="${folder}/boat.png"/><Relationship Id="map" Type="${TYPE}/image" Target="${folder}/map.png"/>${more}</Relationships>`;

/** A .docx with the pictures between paragraphs. */
export function picturesDocx(pictures: Pictures): PictureDocument {
  const paragraph = (inner: string) => `<w:p><w:r>${inner}</w:r></w:p>`;
  const picture = (id: string, alt: string) =>
    paragraph(
      `<w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p" descr="${escapeXml(alt)}"/><a:graphic xmlns:a="${draw}"><a:graphicData uri="${draw}"><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip r:embed="${id}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>`,
    );
  const body = [
    paragraph('<w:t>Before</w:t>'),
    picture('boat', pictures.alt),
    paragraph('<w:t>Between</w:t>'),
    picture('boat', pictures.alt),
    picture('map', ''),
    paragraph('<w:t>After</w:t>'),
  ];
  const file = packageOf(
    'word/document.xml',
    { 'word/document.xml': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml' },
    [
      {
        name: 'word/document.xml',
        content: `${HEAD}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:r="${TYPE}"><w:body>${body.join('')}</w:body></w:document>`,
      },
      { name: 'word/_rels/document.xml.rels', content: relations('media') },
      ...media('word/media', pictures),
    ],
    PNG_TYPE,
  );
  return { fileName: 'pictures.docx', file };
}

/** A .pptx with `boat` on two slides and `map` on the second one. */
function picturesPptx(pictures: Pictures): PictureDocument {
  const names = `xmlns:a="${draw}" xmlns:r="${TYPE}" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`;
  const picture = (id: string, alt: string, top: number) =>
    `<p:pic><p:nvPicPr><p:cNvPr id="9" name="p" descr="${escapeXml(alt)}"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="${id}"/></p:blipFill><p:spPr><a:xfrm><a:off x="0" y="${top}"/><a:ext cx="900000" cy="900000"/></a:xfrm></p:spPr></p:pic>`;
  const slide = (inner: string) =>
    `${HEAD}<p:sld ${names}><p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>${inner}</p:spTree></p:cSld></p:sld>`;
  const part = 'application/vnd.openxmlformats-officedocument.presentationml';
  const file = packageOf(
    'ppt/presentation.xml',
    {
      'ppt/presentation.xml': `${part}.presentation.main+xml`,
      'ppt/slides/slide1.xml': `${part}.slide+xml`,
      'ppt/slides/slide2.xml': `${part}.slide+xml`,
    },
    [
      {
        name: 'ppt/presentation.xml',
        content: `${HEAD}<p:presentation ${names}><p:sldIdLst><p:sldId id="256" r:id="one"/><p:sldId id="257" r:id="two"/></p:sldIdLst></p:presentation>`,
      },
      {
        name: 'ppt/_rels/presentation.xml.rels',
        content: `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="one" Type="${TYPE}/slide" Target="slides/slide1.xml"/><Relationship Id="two" Type="${TYPE}/slide" Target="slides/slide2.xml"/></Relationships>`,
      },
      { name: 'ppt/slides/slide1.xml', content: slide(picture('boat', pictures.alt, 0)) },
      { name: 'ppt/slides/_rels/slide1.xml.rels', content: relations('../media') },
      {
        name: 'ppt/slides/slide2.xml',
        content: slide(picture('boat', pictures.alt, 0) + picture('map', '', 2_000_000)),
      },
      { name: 'ppt/slides/_rels/slide2.xml.rels', content: relations('../media') },
      ...media('ppt/media', pictures),
    ],
    PNG_TYPE,
  );
  return { fileName: 'pictures.pptx', file };
}

/** An .xlsx with the pictures over a sheet of `rows` rows. */
export function picturesXlsx(pictures: Pictures, rows = 1): PictureDocument {
  const names = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${TYPE}"`;
  const anchor = (id: string, alt: string) =>
    `<xdr:oneCellAnchor><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="2" name="p" descr="${escapeXml(alt)}"/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="${id}"/></xdr:blipFill></xdr:pic></xdr:oneCellAnchor>`;
  const cells = Array.from({ length: rows }, (_, index) => `<row r="${index + 1}"><c t="n"><v>${index}</v></c></row>`);
  const file = packageOf(
    'xl/workbook.xml',
    { 'xl/workbook.xml': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml' },
    [
      {
        name: 'xl/workbook.xml',
        content: `${HEAD}<workbook ${names}><sheets><sheet name="Boats" sheetId="1" r:id="one"/></sheets></workbook>`,
      },
      {
        name: 'xl/_rels/workbook.xml.rels',
        content: `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="one" Type="${TYPE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
      },
      {
        name: 'xl/worksheets/sheet1.xml',
        content: `${HEAD}<worksheet ${names}><sheetData>${cells.join('')}</sheetData><drawing r:id="drawing"/></worksheet>`,
        deflate: true,
      },
      {
        name: 'xl/worksheets/_rels/sheet1.xml.rels',
        content: `${HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="drawing" Type="${TYPE}/drawing" Target="../drawings/drawing1.xml"/></Relationships>`,
      },
      {
        name: 'xl/drawings/drawing1.xml',
        content: `${HEAD}<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="${draw}" xmlns:r="${TYPE}">${anchor('boat', pictures.alt)}${anchor('boat', pictures.alt)}${anchor('map', '')}</xdr:wsDr>`,
      },
      { name: 'xl/drawings/_rels/drawing1.xml.rels', content: relations('../media') },
      ...media('xl/media', pictures),
    ],
    PNG_TYPE,
  );
  return { fileName: 'pictures.xlsx', file };
}

const ODF_NAMES =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"';

/** An .odt, .ods or .odp with the pictures: in paragraphs, anchored to cells, or on a slide. */
function picturesOdf(extension: '.odt' | '.ods' | '.odp', pictures: Pictures): PictureDocument {
  const frame = (name: string, alt: string, top: number) =>
    `<draw:frame svg:x="1cm" svg:y="${top}cm" svg:width="3cm" svg:height="3cm"><draw:image xlink:href="Pictures/${name}.png"/>${alt === '' ? '' : `<svg:desc>${escapeXml(alt)}</svg:desc>`}</draw:frame>`;
  const frames = [frame('boat', pictures.alt, 1), frame('boat', pictures.alt, 5), frame('map', '', 9)];
  const [kind, body] = {
    '.odt': ['text', frames.map((one) => `<text:p>${one}</text:p>`).join('')],
    '.ods': [
      'spreadsheet',
      `<table:table table:name="Boats"><table:table-row>${frames.map((one, index) => `<table:table-cell><text:p>${index}</text:p>${one}</table:table-cell>`).join('')}</table:table-row></table:table>`,
    ],
    '.odp': ['presentation', `<draw:page draw:name="one">${frames.join('')}</draw:page>`],
  }[extension] as [string, string];
  const file = zip([
    { name: 'mimetype', content: `application/vnd.oasis.opendocument.${kind}` },
    {
      name: 'content.xml',
      content: `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${ODF_NAMES}><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    },
    ...media('Pictures', pictures),
  ]);
  return { fileName: `pictures${extension}`, file };
}

/** An .epub with the pictures in one chapter. */
function picturesEpub(pictures: Pictures): PictureDocument {
  const image = (name: string, alt: string) => `<p><img src="images/${name}.png" alt="${escapeXml(alt)}"/></p>`;
  const file = zip([
    { name: 'mimetype', content: 'application/epub+zip' },
    {
      name: 'META-INF/container.xml',
      content:
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book/content.opf"/></rootfiles></container>',
    },
    {
      name: 'book/content.opf',
      content:
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Boats</dc:title></metadata><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/><item id="b" href="images/boat.png" media-type="image/png"/><item id="m" href="images/map.png" media-type="image/png"/></manifest><spine><itemref idref="c"/></spine></package>',
    },
    {
      name: 'book/c.xhtml',
      content: `<html xmlns="http://www.w3.org/1999/xhtml"><body>${image('boat', pictures.alt)}${image('boat', pictures.alt)}${image('map', '')}</body></html>`,
    },
    ...media('book/images', pictures),
  ]);
  return { fileName: 'pictures.epub', file };
}

/** A web page with the pictures as data URLs. */
function picturesHtml({ alt, boat, map }: Pictures): PictureDocument {
  const image = (bytes: Buffer, words: string) =>
    `<p><img src="data:image/png;base64,${bytes.toString('base64')}" alt="${escapeXml(words)}"></p>`;
  const file = Buffer.from(
    `<!doctype html><title>Boats</title><main><h1>Boats</h1>${image(boat, alt)}${image(boat, alt)}${image(map, '')}</main>`,
  );
  return { fileName: 'pictures.html', file };
}

/** The pictures in a document of each format. */
export function documentsWithPictures(pictures: Pictures): PictureDocument[] {
  return [
    picturesDocx(pictures),
    picturesPptx(pictures),
    picturesXlsx(pictures),
    picturesOdf('.odt', pictures),
    picturesOdf('.ods', pictures),
    picturesOdf('.odp', pictures),
    picturesEpub(pictures),
    picturesHtml(pictures),
  ];
}
