import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXTENSIONS, FORMATS } from '../contract/formats.ts';
import { detectFormat } from './detect.ts';

const latin = (text: string) => Buffer.from(text, 'latin1');
/** The first local header of a ZIP file, with the entry's name and what follows it. */
const zip = (name: string, rest = '') => latin(`PK\x03\x04${'\0'.repeat(26)}${name}${rest}`);
const PDF = latin('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n');
const OLE = latin('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0');
const OOXML = zip('[Content_Types].xml');
const ODT = zip('mimetype', 'application/vnd.oasis.opendocument.textPK\x03\x04');
const EPUB = zip('mimetype', 'application/epub+zipPK\x03\x04');
const RTF = latin('{\\rtf1\\ansi hello}');
const HTML = latin('<!-- saved --><!DOCTYPE html>\n<html><p>x');
const TEXT = latin('a,b\n1,2\n');
const PNG = latin('\x89PNG\r\n\x1a\n\0\0');

const OWN = { pdf: PDF, zip: OOXML, ole: OLE, rtf: RTF, markup: HTML, text: TEXT } as const;

for (const row of FORMATS)
  test(`${row.extension} with its own content stays itself`, () => {
    const head = row.extension === '.epub' ? EPUB : row.extension === '.odt' ? ODT : OWN[row.container];
    assert.deepEqual(detectFormat({ head, fileName: `a${row.extension.toUpperCase()}` }), {
      extension: row.extension,
      container: row.container,
      contentType: row.mimeTypes[0],
      service: row.service,
    });
  });

const wins: [fileName: string, head: Buffer, extension: string, container: string][] = [
  ['a.docx', PDF, '.pdf', 'pdf'],
  ['a.doc', RTF, '.rtf', 'rtf'],
  ['a.doc', HTML, '.html', 'markup'],
  ['a.docx', ODT, '.odt', 'zip'],
  ['a.odt', EPUB, '.epub', 'zip'],
  ['a.docx', OLE, '.docx', 'ole'],
  ['a.doc', OOXML, '.docx', 'zip'],
  ['a.pdf', OLE, '.doc', 'ole'],
  ['a.pdf', OOXML, '.docx', 'zip'],
  ['a.csv', latin(`PK\x03\x04${'\0'.repeat(26)}xl/workbook.xml`), '.xlsx', 'zip'],
  ['a.csv', HTML, '.html', 'markup'],
  ['a.csv', latin('<b>,<i>\n1,2\n'), '.csv', 'text'],
  ['a.csv', latin('a,%PDF-1.4\n'), '.csv', 'text'],
  ['a.csv', Buffer.from('\uFEFFa;b\n', 'utf16le'), '.csv', 'text'],
  ['a.csv', Buffer.from('a;b\nc;d\n', 'utf16le'), '.csv', 'text'],
  ['a.html', latin('just words'), '.html', 'markup'],
  ['a.html', Buffer.from('\uFEFF<html>', 'utf16le'), '.html', 'markup'],
  ['a.html', PDF, '.pdf', 'pdf'],
  ['a.doc', latin('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">'), '.xhtml', 'markup'],
  ['a.pdf', latin(`${'x'.repeat(1000)}\n%PDF-1.4`), '.pdf', 'pdf'],
  ['a.pdf', latin('\0\0\n%PDF-1.4'), '.pdf', 'pdf'],
  ['a.xls', latin('Navn\tSum\r\nOslo\t3\r\n'), '.csv', 'text'],
  ['a.xls', latin('<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook>'), '.xls', 'markup'],
];

for (const [fileName, head, extension, container] of wins)
  test(`${fileName} holding ${JSON.stringify(head.toString('latin1', 0, 40))} is ${extension}`, () => {
    const found = detectFormat({ head, fileName });
    assert.deepEqual([found.extension, found.container], [extension, container]);
  });

test('without an extension the content type decides', () => {
  assert.equal(detectFormat({ head: TEXT, fileName: 'blob', contentType: 'Text/CSV; charset=x' }).extension, '.csv');
  assert.equal(detectFormat({ head: PDF, fileName: 'blob', contentType: 'text/html' }).extension, '.pdf');
});

const refusals: [fileName: string, head: Buffer, says: RegExp][] = [
  ['a.pdf', PNG, /says PDF .* content is a PNG image/],
  ['a.docx', Buffer.alloc(0), /content is empty/],
  ['a.xls', TEXT, /content is plain text/],
  ['a.docx', TEXT, /says Word .* content is plain text/],
  ['a.pdf', zip('notes.txt'), /content is a ZIP archive/],
  ['a.csv', latin('\0\x01\x02\x03binary\0\0'), /unknown binary data/],
  ['a.html', PNG, /a PNG image/],
  ['a.txt', TEXT, /`\.txt` files are not read/],
  ['a', TEXT, /no extension/],
  ['../..', TEXT, /no extension/],
];

for (const [fileName, head, says] of refusals)
  test(`${fileName} holding ${JSON.stringify(head.toString('latin1', 0, 12))} is refused with the list`, () => {
    assert.throws(
      () => detectFormat({ head, fileName }),
      (error: Error & { code?: string; status?: number }) => {
        assert.equal(error.code, 'UNSUPPORTED_FILE_TYPE');
        assert.equal(error.status, 400);
        assert.match(error.message, says);
        for (const extension of EXTENSIONS) assert.ok(error.message.includes(extension));
        return true;
      },
    );
  });
