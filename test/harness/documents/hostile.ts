// Generates files that try to exhaust the memory or the CPU time of a parser, each with one kind of attack on its format.
import { deflateSync } from 'node:zlib';
import {
  billionLaughs,
  body,
  CATALOG,
  docx,
  epub,
  externalEntity,
  FONT,
  inDocument,
  inPage,
  OFFICE_DOCUMENT,
  odf,
  onePage,
  overlapping,
  page,
  pdf,
  quadraticBlowup,
  sharedStringBomb,
  text,
  xlsx,
} from './hostile-parts.ts';
import { packageOf } from './ooxml.ts';

export interface Hostile {
  what: string;
  fileName: string;
  /** Generates the file only when it is needed, because some files are large. */
  make: () => Uint8Array | string;
  options?: object;
}

const MiB = 1024 * 1024;
const UPLOAD = 49 * MiB;
const ALL = { formats: ['markdown', 'html', 'links', 'images', 'summary'], onlyMainContent: true };
const REDACT = { redactPII: true, formats: ['markdown', 'summary'] };
const paragraphs = (inner: string): string => `<!doctype html><body><main><p>${inner}</p></main>`;

/** Long repetitions of the start of a pattern, without its end: email addresses, numbers, brackets, emphasis, URLs, names, escapes. */
const BACKTRACKING_TEXTS: readonly string[] = [
  'a',
  'a.',
  'a@',
  '1',
  '12-',
  '[(&lt;{',
  ' ',
  '*_`',
  'http://',
  'Ann Bo ',
  '\\',
  '&amp;',
  '+1 ',
  '0x',
  '-- ',
].map((piece) => `${piece.repeat(Math.ceil(60_000 / piece.length))}x`);

export const HOSTILE: readonly Hostile[] = [
  // ZIP archives.
  { what: 'a ZIP bomb with one entry', fileName: 'a.docx', make: () => docx(Buffer.alloc(400 * MiB, ' '), true) },
  {
    what: 'a ZIP bomb in a sheet',
    fileName: 'a.xlsx',
    make: () => xlsx(`<sheetData>${' '.repeat(300 * MiB)}</sheetData>`, true),
  },
  { what: 'a long text that many cells of a workbook share', fileName: 'a.xlsx', make: sharedStringBomb, options: ALL },
  {
    what: 'a ZIP bomb in an OpenDocument text',
    fileName: 'a.odt',
    make: () => odf('text', `<office:text>${' '.repeat(300 * MiB)}</office:text>`, '', true),
  },
  {
    what: 'a ZIP bomb and a spine with 2,000 references to one chapter',
    fileName: 'a.epub',
    make: () =>
      epub(inPage('', 'x '.repeat(20_000)), [{ name: 'b.xhtml', content: Buffer.alloc(200 * MiB), deflate: true }]),
  },
  {
    what: '50,000 ZIP entries',
    fileName: 'a.docx',
    make: () =>
      packageOf(
        'word/document.xml',
        {},
        Array.from({ length: 50_000 }, (_, i) => ({ name: `word/${i}.xml`, content: '' })),
      ),
  },
  { what: 'overlapping ZIP entries', fileName: 'a.docx', make: () => overlapping(5_000, 4 * MiB) },
  // XML.
  ...(['a.docx', 'a.xlsx', 'a.odt', 'a.epub', 'a.xhtml'] as const).flatMap((fileName): Hostile[] =>
    (
      [
        ['a billion laughs attack', billionLaughs, '&a9;'],
        ['a quadratic blowup of an entity', quadraticBlowup, '&q;'.repeat(20_000)],
        ['an external entity', externalEntity, '&x;'],
      ] as const
    ).map(([what, doctype, references]) => ({
      what: `${what} in ${fileName.slice(1)}`,
      fileName,
      make: () => {
        if (fileName === 'a.docx') return docx(inDocument(doctype('w:document'), references));
        if (fileName === 'a.odt')
          return odf(
            'text',
            `<office:text><text:p>${references}</text:p></office:text>`,
            doctype('office:document-content'),
          );
        if (fileName === 'a.epub') return epub(inPage(doctype('html'), references));
        if (fileName === 'a.xhtml') return inPage(doctype('html'), references);
        return packageOf('xl/workbook.xml', { 'xl/workbook.xml': `${OFFICE_DOCUMENT}.spreadsheetml.sheet.main+xml` }, [
          {
            name: 'xl/workbook.xml',
            content: `<?xml version="1.0"?>${doctype('workbook')}<workbook>${references}</workbook>`,
          },
        ]);
      },
    })),
  ),
  {
    what: 'an element with 1,000,000 attributes',
    fileName: 'a.docx',
    make: () => docx(body(`<w:p ${Array.from({ length: 1_000_000 }, (_, i) => `a${i}="1"`).join(' ')}/>`), true),
  },
  {
    what: '300,000 namespace declarations',
    fileName: 'a.odt',
    make: () =>
      odf(
        'text',
        `<office:text ${Array.from({ length: 300_000 }, (_, i) => `xmlns:n${i}="urn:${i}"`).join(' ')}/>`,
        '',
        true,
      ),
  },
  // Nesting.
  {
    what: '10,000 nested elements',
    fileName: 'a.html',
    make: () => `${'<div>'.repeat(10_000)}deep${'</div>'.repeat(10_000)}`,
    options: ALL,
  },
  {
    what: '100,000 nested lists, quotes and tables',
    fileName: 'a.html',
    make: () => `${'<ul><li><blockquote><table><tr><td>'.repeat(100_000)}deep`,
    options: ALL,
  },
  {
    what: '10,000 misnested inline tags',
    fileName: 'a.html',
    make: () => paragraphs('<b><i><a href=x><p>y'.repeat(10_000)),
    options: ALL,
  },
  {
    what: '10,000 nested elements',
    fileName: 'a.xhtml',
    make: () => inPage('', `${'<div>'.repeat(10_000)}deep${'</div>'.repeat(10_000)}`),
  },
  {
    what: '10,000 nested tables',
    fileName: 'a.docx',
    make: () => docx(body(`${'<w:tbl><w:tr><w:tc>'.repeat(10_000)}<w:p/>${'</w:tc></w:tr></w:tbl>'.repeat(10_000)}`)),
  },
  {
    what: '300 nested tables with text',
    fileName: 'a.docx',
    make: () =>
      docx(
        body(
          `${'<w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p>'.repeat(300)}<w:p/>${'</w:tc></w:tr></w:tbl>'.repeat(300)}`,
        ),
      ),
  },
  {
    what: '10,000 nested lists',
    fileName: 'a.odt',
    make: () =>
      odf(
        'text',
        `<office:text>${'<text:list><text:list-item>'.repeat(10_000)}<text:p>x</text:p>${'</text:list-item></text:list>'.repeat(10_000)}</office:text>`,
      ),
  },
  {
    what: '100,000 nested groups',
    fileName: 'a.rtf',
    make: () => `{\\rtf1 ${'{'.repeat(100_000)}x${'}'.repeat(100_000)}}`,
  },
  {
    what: 'a binary field longer than the file',
    fileName: 'a.rtf',
    make: () => '{\\rtf1 a{\\*\\objdata \\bin2147483647 x}}',
  },
  // Large spans and repeat counts.
  {
    what: 'cells with the largest row and column spans',
    fileName: 'a.html',
    make: () => `<table>${'<tr><td rowspan=65534 colspan=1000>x</td></tr>'.repeat(2_000)}</table>`,
    options: ALL,
  },
  {
    what: 'rows and columns with a repeat count of 2,147,483,647',
    fileName: 'a.ods',
    make: () =>
      odf(
        'spreadsheet',
        `<office:spreadsheet><table:table table:name="a"><table:table-row table:number-rows-repeated="2147483647"><table:table-cell office:value-type="string" table:number-columns-repeated="2147483647"><text:p>x</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`,
      ),
  },
  {
    what: 'spaces with a repeat count of 2,147,483,647',
    fileName: 'a.odt',
    make: () =>
      odf('text', `<office:text>${'<text:p>x<text:s text:c="2147483647"/></text:p>'.repeat(1_000)}</office:text>`),
  },
  {
    what: 'cells in the last column and a merged range of the entire sheet',
    fileName: 'a.xlsx',
    make: () =>
      xlsx(
        `<dimension ref="A1:XFD1048576"/><sheetData>${Array.from({ length: 2_000 }, (_, i) => `<row r="${i * 500 + 1}"><c r="XFD${i * 500 + 1}"><v>1</v></c></row>`).join('')}</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>`,
      ),
  },
  // CSV.
  { what: 'one line of 49 MB', fileName: 'a.csv', make: () => Buffer.alloc(UPLOAD, 'x') },
  { what: 'one line with only commas', fileName: 'a.csv', make: () => Buffer.alloc(8 * MiB, ',') },
  {
    what: 'a quote that is never closed',
    fileName: 'a.csv',
    make: () => Buffer.concat([Buffer.from('"'), Buffer.alloc(8 * MiB, 'a,b\n')]),
  },
  { what: 'only quotes', fileName: 'a.csv', make: () => Buffer.alloc(8 * MiB, '"') },
  { what: 'only empty lines', fileName: 'a.csv', make: () => Buffer.alloc(8 * MiB, '\n') },
  // PDF.
  {
    what: 'a page tree node that is its own parent and child',
    fileName: 'a.pdf',
    make: () => pdf([CATALOG, '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2147483647 /Parent 2 0 R >>']),
  },
  {
    what: 'a page tree of 30 levels, each with two references to the next level',
    fileName: 'a.pdf',
    make: () =>
      pdf([
        CATALOG,
        ...Array.from(
          { length: 30 },
          (_, i) => `<< /Type /Pages /Kids [${i + 3} 0 R ${i + 3} 0 R] /Count ${2 ** (30 - i)} >>`,
        ),
        '<< /Type /Page /MediaBox [0 0 9 9] >>',
      ]),
  },
  {
    what: '600,000 objects',
    fileName: 'a.pdf',
    make: () =>
      pdf([
        CATALOG,
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>',
        ...Array.from({ length: 600_000 }, () => 'null'),
      ]),
  },
  {
    what: '2,000,000 nested arrays and dictionaries that are never closed',
    fileName: 'a.pdf',
    make: () => `%PDF-1.7\n1 0 obj\n${'[<<'.repeat(2_000_000)}`,
  },
  {
    what: 'a cross-reference table whose /Prev is its own offset',
    fileName: 'a.pdf',
    make: () => pdf([CATALOG, '<< /Type /Pages /Kids [] /Count 0 >>'], '/Prev START'),
  },
  {
    what: 'a stream whose /Length is a reference to the stream itself',
    fileName: 'a.pdf',
    make: () =>
      pdf([
        CATALOG,
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        page(),
        '<< /Length 4 0 R >>\nstream\nBT ET\nendstream',
        FONT,
      ]),
  },
  { what: 'a content stream of 500 MB', fileName: 'a.pdf', make: () => onePage(Buffer.alloc(500 * MiB, 'q Q ')) },
  {
    what: 'a content stream of 800 MB that is deflated twice',
    fileName: 'a.pdf',
    make: () =>
      pdf([
        CATALOG,
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        page(),
        {
          dictionary: '/Filter [/FlateDecode /FlateDecode]',
          stream: deflateSync(deflateSync(Buffer.alloc(800 * MiB, ' '))),
        },
        FONT,
      ]),
  },
  {
    what: 'a form XObject that draws itself',
    fileName: 'a.pdf',
    make: () =>
      onePage(Buffer.from('/X Do'), '/XObject << /X 6 0 R >>', [
        {
          dictionary: '/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /X 6 0 R >> >>',
          stream: Buffer.from('/X Do /X Do'),
        },
      ]),
  },
  {
    what: '25 form XObjects, each of which draws the next one twice',
    fileName: 'a.pdf',
    make: () =>
      onePage(
        Buffer.from('/X Do'),
        '/XObject << /X 6 0 R >>',
        Array.from({ length: 25 }, (_, i) => ({
          dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /X ${i + 7} 0 R >> >>`,
          stream: Buffer.from(i < 24 ? '/X Do /X Do' : '0 0 9 9 re f'),
        })),
      ),
  },
  {
    what: 'a page of 9,000,000 by 9,000,000 points',
    fileName: 'a.pdf',
    make: () =>
      pdf([
        CATALOG,
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9000000 9000000] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>',
        { dictionary: '', stream: text('Hello') },
        FONT,
      ]),
    options: { parsers: [{ type: 'pdf', mode: 'ocr' }], timeout: 10_000 },
  },
  {
    what: 'an image of 1,000,000 by 1,000,000 pixels',
    fileName: 'a.pdf',
    make: () =>
      onePage(Buffer.from('/X Do'), '/XObject << /X 6 0 R >>', [
        {
          dictionary:
            '/Type /XObject /Subtype /Image /Width 1000000 /Height 1000000 /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter /FlateDecode',
          stream: deflateSync(Buffer.alloc(MiB)),
        },
      ]),
    options: { parsers: [{ type: 'pdf', mode: 'ocr' }], timeout: 10_000 },
  },
  {
    what: '200,000 lines',
    fileName: 'a.pdf',
    make: () =>
      onePage(
        Buffer.concat(
          Array.from({ length: 200_000 }, (_, i) => Buffer.from(`${i % 595} 0 m ${(i * 7) % 595} 842 l S `)),
        ),
      ),
  },
  {
    what: '200,000 words at the same position',
    fileName: 'a.pdf',
    make: () => onePage(Buffer.concat(Array.from({ length: 200_000 }, () => text('word')))),
  },
  // Texts and selectors on which an algorithm of quadratic or exponential time runs for minutes.
  {
    what: 'text on which regular expressions may backtrack',
    fileName: 'a.html',
    make: () => paragraphs(BACKTRACKING_TEXTS.join('</p><p>')),
    options: ALL,
  },
  {
    what: 'text on which regular expressions may backtrack, with redaction',
    fileName: 'a.html',
    make: () => paragraphs(BACKTRACKING_TEXTS.join('</p><p>')),
    options: { ...REDACT, timeout: 20_000 },
  },
  {
    what: 'long and deeply nested selectors in `excludeTags`',
    fileName: 'a.html',
    make: () => paragraphs('<i>x</i>'.repeat(20_000)),
    options: {
      excludeTags: [`${':not('.repeat(60)}i${')'.repeat(60)}`, 'p '.repeat(200).trim(), `${'* '.repeat(200)}b`],
    },
  },
];
