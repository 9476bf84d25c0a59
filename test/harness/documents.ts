// Small documents with the same text in each format, so that one test can run for all formats.

import { readFile } from 'node:fs/promises';
import { EXTENSIONS, type Extension } from '#shared/contract/formats.ts';
import { encodeImage, printedPage } from './documents/images.ts';
import { msg } from './documents/msg.ts';
import { type Content, docx, escapeXml, pptx, xlsb, xlsx } from './documents/ooxml.ts';
import { epub, type OdfStorage, odp, ods, odt } from './documents/opendocument.ts';
import { pdf } from './documents/pdf.ts';

export { hiddenSheetXlsx, notedPptx, packageWithoutMainPart, reviewedDocx } from './documents/office-features.ts';
export { type Content, docx, pptx, xlsb, xlsx } from './documents/ooxml.ts';
export { epub, odp, ods, odt } from './documents/opendocument.ts';
export { blankPdf, imagePdf, type PdfPage, pdf, pdfOfSize } from './documents/pdf.ts';
export { type ZipEntry, zip } from './documents/zip.ts';

/** The text of each sample. */
export const CONTENT: Content = {
  title: 'Harbour report',
  paragraphs: ['The lighthouse keeper counted seventeen herons.', 'A second boat came in before the storm.'],
  table: [
    ['Boat', 'Length'],
    ['Petrel', '42'],
    ['Kittiwake', '57'],
  ],
};

/** Texts that the Markdown of each sample must contain. */
export const WORDS: readonly string[] = [
  'Harbour report',
  'The lighthouse keeper counted seventeen herons.',
  'A second boat came in before the storm.',
];

/** Texts of the table, which the samples of all formats but slides contain. */
export const TABLE_WORDS: readonly string[] = ['Boat', 'Length', 'Petrel', '42', 'Kittiwake', '57'];
export const WITHOUT_TABLE: ReadonlySet<Extension> = new Set([
  '.pptx',
  '.pptm',
  '.potx',
  '.potm',
  '.ppsx',
  '.ppsm',
  '.ppt',
  '.pot',
  '.pps',
  '.odp',
  '.otp',
  '.fodp',
]);

/** Formats that only LibreOffice can write. Their samples are fixtures, written by `test/harness/make-fixtures.ts`. */
export const COMMITTED: readonly Extension[] = ['.doc', '.xls', '.ppt', '.dot', '.xlt', '.pot', '.pps'];
/** A template or show of PowerPoint 97 has the same bytes as a presentation. Only its name differs. */
const SAME_BYTES: Partial<Record<Extension, Extension>> = { '.pot': '.ppt', '.pps': '.ppt' };

const bodyHtml = (content: Content) =>
  `<h1>${escapeXml(content.title)}</h1>${content.paragraphs.map((text) => `<p>${escapeXml(text)}</p>`).join('')}<table>${content.table
    .map(
      (row, index) =>
        `<tr>${row.map((cell) => (index === 0 ? `<th>${escapeXml(cell)}</th>` : `<td>${escapeXml(cell)}</td>`)).join('')}</tr>`,
    )
    .join('')}</table>`;

export const html = (content: Content = CONTENT) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeXml(content.title)}</title></head><body><main>${bodyHtml(content)}</main></body></html>`;

const xhtml = (content: Content = CONTENT) =>
  `<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head><title>${escapeXml(content.title)}</title></head><body>${bodyHtml(content)}</body></html>`;

/** Title, paragraphs and table as lines. Each line has as many fields as the table has columns. */
export function csv(content: Content = CONTENT): string {
  const width = Math.max(1, ...content.table.map((row) => row.length));
  const rows = [[content.title], ...content.paragraphs.map((text) => [text]), ...content.table];
  return `${rows.map((row) => Array.from({ length: width }, (_, column) => row[column] ?? '').join(',')).join('\r\n')}\r\n`;
}

const tsv = (content: Content): string =>
  `${[[content.title], ...content.paragraphs.map((text) => [text]), ...content.table].map((row) => row.join('\t')).join('\n')}\n`;

const pipeTable = (rows: readonly (readonly string[])[]): string[] => rows.map((row) => `| ${row.join(' | ')} |`);

/** Title, paragraphs, and a table that is drawn with characters. */
const plainText = (content: Content): string =>
  `${[content.title, ...content.paragraphs, pipeTable(content.table).join('\n')].join('\n\n')}\n`;

/** A message whose subject is the title, with plain text and HTML as alternatives. */
const eml = (content: Content): string => {
  const alternative = (type: string, body: string) =>
    `--sea\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(body).toString('base64')}\r\n`;
  const subject = `=?utf-8?B?${Buffer.from(content.title).toString('base64')}?=`;
  const page = `<html><body>${bodyHtml(content)}</body></html>`;
  return `From: Keeper <keeper@harbour.example>\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=sea\r\n\r\n${alternative('text/plain', plainText(content))}${alternative('text/html', page)}--sea--\r\n`;
};

const markdown = (content: Content): string => {
  const [head = '', ...rows] = pipeTable(content.table);
  const rule = `|${' --- |'.repeat(content.table[0]?.length ?? 1)}`;
  return `${[`# ${content.title}`, ...content.paragraphs, [head, rule, ...rows].join('\n')].join('\n\n')}\n`;
};

export function rtf(content: Content = CONTENT): string {
  const row = (cells: readonly string[]) =>
    `\\trowd${cells.map((_, index) => `\\cellx${(index + 1) * 3000}`).join('')}${cells.map((cell) => `\\pard\\intbl ${cell}\\cell`).join('')}\\row\n`;
  return `{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Liberation Serif;}}\n{\\pard\\b\\fs36 ${content.title}\\par}\n${content.paragraphs
    .map((text) => `{\\pard\\fs24 ${text}\\par}\n`)
    .join('')}${content.table.map(row).join('')}\\pard\\par}`;
}

const committed = (extension: Extension) => {
  const stored = SAME_BYTES[extension] ?? extension;
  return readFile(new URL(`../../fixtures/${stored.slice(1)}/harbour-report${stored}`, import.meta.url));
};

const nameOf = <Name extends string>(extension: `.${Name}`): Name => extension.slice(1) as Name;

const storageOf = (extension: Extension): OdfStorage =>
  extension.startsWith('.f') ? 'flat' : extension.startsWith('.ot') ? 'template' : 'package';

async function make(extension: Extension, content: Content): Promise<Uint8Array | string> {
  switch (extension) {
    case '.html':
    case '.htm':
      return html(content);
    case '.xhtml':
      return xhtml(content);
    case '.csv':
      return csv(content);
    case '.tsv':
      return tsv(content);
    case '.eml':
      return eml(content);
    case '.msg':
      return msg({
        properties: {
          '0037001F': content.title,
          '1000001F': plainText(content),
          '10130102': Buffer.from(bodyHtml(content)),
        },
      });
    case '.txt':
      return plainText(content);
    case '.md':
    case '.markdown':
      return markdown(content);
    case '.rtf':
      return rtf(content);
    case '.docx':
    case '.docm':
    case '.dotx':
    case '.dotm':
      return docx(content, { format: nameOf(extension) });
    case '.xlsx':
    case '.xlsm':
    case '.xltx':
    case '.xltm':
      return xlsx(content, { format: nameOf(extension) });
    case '.xlsb':
      return xlsb(content);
    case '.pptx':
    case '.pptm':
    case '.potx':
    case '.potm':
    case '.ppsx':
    case '.ppsm':
      return pptx(content, { format: nameOf(extension) });
    case '.odt':
    case '.ott':
    case '.fodt':
      return odt(content, storageOf(extension));
    case '.ods':
    case '.ots':
    case '.fods':
      return ods(content, storageOf(extension));
    case '.odp':
    case '.otp':
    case '.fodp':
      return odp(content, storageOf(extension));
    case '.epub':
      return epub(content, bodyHtml(content));
    case '.pdf':
      return pdf([{ title: content.title, lines: content.paragraphs, table: content.table }]);
    case '.png':
    case '.jpg':
    case '.jpeg':
    case '.tif':
    case '.tiff':
    case '.webp':
    case '.bmp':
    case '.gif':
      return encodeImage(extension, await printedPage(content));
    default:
      return committed(extension);
  }
}

interface Sample {
  extension: Extension;
  fileName: string;
  bytes: Buffer;
}

/** The sample of one format, named `harbour-report<extension>`. */
export const sample = (extension: Extension): Promise<Sample> => sampleOf(extension, CONTENT);

/** A document of this format with this content. The content is ignored for `COMMITTED` formats. */
export async function sampleOf(extension: Extension, content: Content): Promise<Sample> {
  return { extension, fileName: `harbour-report${extension}`, bytes: Buffer.from(await make(extension, content)) };
}

export const samples = (): Promise<Sample[]> => Promise.all(EXTENSIONS.map(sample));
