// Builds office files and PDF files from raw parts, so that hostile documents can break the rules of their formats.
import { deflateSync } from 'node:zlib';
import { HEAD, packageOf, relations } from './ooxml.ts';
import { type ZipEntry, zip } from './zip.ts';

export const OFFICE_DOCUMENT = 'application/vnd.openxmlformats-officedocument';
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

export const docx = (document: string | Uint8Array, deflate = false): Buffer =>
  packageOf('word/document.xml', { 'word/document.xml': `${OFFICE_DOCUMENT}.wordprocessingml.document.main+xml` }, [
    { name: 'word/document.xml', content: document, deflate },
  ]);

export const body = (inner: string): string =>
  `${HEAD}<w:document xmlns:w="${WORD}"><w:body>${inner}</w:body></w:document>`;

export function xlsx(sheet: string, deflate = false, sharedStrings = ''): Buffer {
  const type = (part: string) => `${OFFICE_DOCUMENT}.spreadsheetml.${part}+xml`;
  const names =
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
  return packageOf(
    'xl/workbook.xml',
    { 'xl/workbook.xml': type('sheet.main'), 'xl/worksheets/sheet1.xml': type('worksheet') },
    [
      {
        name: 'xl/workbook.xml',
        content: `${HEAD}<workbook ${names}><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      },
      {
        name: 'xl/_rels/workbook.xml.rels',
        content: relations([
          ['worksheet', 'worksheets/sheet1.xml'],
          ...(sharedStrings === '' ? [] : [['sharedStrings', 'sharedStrings.xml'] as const]),
        ]),
      },
      { name: 'xl/worksheets/sheet1.xml', content: `${HEAD}<worksheet ${names}>${sheet}</worksheet>`, deflate },
      ...(sharedStrings === ''
        ? []
        : [{ name: 'xl/sharedStrings.xml', content: `${HEAD}<sst ${names}>${sharedStrings}</sst>`, deflate }]),
    ],
  );
}

/** A workbook of less than 8 KB whose 5,000 cells show the same text of a million characters. */
export const sharedStringBomb = (): Buffer =>
  xlsx(
    `<sheetData>${'<row><c t="s"><v>0</v></c></row>'.repeat(5_000)}</sheetData>`,
    true,
    `<si><t>${'x'.repeat(1_000_000)}</t></si>`,
  );

const ODF_NAMES =
  'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"';

export const odf = (kind: string, content: string, doctype = '', deflate = false): Buffer =>
  zip([
    { name: 'mimetype', content: `application/vnd.oasis.opendocument.${kind}` },
    {
      name: 'content.xml',
      content: `<?xml version="1.0"?>${doctype}<office:document-content ${ODF_NAMES}><office:body>${content}</office:body></office:document-content>`,
      deflate,
    },
  ]);

export const epub = (chapter: string, more: readonly ZipEntry[] = []): Buffer =>
  zip([
    { name: 'mimetype', content: 'application/epub+zip' },
    {
      name: 'META-INF/container.xml',
      content: `${HEAD}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
    },
    {
      name: 'c.opf',
      content: `${HEAD}<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine>${'<itemref idref="c"/>'.repeat(2_000)}</spine></package>`,
    },
    { name: 'c.xhtml', content: chapter, deflate: true },
    ...more,
  ]);

/** The billion laughs attack: ten entities, each of which expands to ten times the one before. */
export const billionLaughs = (root: string): string =>
  `<!DOCTYPE ${root} [<!ENTITY a0 "ha">${Array.from({ length: 9 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')}]>`;
/** Quadratic blowup: one long entity that the document references many times. */
export const quadraticBlowup = (root: string): string => `<!DOCTYPE ${root} [<!ENTITY q "${'q'.repeat(100_000)}">]>`;
export const externalEntity = (root: string): string =>
  `<!DOCTYPE ${root} [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>`;
export const inDocument = (doctype: string, text: string): string =>
  `<?xml version="1.0"?>${doctype}<w:document xmlns:w="${WORD}"><w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`;
export const inPage = (doctype: string, text: string): string =>
  `<?xml version="1.0"?>${doctype}<html xmlns="http://www.w3.org/1999/xhtml"><body><p>${text}</p></body></html>`;

/** A ZIP archive with overlapping entries: its central directory lists the same data many times. */
export function overlapping(entries: number, size: number): Buffer {
  const archive = docx(body(`<w:p><w:r><w:t>${'a'.repeat(size)}</w:t></w:r></w:p>`), true);
  const end = archive.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const start = archive.readUInt32LE(end + 16);
  const directory = archive.subarray(start, end);
  const last = Buffer.from(directory.subarray(directory.lastIndexOf('PK\x01\x02', undefined, 'latin1')));
  const copies = Array.from({ length: entries }, (_, index) => {
    const copy = Buffer.from(last);
    // The new name has the length of the old one, so that no offset changes.
    copy.write(
      `word/media/${String(index).padStart(6, '0')}`.slice(0, copy.readUInt16LE(28)).padEnd(copy.readUInt16LE(28), 'x'),
      46,
      'latin1',
    );
    return copy;
  });
  const all = Buffer.concat([directory, ...copies]);
  const tail = Buffer.from(archive.subarray(end));
  const total = archive.readUInt16LE(end + 10) + entries;
  tail.writeUInt16LE(total, 8);
  tail.writeUInt16LE(total, 10);
  tail.writeUInt32LE(all.length, 12);
  return Buffer.concat([archive.subarray(0, start), all, tail]);
}

/** A PDF with these objects, numbered from 1. An object is a string, or a dictionary with the bytes of its stream. */
export function pdf(objects: readonly (string | { dictionary: string; stream: Uint8Array })[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  let at = 9;
  const offsets: number[] = [];
  const add = (part: Buffer): void => {
    parts.push(part);
    at += part.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(at);
    if (typeof object === 'string') add(Buffer.from(`${index + 1} 0 obj\n${object}\nendobj\n`));
    else {
      add(Buffer.from(`${index + 1} 0 obj\n<< ${object.dictionary} /Length ${object.stream.length} >>\nstream\n`));
      add(Buffer.from(object.stream));
      add(Buffer.from('\nendstream\nendobj\n'));
    }
  }
  const start = at;
  add(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')}trailer << /Size ${objects.length + 1} /Root 1 0 R ${trailer.replace('START', String(start))} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

export const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>';
export const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
export const page = (more = '') =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> ${more} >> >>`;
export const onePage = (
  content: Uint8Array,
  more = '',
  rest: readonly (string | { dictionary: string; stream: Uint8Array })[] = [],
): Buffer =>
  pdf([
    CATALOG,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    page(more),
    { dictionary: '/Filter /FlateDecode', stream: deflateSync(content) },
    FONT,
    ...rest,
  ]);

export const text = (line: string): Buffer => Buffer.from(`BT /F 12 Tf 60 700 Td (${line}) Tj ET `);
