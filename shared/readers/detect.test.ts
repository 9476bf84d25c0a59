// Checks the detected format by name, content type and first bytes, and the errors for unsupported files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXTENSIONS, FORMATS } from '../contract/formats.ts';
import { QUEUES } from '../contract/services.ts';
import { detectFormat } from './detect.ts';

const latin = (text: string) => Buffer.from(text, 'latin1');
/** The first local header of a ZIP file, with the name of the entry and the bytes after it. */
const zip = (name: string, rest = '') => latin(`PK\x03\x04${'\0'.repeat(26)}${name}${rest}`);
const PDF = latin('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n');
const OLE = latin('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0');
const OOXML = zip('[Content_Types].xml');
const ODT = zip('mimetype', 'application/vnd.oasis.opendocument.textPK\x03\x04');
const EPUB = zip('mimetype', 'application/epub+zipPK\x03\x04');
const RTF = latin('{\\rtf1\\ansi hello}');
const HTML = latin('<!-- saved --><!DOCTYPE html>\n<html><p>x');
const TEXT = latin('a,b\n1,2\n');
const MAIL = latin('Subject: a\r\nFrom: b\r\n\r\nx');
const PNG = latin('\x89PNG\r\n\x1a\n\0\0');

const IMAGES: Readonly<Record<string, Buffer>> = {
  PNG,
  JPEG: latin('\xff\xd8\xff\xe0\0\x10JFIF'),
  TIFF: latin('II*\0\x08\0\0\0'),
  WebP: latin('RIFF\x24\0\0\0WEBPVP8 '),
  BMP: latin('BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0'),
  GIF: latin('GIF89a'),
};
const WAV = latin('RIFF\x24\0\0\0WAVEfmt ');
const SVG = latin('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>');

const flat = (type: string) =>
  latin(
    `<?xml version="1.0"?>\n<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:mimetype="application/vnd.oasis.opendocument.${type}"><office:body>`,
  );
const template = (type: string) => zip('mimetype', `application/vnd.oasis.opendocument.${type}-templatePK\x03\x04`);

const OWN = { pdf: PDF, zip: OOXML, ole: OLE, rtf: RTF, markup: HTML, text: TEXT } as const;

for (const row of FORMATS)
  test(`detects ${row.extension} by its name and content`, () => {
    const own: Readonly<Record<string, Buffer>> = {
      '.epub': EPUB,
      '.odt': ODT,
      '.eml': MAIL,
      '.fodt': flat('text'),
      '.fods': flat('spreadsheet'),
      '.fodp': flat('presentation-template'),
      '.ots': template('spreadsheet'),
    };
    const head = own[row.extension] ?? (row.container === 'image' ? IMAGES[row.label] : OWN[row.container]);
    assert.ok(head);
    assert.deepEqual(detectFormat({ head, fileName: `a${row.extension.toUpperCase()}` }), {
      extension: row.extension,
      container: row.container,
      contentType: row.mimeTypes[0],
      service: QUEUES[row.queue].service,
      queue: row.queue,
    });
  });

const queues: [fileName: string, content: string, head: Buffer, queue: string][] = [
  ['a.doc', 'RTF content', RTF, 'libreoffice'],
  ['a.docx', 'RTF content', RTF, 'libreoffice'],
  ['a.doc', 'an Office Open XML container', OOXML, 'office'],
  ['a.doc', 'a ZIP container whose first entry does not tell its kind', zip('a.bin'), 'office'],
  ['a.rtf', 'OpenDocument content', ODT, 'office'],
  [
    'a.xlsx',
    'an Excel binary workbook',
    latin(`${OOXML.toString('latin1')}${zip('xl/workbook.bin').toString('latin1')}`),
    'libreoffice',
  ],
  // It may also be an encrypted package, which needs no LibreOffice. The office service looks into it.
  ['a.docx', 'an OLE container', OLE, 'office'],
];
for (const [fileName, content, head, queue] of queues)
  test(`puts ${fileName} with ${content} into the queue ${queue}`, () =>
    assert.equal(detectFormat({ head, fileName }).queue, queue));

const detections: [fileName: string, content: string, head: Buffer, extension: string, container: string][] = [
  ['a.docx', 'PDF content', PDF, '.pdf', 'pdf'],
  ['a.doc', 'RTF content', RTF, '.rtf', 'rtf'],
  ['a.doc', 'HTML content', HTML, '.html', 'markup'],
  ['a.docx', 'OpenDocument content', ODT, '.odt', 'zip'],
  ['a.odt', 'EPUB content', EPUB, '.epub', 'zip'],
  ['a.docx', 'an OLE container', OLE, '.docx', 'ole'],
  ['a.doc', 'an Office Open XML container', OOXML, '.docx', 'zip'],
  ['a.pdf', 'an OLE container', OLE, '.doc', 'ole'],
  ['a.pdf', 'an Office Open XML container', OOXML, '.docx', 'zip'],
  ['a.odt', 'the content of a template', template('text'), '.ott', 'zip'],
  ['a.odt', 'flat OpenDocument content', flat('text'), '.fodt', 'markup'],
  ['a.fodt', 'the content of a flat spreadsheet', flat('spreadsheet'), '.fods', 'markup'],
  ['a.fodt', 'an OpenDocument package', ODT, '.odt', 'zip'],
  ['a.fodt', 'HTML content', HTML, '.html', 'markup'],
  ['a.dotx', 'an OLE container', OLE, '.dotx', 'ole'],
  ['a.csv', 'an Excel workbook', latin(`PK\x03\x04${'\0'.repeat(26)}xl/workbook.xml`), '.xlsx', 'zip'],
  ['a.csv', 'HTML content', HTML, '.html', 'markup'],
  ['a.csv', 'values that look like tags', latin('<b>,<i>\n1,2\n'), '.csv', 'text'],
  ['a.csv', 'a PDF header as a value', latin('a,%PDF-1.4\n'), '.csv', 'text'],
  ['a.csv', 'UTF-16 text with a byte order mark', Buffer.from('\uFEFFa;b\n', 'utf16le'), '.csv', 'text'],
  ['a.csv', 'UTF-16 text without a byte order mark', Buffer.from('a;b\nc;d\n', 'utf16le'), '.csv', 'text'],
  ['a.html', 'text without tags', latin('just words'), '.html', 'markup'],
  ['a.html', 'UTF-16 markup', Buffer.from('\uFEFF<html>', 'utf16le'), '.html', 'markup'],
  ['a.html', 'PDF content', PDF, '.pdf', 'pdf'],
  [
    'a.doc',
    'XHTML content',
    latin('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">'),
    '.xhtml',
    'markup',
  ],
  ['a.eml', 'a message with bytes that are not text', latin('Subject: a\n\n\0\x01\x02%PDF-1.4'), '.eml', 'text'],
  ['a.eml', 'HTML content', HTML, '.html', 'markup'],
  ['a.txt', 'letters that are the magic bytes of MP3 files', latin('ID3 tags are at the start.'), '.txt', 'text'],
  ['a.md', 'the namespace of Excel 2003', latin('Use urn:schemas-microsoft-com:office:spreadsheet.'), '.md', 'text'],
  ['a.txt', 'HTML content', HTML, '.html', 'markup'],
  ['a.txt', 'PDF content', PDF, '.pdf', 'pdf'],
  ['a.pdf', 'a PDF header after 1,000 characters', latin(`${'x'.repeat(1000)}\n%PDF-1.4`), '.pdf', 'pdf'],
  ['a.pdf', 'a PDF header after null bytes', latin('\0\0\n%PDF-1.4'), '.pdf', 'pdf'],
  ['a.jpg', 'a PNG image', PNG, '.png', 'image'],
  ['a.jpg', 'a BigTIFF image', latin('MM\0+\0\x08\0\0'), '.tiff', 'image'],
  ['a.pdf', 'a PNG image', PNG, '.png', 'image'],
  ['a.docx', 'a PNG image', PNG, '.png', 'image'],
  ['a.html', 'a PNG image', PNG, '.png', 'image'],
  ['a.png', 'PDF content', PDF, '.pdf', 'pdf'],
  ['a.png', 'HTML content', HTML, '.html', 'markup'],
  ['a.csv', 'values that start with BM', latin('BMW,1\nAudi,2\nand more rows\n'), '.csv', 'text'],
  ['a.xls', 'tab-separated text', latin('Navn\tSum\r\nOslo\t3\r\n'), '.csv', 'text'],
  [
    'a.xls',
    'Excel 2003 XML',
    latin('<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook>'),
    '.xls',
    'markup',
  ],
];

for (const [fileName, content, head, extension, container] of detections)
  test(`detects ${extension} for ${fileName} with ${content}`, () => {
    const found = detectFormat({ head, fileName });
    assert.deepEqual([found.extension, found.container], [extension, container]);
  });

test('detects the format by the content type if the name has no extension', () => {
  assert.equal(detectFormat({ head: TEXT, fileName: 'blob', contentType: 'Text/CSV; charset=x' }).extension, '.csv');
  assert.equal(detectFormat({ head: PDF, fileName: 'blob', contentType: 'text/html' }).extension, '.pdf');
});

const refusals: [fileName: string, content: string, head: Buffer, message: RegExp][] = [
  ['a.png', 'an SVG image', SVG, /declared as PNG .* content is plain text/],
  ['a.webp', 'a sound', WAV, /content is a RIFF media file/],
  ['a.docx', 'no content', Buffer.alloc(0), /content is empty/],
  ['a.xls', 'comma-separated text', TEXT, /content is plain text/],
  ['a.fodt', 'plain text', TEXT, /declared as Flat OpenDocument text .* content is plain text/],
  ['a.docx', 'plain text', TEXT, /declared as Word .* content is plain text/],
  ['a.pdf', 'a ZIP archive', zip('notes.txt'), /content is a ZIP archive/],
  ['a.csv', 'binary data', latin('\0\x01\x02\x03binary\0\0'), /unknown binary data/],
  ['a.tex', 'plain text', TEXT, /`\.tex` files are not supported/],
  ['a.txt', 'binary data', latin('\0\x01\x02\x03binary\0\0'), /declared as Plain text .* unknown binary data/],
  ['a.svg', 'an SVG image', SVG, /`\.svg` files are not supported/],
  ['a', 'plain text', TEXT, /no extension/],
  ['../..', 'plain text', TEXT, /no extension/],
];

for (const [fileName, content, head, message] of refusals)
  test(`rejects ${fileName} with ${content}, and lists the supported extensions`, () => {
    assert.throws(
      () => detectFormat({ head, fileName }),
      (error: Error & { code?: string; status?: number }) => {
        assert.equal(error.code, 'UNSUPPORTED_FILE_TYPE');
        assert.equal(error.status, 400);
        assert.match(error.message, message);
        for (const extension of EXTENSIONS) assert.ok(error.message.includes(extension));
        return true;
      },
    );
  });
