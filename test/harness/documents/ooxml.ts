// Generates minimal Word, Excel and PowerPoint files that Microsoft Office and LibreOffice can open, with text that tests search for.
import { type ZipEntry, zip } from './zip.ts';

export const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006';
export const TYPE = `${OFFICE}/relationships`;

export const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export const relations = (targets: readonly (readonly [type: string, target: string])[]) =>
  `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${targets
    .map(([type, target], index) => `<Relationship Id="rId${index + 1}" Type="${TYPE}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

/** An OPC package: content types, root relationship and parts. */
export function packageOf(
  main: string,
  overrides: Record<string, string>,
  parts: readonly ZipEntry[],
  defaults = '',
): Buffer {
  const types = Object.entries(overrides)
    .map(([part, type]) => `<Override PartName="/${part}" ContentType="${type}"/>`)
    .join('');
  return zip([
    {
      name: '[Content_Types].xml',
      content: `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${defaults}${types}</Types>`,
    },
    { name: '_rels/.rels', content: relations([['officeDocument', main]]) },
    ...parts,
  ]);
}

export interface Content {
  title: string;
  paragraphs: readonly string[];
  table: readonly (readonly string[])[];
}

/** The content type of the main part of a .docx and of its relatives. */
const WORD_TYPES = {
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
  docm: 'application/vnd.ms-word.document.macroEnabled.main+xml',
  dotx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml',
  dotm: 'application/vnd.ms-word.template.macroEnabledTemplate.main+xml',
} as const;

const SHEET_TYPES = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml',
  xlsm: 'application/vnd.ms-excel.sheet.macroEnabled.main+xml',
  xltx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml',
  xltm: 'application/vnd.ms-excel.template.macroEnabled.main+xml',
} as const;

const SLIDE_TYPES = {
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
  pptm: 'application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml',
  potx: 'application/vnd.openxmlformats-officedocument.presentationml.template.main+xml',
  potm: 'application/vnd.ms-powerpoint.template.macroEnabled.main+xml',
  ppsx: 'application/vnd.openxmlformats-officedocument.presentationml.slideshow.main+xml',
  ppsm: 'application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml',
} as const;

/** A .docx or one of its relatives: a Heading 1, paragraphs and a table. */
export function docx(content: Content, { format = 'docx' }: { format?: keyof typeof WORD_TYPES } = {}): Buffer {
  const paragraph = (text: string, style = '') =>
    `<w:p>${style}<w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r></w:p>`;
  const rows = content.table.map(
    (row) =>
      `<w:tr>${row.map((cell) => `<w:tc><w:tcPr><w:tcW w:w="3000" w:type="dxa"/></w:tcPr>${paragraph(cell)}</w:tc>`).join('')}</w:tr>`,
  );
  const grid = `<w:tblGrid>${(content.table[0] ?? []).map(() => '<w:gridCol w:w="3000"/>').join('')}</w:tblGrid>`;
  const table =
    rows.length === 0
      ? ''
      : `<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/></w:tblPr>${grid}${rows.join('')}</w:tbl><w:p/>`;
  const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  const kind = WORD_TYPES[format];
  return packageOf(
    'word/document.xml',
    {
      'word/document.xml': kind,
      'word/styles.xml': 'application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml',
    },
    [
      {
        name: 'word/document.xml',
        content: `${HEAD}<w:document xmlns:w="${word}"><w:body>${paragraph(content.title, '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>')}${content.paragraphs.map((text) => paragraph(text)).join('')}${table}<w:sectPr/></w:body></w:document>`,
      },
      {
        name: 'word/styles.xml',
        content: `${HEAD}<w:styles xmlns:w="${word}"><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:rPr><w:b/><w:sz w:val="32"/></w:rPr></w:style></w:styles>`,
      },
      { name: 'word/_rels/document.xml.rels', content: relations([['styles', 'styles.xml']]) },
    ],
  );
}

const columnName = (index: number) => String.fromCharCode(65 + index);

/** An .xlsx or one of its relatives: one sheet with the title, the paragraphs and the table as rows. Texts of digits become numbers. */
export function xlsx(
  content: Content,
  { format = 'xlsx', sheet = 'Boats' }: { format?: keyof typeof SHEET_TYPES; sheet?: string } = {},
): Buffer {
  const rows = [[content.title], ...content.paragraphs.map((text) => [text]), ...content.table];
  const cells = rows.map((row, index) => {
    const line = row.map((text, column) => {
      const place = `${columnName(column)}${index + 1}`;
      return /^\d+$/.test(text)
        ? `<c r="${place}"><v>${text}</v></c>`
        : `<c r="${place}" t="inlineStr"><is><t>${escapeXml(text)}</t></is></c>`;
    });
    return `<row r="${index + 1}">${line.join('')}</row>`;
  });
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const kind = SHEET_TYPES[format];
  return packageOf(
    'xl/workbook.xml',
    {
      'xl/workbook.xml': kind,
      'xl/worksheets/sheet1.xml': 'application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml',
    },
    [
      {
        name: 'xl/workbook.xml',
        content: `${HEAD}<workbook xmlns="${main}" xmlns:r="${TYPE}"><sheets><sheet name="${escapeXml(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      },
      { name: 'xl/_rels/workbook.xml.rels', content: relations([['worksheet', 'worksheets/sheet1.xml']]) },
      {
        name: 'xl/worksheets/sheet1.xml',
        content: `${HEAD}<worksheet xmlns="${main}"><sheetData>${cells.join('')}</sheetData></worksheet>`,
      },
    ],
  );
}

/** A .pptx or one of its relatives: one slide with a title and one line for each paragraph. */
export function pptx(content: Content, { format = 'pptx' }: { format?: keyof typeof SLIDE_TYPES } = {}): Buffer {
  const draw = 'http://schemas.openxmlformats.org/drawingml/2006/main';
  const names = `xmlns:a="${draw}" xmlns:r="${TYPE}" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`;
  const shape = (id: number, kind: string, top: number, lines: readonly string[]) =>
    `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="${kind} ${id}"/><p:cNvSpPr/><p:nvPr><p:ph type="${kind}"${kind === 'body' ? ' idx="1"' : ''}/></p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="600000" y="${top}"/><a:ext cx="8000000" cy="1500000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr/><a:lstStyle/>${lines.map((line) => `<a:p><a:r><a:rPr lang="en-GB"/><a:t>${escapeXml(line)}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`;
  const tree = (shapes: string) =>
    `<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${shapes}</p:spTree></p:cSld>`;
  const colours = [
    'dk1',
    'lt1',
    'dk2',
    'lt2',
    'accent1',
    'accent2',
    'accent3',
    'accent4',
    'accent5',
    'accent6',
    'hlink',
    'folHlink',
  ];
  const scheme = colours
    .map(
      (name, index) => `<a:${name}><a:srgbClr val="${index === 1 || index === 3 ? 'FFFFFF' : '203040'}"/></a:${name}>`,
    )
    .join('');
  const font = '<a:latin typeface="Liberation Sans"/><a:ea typeface=""/><a:cs typeface=""/>';
  const fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'.repeat(3);
  const lines = '<a:ln><a:solidFill><a:schemeClr val="phClr"/></a:solidFill></a:ln>'.repeat(3);
  const map =
    'bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"';
  const kind = SLIDE_TYPES[format];
  const part = 'application/vnd.openxmlformats-officedocument.presentationml';
  return packageOf(
    'ppt/presentation.xml',
    {
      'ppt/presentation.xml': kind,
      'ppt/slides/slide1.xml': `${part}.slide+xml`,
      'ppt/slideLayouts/slideLayout1.xml': `${part}.slideLayout+xml`,
      'ppt/slideMasters/slideMaster1.xml': `${part}.slideMaster+xml`,
      'ppt/theme/theme1.xml': 'application/vnd.openxmlformats-officedocument.theme+xml',
    },
    [
      {
        name: 'ppt/presentation.xml',
        content: `${HEAD}<p:presentation ${names}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
      },
      {
        name: 'ppt/_rels/presentation.xml.rels',
        content: relations([
          ['slideMaster', 'slideMasters/slideMaster1.xml'],
          ['slide', 'slides/slide1.xml'],
          ['theme', 'theme/theme1.xml'],
        ]),
      },
      {
        name: 'ppt/slides/slide1.xml',
        content: `${HEAD}<p:sld ${names}>${tree(shape(2, 'title', 300000, [content.title]) + shape(3, 'body', 2000000, content.paragraphs))}<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>`,
      },
      {
        name: 'ppt/slides/_rels/slide1.xml.rels',
        content: relations([['slideLayout', '../slideLayouts/slideLayout1.xml']]),
      },
      {
        name: 'ppt/slideLayouts/slideLayout1.xml',
        content: `${HEAD}<p:sldLayout ${names} type="obj">${tree('')}<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>`,
      },
      {
        name: 'ppt/slideLayouts/_rels/slideLayout1.xml.rels',
        content: relations([['slideMaster', '../slideMasters/slideMaster1.xml']]),
      },
      {
        name: 'ppt/slideMasters/slideMaster1.xml',
        content: `${HEAD}<p:sldMaster ${names}>${tree('')}<p:clrMap ${map}/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`,
      },
      {
        name: 'ppt/slideMasters/_rels/slideMaster1.xml.rels',
        content: relations([
          ['slideLayout', '../slideLayouts/slideLayout1.xml'],
          ['theme', '../theme/theme1.xml'],
        ]),
      },
      {
        name: 'ppt/theme/theme1.xml',
        content: `${HEAD}<a:theme xmlns:a="${draw}" name="Plain"><a:themeElements><a:clrScheme name="Plain">${scheme}</a:clrScheme><a:fontScheme name="Plain"><a:majorFont>${font}</a:majorFont><a:minorFont>${font}</a:minorFont></a:fontScheme><a:fmtScheme name="Plain"><a:fillStyleLst>${fill}</a:fillStyleLst><a:lnStyleLst>${lines}</a:lnStyleLst><a:effectStyleLst>${'<a:effectStyle><a:effectLst/></a:effectStyle>'.repeat(3)}</a:effectStyleLst><a:bgFillStyleLst>${fill}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`,
      },
    ],
  );
}

/** One BIFF12 record ([MS-XLSB] 2.1.4): type and size as 7-bit groups, then the data. */
function record(type: number, ...data: readonly Buffer[]): Buffer {
  const body = Buffer.concat(data);
  const head: number[] = [];
  if (type < 0x80) head.push(type);
  else head.push((type & 0x7f) | 0x80, type >> 7);
  for (let size = body.length; ; size >>= 7) {
    head.push(size >= 0x80 ? (size & 0x7f) | 0x80 : size);
    if (size < 0x80) break;
  }
  return Buffer.concat([Buffer.from(head), body]);
}

const u32 = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4);
  return bytes;
};
const wide = (text: string) => Buffer.concat([u32(text.length), Buffer.from(text, 'utf16le')]);
const double = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
};

/** An .xlsb with one sheet ([MS-XLSB] 2.4). The records are written here, because no free tool writes this format. */
export function xlsb(content: Content, { sheet = 'Boats' } = {}): Buffer {
  const rows = [[content.title], ...content.paragraphs.map((text) => [text]), ...content.table];
  const width = Math.max(...rows.map((row) => row.length));
  const lines = rows.flatMap((row, index) => [
    record(0, u32(index, 0), Buffer.from([0x2c, 0x01, 0, 0, 0]), u32(1, 0, row.length - 1)),
    ...row.map((text, column) =>
      /^\d+$/.test(text) ? record(5, u32(column, 0), double(Number(text))) : record(6, u32(column, 0), wide(text)),
    ),
  ]);
  const begin = (type: number) => record(type);
  const workbook = Buffer.concat([
    begin(131),
    begin(143),
    record(156, u32(0, 1), wide('rId1'), wide(sheet)),
    begin(144),
    begin(132),
  ]);
  const worksheet = Buffer.concat([
    begin(129),
    record(148, u32(0, rows.length - 1, 0, width - 1)),
    begin(145),
    ...lines,
    begin(146),
    begin(130),
  ]);
  return packageOf(
    'xl/workbook.bin',
    {
      'xl/workbook.bin': 'application/vnd.ms-excel.sheet.binary.macroEnabled.main',
      'xl/worksheets/sheet1.bin': 'application/vnd.ms-excel.worksheet',
    },
    [
      { name: 'xl/workbook.bin', content: workbook },
      { name: 'xl/_rels/workbook.bin.rels', content: relations([['worksheet', 'worksheets/sheet1.bin']]) },
      { name: 'xl/worksheets/sheet1.bin', content: worksheet },
    ],
    '<Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/>',
  );
}
