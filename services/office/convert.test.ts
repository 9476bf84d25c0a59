// Checks the Markdown and the errors of the office converter on fixtures of every format, and on broken and hostile files.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, describe, test } from 'node:test';
import type { JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import type { ConvertedDocument } from '#shared/document/document.ts';
import { renderRecord } from '#shared/document/render.ts';
import { openZip } from '#shared/readers/zip.ts';
import { picturesDocx, picturesXlsx, pngOf } from '#test/harness/documents/pictures.ts';
import { zipOf } from '#test/harness/zip.ts';
import { convertOffice } from './convert.ts';
import { closeLibreOffice, convertLegacy } from './libreoffice/soffice.ts';

const OPTIONS: RenderOptions = {
  fields: ['markdown'],
  includeTags: [],
  excludeTags: [],
  onlyMainContent: false,
  blockAds: false,
  removeBase64Images: true,
  pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false },
};

const context = (volatile = false): JobContext => ({
  requestId: 'request-1',
  // The test runner ends a test that hangs, so the job itself has no deadline.
  signal: new AbortController().signal,
  deadline: Number.MAX_SAFE_INTEGER,
  volatile,
  call: () => Promise.reject(new Error('the office service calls no other service')),
});

const fixture = (path: string): Buffer => readFileSync(new URL(`../../fixtures/${path}`, import.meta.url));

function convert(bytes: Uint8Array, fileName: string, options = OPTIONS, volatile = false): Promise<ConvertedDocument> {
  return convertOffice(
    { bytes, fileName, extension: fileName.slice(fileName.lastIndexOf('.')) },
    options,
    context(volatile),
    convertLegacy,
  );
}

async function markdownOf(path: string, volatile = false): Promise<string> {
  return renderRecord(await convert(fixture(path), path, OPTIONS, volatile), OPTIONS).fields.markdown ?? '';
}

const SPANS =
  '<table>\n<tr><td colspan="2">Wide</td></tr>\n<tr><td rowspan="2">Tall</td><td>a</td></tr>\n<tr><td>b</td></tr>\n</table>';
const REPORT_TOP = `Running head

# Field report

# Moss

Plain, **bold still bold**, *italic*, ~~gone~~ and [a link](https://example.org/moss).[^1]

Kept inserted text.

1. First
   - Nested
2. Second

Between.

3. Third

> Quoted words.

\`\`\`
let x = 1;
x < 2;
\`\`\`

| Place | Count |
| --- | --- |
| Oslo | 3 |

Spans:

${SPANS}

`;
const REPORT_END = '[^1]: Seen in May.\n\nRunning foot';

const TALK = `<!-- Slide 1 -->

## Moss and lichen

- Green
  - Very green

No bullet

Below the list.

> Speak slowly.

<!-- Slide 3 -->

## Counts

| Place | Count |
| --- | --- |
| Oslo | 3 |`;

const counts = (date: string, error: string) => `## Counts

| [Place](https://example.org/place) | Date | Share | Price |
| --- | --- | --- | --- |
| Oslo \\| west<br>bank | ${date} | 12.50% | -kr 1,234.50 |
| TRUE | 6. May 2024 18:00 | ${error} | 0.3 |

## Merged

<table>
<tr><th colspan="2">Both</th></tr>
<tr><td>1</td><td>2</td></tr>
</table>`;

describe('formats that are read without LibreOffice', () => {
  for (const path of ['docx/report.docx', 'docx/report.docm'])
    test(`converts ${path} to the expected Markdown`, async () => {
      const math = 'Ratio $\\frac{a}{b^{2}}$ holds.\n\nBoxed once.\n\n![A red dot]()\n\n';
      assert.equal((await markdownOf(path)).trim(), REPORT_TOP + math + REPORT_END);
    });

  test('converts odt/report.odt to the expected Markdown', async () => {
    const end = 'Ratio holds.\n\nBoxed once.\n\n![A red dot]()\n\n';
    assert.equal((await markdownOf('odt/report.odt')).trim(), REPORT_TOP + end + REPORT_END);
  });

  test('converts xlsx/counts.xlsx: values as the cells show them, no hidden sheet, merged cells as spans', async () => {
    assert.equal((await markdownOf('xlsx/counts.xlsx')).trim(), counts('2024-05-06', '#DIV/0!'));
  });

  test('converts ods/counts.ods to the expected Markdown', async () => {
    assert.equal((await markdownOf('ods/counts.ods')).trim(), counts('5/6/2024', '#DIV/0!'));
  });

  for (const path of ['pptx/talk.pptx', 'odp/talk.odp'])
    test(`converts ${path}: slides in order, no hidden slide, list levels, notes`, async () => {
      assert.equal((await markdownOf(path)).trim(), TALK);
    });

  test('returns document properties as metadata, with the content type of the file and not of its name', async () => {
    const { metadata } = await convert(fixture('docx/report.docm'), 'wrong.docx');
    assert.equal(metadata.title, 'Field report');
    assert.equal(metadata.author, 'Kari Nordmann');
    assert.equal(metadata.created, '2024-05-06T07:08:09Z');
    assert.equal(metadata.contentType, 'application/vnd.ms-word.document.macroEnabled.12');
  });

  test('embeds the bytes of pictures if removeBase64Images is false', async () => {
    const { html } = await convert(fixture('docx/report.docx'), 'a.docx', { ...OPTIONS, removeBase64Images: false });
    assert.match(html, /<img src="data:image\/png;base64,iVBORw0KGgo[^"]+" alt="A red dot">/);
  });

  /** A workbook of one sheet. @param after what follows its rows @param strings its shared strings */
  const workbook = (rows: string, after = '', strings: readonly string[] = []) =>
    zipOf([
      { name: '[Content_Types].xml', content: '<Types/>' },
      {
        name: 'xl/workbook.xml',
        content: '<workbook xmlns:r="r"><sheets><sheet name="Big" r:id="rId1"/></sheets></workbook>',
      },
      {
        name: 'xl/_rels/workbook.xml.rels',
        content:
          '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="s.xml"/><Relationship Id="rId2" Type="x/sharedStrings" Target="t.xml"/></Relationships>',
      },
      {
        name: 'xl/_rels/s.xml.rels',
        content:
          '<Relationships><Relationship Id="rId1" Type="x/hyperlink" Target="https://example.org/a" TargetMode="External"/></Relationships>',
      },
      { name: 'xl/t.xml', content: `<sst>${strings.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>` },
      { name: 'xl/s.xml', content: `<worksheet><sheetData>${rows}</sheetData>${after}</worksheet>` },
    ]);

  const LARGE = Array.from(
    { length: 8_001 },
    (_, i) =>
      `<row r="${i + 1}"><c r="E${i + 1}" t="s"><v>${i % 4}</v></c><c r="B${i + 1}" t="str"><v>a|b</v></c><c r="C${i + 1}"><v>0.5</v></c></row>`,
  ).join('');
  const STRINGS = ['Größe', ' ', '😀 &amp; co', 'a&#10;b'];

  test('writes a large sheet without a tree, with cells in the order of their columns', async () => {
    const book = workbook(LARGE, '', STRINGS);
    const options: RenderOptions = { ...OPTIONS, fields: ['markdown', 'html', 'links'] };
    const document = await convert(book, 'big.xlsx', options);
    assert.ok(document.streamed);
    const { markdown = '', html = '', links } = renderRecord(document, options).fields;
    const lines = (markdown ?? '').split('\n');
    assert.deepEqual(lines.slice(0, 7), [
      '## Big',
      '',
      '| a\\|b | 0.5 | Größe |',
      '| --- | --- | --- |',
      '| a\\|b | 0.5 |  |',
      '| a\\|b | 0.5 | 😀 & co |',
      '| a\\|b | 0.5 | a<br>b |',
    ]);
    assert.equal(lines.length, 2 + 8_001 + 1);
    assert.ok(
      html?.startsWith('<h2>Big</h2>\n<table>\n<tr><th>a|b</th><th>0.5</th><th>Größe</th></tr>\n<tr><td>a|b</td>'),
    );
    assert.equal(html?.split('<tr>').length, 8_002);
    assert.deepEqual(links, []);
  });

  test('writes links and merged cells of a large sheet, which are declared after its rows', async () => {
    const after =
      '<mergeCells><mergeCell ref="B2:C3"/></mergeCells><hyperlinks><hyperlink ref="E1" r:id="rId1"/></hyperlinks>';
    const options: RenderOptions = { ...OPTIONS, fields: ['markdown', 'html', 'links'] };
    const document = await convert(workbook(LARGE, after, STRINGS), 'big.xlsx', options);
    const { markdown, html, links } = renderRecord(document, options).fields;
    assert.match(markdown ?? '', /\| \[Größe\]\(https:\/\/example\.org\/a\) \|\n/);
    assert.match(html ?? '', /<th><a href="https:\/\/example\.org\/a">Größe<\/a><\/th><\/tr>\n/);
    assert.match(
      html ?? '',
      /<tr><td colspan="2" rowspan="2">a\|b<\/td><td><\/td><\/tr>\n<tr><td>😀 &amp; co<\/td><\/tr>/,
    );
    assert.deepEqual(links, ['https://example.org/a']);
  });

  test('selects tags in a large sheet', async () => {
    const options: RenderOptions = { ...OPTIONS, includeTags: ['h2'] };
    const { fields } = renderRecord(await convert(workbook(LARGE, '', STRINGS), 'big.xlsx', options), options);
    assert.equal(fields.markdown, '## Big');
  });

  for (const [cells, fields] of [
    [300, ['markdown']],
    [300, ['html']],
    [30_000, ['markdown']],
  ] as const)
    test(`rejects ${cells} cells that show the same long shared string, for ${fields.join()}`, async () => {
      const rows = Array.from({ length: cells }, () => '<row><c t="s"><v>0</v></c></row>').join('');
      const bomb = workbook(rows, '', ['x'.repeat(2_000_000)]);
      assert.ok(bomb.length < 8_000, `${bomb.length} bytes`);
      const options: RenderOptions = { ...OPTIONS, fields: [...fields] };
      await assert.rejects(
        convert(bomb, 'bomb.xlsx', options).then((document) => renderRecord(document, options)),
        { code: 'DOCUMENT_TOO_COMPLEX', message: /characters/ },
      );
    });
});

const INSTALLED = existsSync('/usr/lib/libreoffice/program/soffice.bin');

describe('legacy formats, through LibreOffice', {
  skip: INSTALLED ? false : 'LibreOffice is not installed',
}, () => {
  after(closeLibreOffice);

  test('converts doc/report.doc to the expected Markdown', async () => {
    assert.equal(
      (await markdownOf('doc/report.doc')).trim(),
      `${REPORT_TOP}Ratio holds.\n\nBoxed once.\n\n${REPORT_END}`,
    );
  });

  test('converts rtf/report.rtf to the expected Markdown', async () => {
    assert.equal((await markdownOf('rtf/report.rtf')).trim(), `${REPORT_TOP}Ratio holds.\n\n${REPORT_END}`);
  });

  test('converts xls/counts.xls in memory and leaves no file on a disk if the job is volatile', async () => {
    await closeLibreOffice();
    assert.equal((await markdownOf('xls/counts.xls', true)).trim(), counts('5/6/2024', '#N/A'));
    const left = readdirSync(tmpdir()).filter((name) => name.startsWith(`parsemesh-office-${process.pid}`));
    if (existsSync('/dev/shm')) assert.equal(left.length, 0);
  });

  test('rejects an aborted job with REQUEST_TIMEOUT and runs the next one', async () => {
    const signal = AbortSignal.abort();
    const file = { bytes: fixture('doc/report.doc'), fileName: 'a.doc', extension: '.doc' };
    await assert.rejects(convertOffice(file, OPTIONS, { ...context(), signal }, convertLegacy), {
      code: 'REQUEST_TIMEOUT',
    });
    assert.match(await markdownOf('doc/report.doc'), /Field report/);
  });

  test('rejects a file of random bytes after an RTF signature as DOCUMENT_CORRUPT', async () => {
    await assert.rejects(convert(Buffer.from(`{\\rt${'\0'.repeat(100)}`), 'a.rtf'), { code: 'DOCUMENT_CORRUPT' });
  });

  test('leaves no files after LibreOffice is closed', async () => {
    await closeLibreOffice();
    const left = [tmpdir(), '/dev/shm'].filter((folder) => existsSync(folder)).flatMap((folder) => readdirSync(folder));
    assert.deepEqual(
      left.filter((name) => name.startsWith(`parsemesh-office-${process.pid}`)),
      [],
    );
  });
});

describe('flat OpenDocument files', () => {
  const flat = (body: string, attributes = '') =>
    Buffer.from(
      `<?xml version="1.0"?><o:document xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" o:mimetype="application/vnd.oasis.opendocument.text"${attributes}>${body}</o:document>`,
    );
  const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

  test('reads the body, the styles, the headers and the metadata of one XML document', async () => {
    const file = flat(
      '<o:meta><dc:title>Tides</dc:title></o:meta><o:automatic-styles><style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style></o:automatic-styles><o:master-styles><style:master-page style:name="Standard"><style:header><text:p>Head</text:p></style:header></style:master-page></o:master-styles><o:body><o:text><text:p>One <text:span text:style-name="B">bold</text:span></text:p></o:text></o:body>',
    );
    const { html, metadata } = await convert(file, 'a.fodt');
    assert.match(html, /<header>.*Head.*<\/header>/);
    assert.match(html, /One <strong>bold<\/strong>/);
    assert.equal(metadata.title, 'Tides');
    assert.equal(metadata.contentType, 'application/vnd.oasis.opendocument.text-flat-xml');
  });

  test('reads pictures that are base64 text, and formulas and charts that are XML', async () => {
    const frame = (inside: string) => `<text:p><draw:frame>${inside}</draw:frame></text:p>`;
    const file = flat(
      `<o:body><o:text>${frame(`<draw:image draw:mime-type="image/png"><o:binary-data>${PIXEL.slice(0, 40)}\n ${PIXEL.slice(40)}</o:binary-data></draw:image><svg:desc>Map</svg:desc>`)}${frame('<draw:object><math:math><math:mi>x</math:mi></math:math></draw:object>')}${frame('<draw:object><o:document><o:body><o:chart><chart:chart><chart:title><text:p>Boats</text:p></chart:title></chart:chart></o:chart></o:body></o:document></draw:object>')}</o:text></o:body>`,
    );
    const { html } = await convert(file, 'a.fodt');
    assert.match(html, /<img src="data:image\/png;base64,[^"]*" alt="Map">/);
    assert.match(html, /<math><mi>x<\/mi><\/math>/);
    assert.match(html, /<strong>Boats<\/strong>/);
  });

  test('leaves out deletions that stand in the body, also over several paragraphs, and keeps insertions', async () => {
    const region = (id: string, kind: string) =>
      `<text:changed-region text:id="${id}"><text:${kind}/></text:changed-region>`;
    const start = (id: string) => `<text:change-start text:change-id="${id}"/>`;
    const end = (id: string) => `<text:change-end text:change-id="${id}"/>`;
    const file = flat(
      `<o:body><o:text><text:tracked-changes>${region('a', 'insertion')}${region('b', 'deletion')}${region('c', 'deletion')}</text:tracked-changes><text:p>Kept ${start('a')}inserted${end('a')}${start('b')}deleted${end('b')} text.</text:p><text:p>Before ${start('c')}gone</text:p><text:list><text:list-item><text:p>all gone</text:p></text:list-item></text:list><text:p>gone${end('c')} after</text:p></o:text></o:body>`,
    );
    const { html } = await convert(file, 'a.fodt');
    assert.match(html, /Kept inserted text\./);
    assert.match(html, /Before[\s\S]*after/);
    assert.doesNotMatch(html, /deleted|gone/);
  });

  test('refuses entities, deep nesting and a file without a body', async () => {
    await assert.rejects(convert(flat('<o:meta/>'), 'a.fodt'), { code: 'DOCUMENT_CORRUPT' });
    await assert.rejects(convert(flat(`<o:body>${'<x>'.repeat(1_100)}`), 'a.fods'), { code: 'DOCUMENT_TOO_COMPLEX' });
    const entity = Buffer.from('<!DOCTYPE x [<!ENTITY a "b">]><o:document>&a;</o:document>');
    await assert.rejects(convert(entity, 'a.fodp'), { code: 'DOCUMENT_TOO_COMPLEX' });
  });
});

describe('hostile and broken files', () => {
  const main = (xml: string) =>
    zipOf([
      { name: '[Content_Types].xml', content: '<Types/>' },
      { name: 'word/document.xml', content: xml },
    ]);

  const cases: [title: string, bytes: Uint8Array, fileName: string, code: string][] = [
    ['an empty file', new Uint8Array(0), 'a.docx', 'DOCUMENT_CORRUPT'],
    ['a truncated container', fixture('docx/report.docx').subarray(0, 900), 'a.docx', 'DOCUMENT_CORRUPT'],
    ['a body that is not XML', main('words'), 'a.docx', 'DOCUMENT_CORRUPT'],
    ['a document without a body', main('<w:document/>'), 'a.docx', 'DOCUMENT_CORRUPT'],
    [
      'elements nested deeper than the limit',
      main(`<w:document><w:body>${'<w:sdt>'.repeat(1100)}`),
      'a.docx',
      'DOCUMENT_TOO_COMPLEX',
    ],
    [
      'declared entities',
      main('<!DOCTYPE x [<!ENTITY a "b">]><w:document><w:body/></w:document>'),
      'a.docx',
      'DOCUMENT_TOO_COMPLEX',
    ],
    ['a plain ZIP file', zipOf([{ name: 'notes.txt', content: 'x' }]), 'a.docx', 'UNSUPPORTED_FILE_TYPE'],
    [
      'an encrypted part',
      zipOf([{ name: '[Content_Types].xml', content: 'x', flags: 1 }]),
      'a.docx',
      'DOCUMENT_ENCRYPTED',
    ],
    [
      'an encrypted OpenDocument file',
      zipOf([
        { name: 'mimetype', content: 'application/vnd.oasis.opendocument.text', method: 0 },
        {
          name: 'META-INF/manifest.xml',
          content: '<m:manifest><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>',
        },
        { name: 'content.xml', content: 'not XML' },
      ]),
      'a.odt',
      'DOCUMENT_ENCRYPTED',
    ],
    [
      'a binary container without a directory',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(2000)]),
      'a.doc',
      'DOCUMENT_CORRUPT',
    ],
    ['a file named .xls that is not an office file', Buffer.alloc(3000, 7), 'a.xls', 'DOCUMENT_CORRUPT'],
  ];

  for (const [title, bytes, fileName, code] of cases)
    test(`rejects ${title} with ${code}`, async () => {
      await assert.rejects(convert(bytes, fileName), { code });
    });

  test('reads deeply nested tables and text boxes without a crash', async () => {
    const depth = 240;
    const nested =
      '<w:tbl><w:tr><w:tc>'.repeat(depth) +
      '<w:p><w:r><w:t>core</w:t></w:r></w:p>' +
      '</w:tc></w:tr></w:tbl>'.repeat(depth);
    const { html } = await convert(main(`<w:document><w:body>${nested}</w:body></w:document>`), 'a.docx');
    assert.match(html, /core/);
    const boxes = `${'<w:p><w:r><w:pict><v:textbox><w:txbxContent>'.repeat(150)}<w:p><w:r><w:t>inmost</w:t></w:r></w:p>`;
    const boxed = await convert(main(`<w:document><w:body>${boxes}</w:body></w:document>`), 'a.docx');
    assert.equal(boxed.html.split('inmost').length, 2);
  });

  test('rejects a Rich Text file with too much text before LibreOffice reads it, and does not count its pictures', async () => {
    const rtfOf = (content: string, times: number): Buffer =>
      Buffer.concat([Buffer.from('{\\rtf1 '), Buffer.alloc(content.length * times, content), Buffer.from('}')]);
    const converted: number[] = [];
    const stop = new Error('LibreOffice would read the file');
    const read = (bytes: Uint8Array) =>
      convertOffice({ bytes, fileName: 'a.rtf', extension: '.rtf' }, OPTIONS, context(), async (file) => {
        converted.push(file.length);
        throw stop;
      });
    const times = (content: string) => Math.ceil(DOCUMENT_LIMITS.rtfTextBytes / content.length);
    for (const content of ['word \\par\n', 'word \\{\\pict \\par\n', '{\\b word}{\\pictures x}']) {
      await assert.rejects(read(rtfOf(content, times(content))), { code: 'DOCUMENT_TOO_COMPLEX', message: /\.docx/ });
      await assert.rejects(read(rtfOf(content, times(content) - 10)), stop);
    }
    assert.equal(converted.length, 3);
    const hex = 'ffd8'.repeat(1_000);
    for (const content of [`{\\pict\\jpegblip ${hex}}`, `{\\*\\shppict {\\pict ${hex}\\}}}`, `{\\*\\objdata ${hex}}`])
      await assert.rejects(read(rtfOf(content, times(content) * 2)), stop);
  });

  test('rejects an OpenDocument sheet whose repeated cells exceed the limit', async () => {
    const cell = '<table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell>';
    const row = `<table:table-row table:number-rows-repeated="1048576">${cell}</table:table-row>`;
    const bomb = zipOf([
      { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet', method: 0 },
      {
        name: 'content.xml',
        content: `<o:document-content><o:body><o:spreadsheet><table:table>${row}</table:table></o:spreadsheet></o:body></o:document-content>`,
      },
    ]);
    await assert.rejects(convert(bomb, 'a.ods'), { code: 'DOCUMENT_TOO_COMPLEX' });
  });
});

describe('pictures inside a document', () => {
  const embedded: RenderOptions = { ...OPTIONS, fields: ['markdown', 'images'], embeddedImages: true };
  const documentOf = async (boat: Buffer) => ({ alt: 'Boat', boat, map: await pngOf(8, 8, 'green') });

  test('are part of the Markdown of a workbook that is too large for an HTML tree', async () => {
    const { file, fileName } = picturesXlsx(await documentOf(await pngOf(8, 8, 'red')), 25_000);
    const { fields } = renderRecord(await convert(file, fileName, embedded), embedded);
    assert.ok(
      fields.markdown?.endsWith('| 24999 |\n\n![Boat](image-1.png)\n\n![Boat](image-1.png)\n\n![](image-2.png)'),
    );
    assert.equal(fields.images?.length, 2);
  });

  test('are not inflated past the limit of one picture', async () => {
    const bomb = Buffer.alloc(DOCUMENT_LIMITS.pictureBytes * 4);
    const { file } = picturesDocx(await documentOf(Buffer.from('boat')));
    const entries = await openZip(file);
    const parts = entries.names().map((name) => ({ name, content: Buffer.from(entries.read(name)) }));
    const bytes = zipOf(parts.map((part) => (part.name.endsWith('boat.png') ? { ...part, content: bomb } : part)));
    const { fields, warnings } = renderRecord(await convert(bytes, 'bomb.docx', embedded), embedded);
    assert.equal(fields.images?.length, 1);
    assert.ok(fields.markdown?.includes('![Boat]()') && fields.markdown.includes('![](image-1.png)'));
    assert.match(warnings.join(), /1 picture inside the document was left out/);
  });
});
