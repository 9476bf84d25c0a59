// Detects the format of an upload by its name, content type and first bytes, so that a file with a wrong name is still read.
import { ParseError } from '../contract/errors.ts';
import {
  type Container,
  EXTENSIONS,
  type FormatRow,
  formatByExtension,
  formatByMimeType,
} from '../contract/formats.ts';
import { type ConverterQueue, QUEUES, type ServiceName } from '../contract/services.ts';
import { byteOrderMark, decodeText, utf16ByNulls } from './charset.ts';

interface DetectInput {
  /** The first bytes of the file, up to 8192. */
  head: Uint8Array;
  fileName: string;
  /** The content type of the part, used only if the name has no extension. */
  contentType?: string;
}

export interface DetectedFormat {
  extension: string;
  container: Container;
  /** The MIME type of the format. */
  contentType: string;
  /** The service that converts the format. */
  service: ServiceName;
  /** The queue of this service. */
  queue: ConverterQueue;
}

/** The type of the first bytes. `extension`: set if they identify one format and not only a container. */
interface SniffedContent {
  kind: Container | 'foreign' | 'binary';
  extension?: string;
  /** For an error message: "a PNG image". */
  label: string;
}

/** Unsupported files by their first bytes, for error messages. */
const FOREIGN: readonly (readonly [magic: number[], label: string])[] = [
  [[0x52, 0x49, 0x46, 0x46], 'a RIFF media file'],
  [[0x1f, 0x8b], 'a gzip archive'],
  [[0x42, 0x5a, 0x68, 0x39], 'a bzip2 archive'],
  [[0x37, 0x7a, 0xbc, 0xaf], 'a 7-Zip archive'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'an xz archive'],
  [[0x52, 0x61, 0x72, 0x21], 'a RAR archive'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'a zstd archive'],
  [[0x7f, 0x45, 0x4c, 0x46], 'a program'],
  [[0x4d, 0x5a, 0x90, 0x00], 'a program'],
  [[0x25, 0x21, 0x50, 0x53], 'a PostScript file'],
  [[0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20], 'an SQLite database'],
  [[0x49, 0x44, 0x33], 'an MP3 file'],
  [[0x4f, 0x67, 0x67, 0x53], 'an Ogg media file'],
];

/** Image formats by their first bytes. TIFF: both byte orders, with offsets of 4 and of 8 bytes (BigTIFF). */
const IMAGES: readonly (readonly [magic: number[], extension: string])[] = [
  [[0x89, 0x50, 0x4e, 0x47], '.png'],
  [[0xff, 0xd8, 0xff], '.jpg'],
  [[0x47, 0x49, 0x46, 0x38], '.gif'],
  [[0x49, 0x49, 0x2a, 0x00], '.tiff'],
  [[0x4d, 0x4d, 0x00, 0x2a], '.tiff'],
  [[0x49, 0x49, 0x2b, 0x00], '.tiff'],
  [[0x4d, 0x4d, 0x00, 0x2b], '.tiff'],
];
/** Sizes of the headers of BMP files. The letters `BM` alone may also start a text. */
const BMP_HEADERS: readonly number[] = [12, 16, 40, 52, 56, 64, 108, 124];
const OLE_MAGIC = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
/** Excel 2 to 4 wrote records without a container. The first is a BOF record (BIFF). */
const BARE_BIFF: readonly number[][] = [
  [0x09, 0x00, 0x04, 0x00],
  [0x09, 0x02, 0x06, 0x00],
  [0x09, 0x04, 0x06, 0x00],
];
/** Offset of the text of the `mimetype` entry, which is the first entry and not compressed (ODF 1.3 part 2, 3.3; EPUB OCF 3.3, 4.3). */
const MIMETYPE_OFFSET = 38;
/** A PDF header may come after other bytes, but within the first 1024 (ISO 32000-1, annex H.3.4.1). */
const PDF_HEADER_WITHIN = 1024;
const OFFICE_XML =
  /<\?mso-application\b|urn:schemas-microsoft-com:office:spreadsheet|schemas\.microsoft\.com\/office\/(?:word\/2003\/wordml|2006\/xmlPackage)/;

/** A mail starts with a header field, or with the line that separates the messages of a mailbox. */
const MAIL_HEADER = /^(?:\xef\xbb\xbf)?\s*(?:>?From [^\n]+|[!-9;-~]{1,200}[ \t]*:[^\n]*)\n/;

const TABBED_ROWS = /^[^\t\n]*\t[^\n]*\n[^\t\n]*\t/;

function startsWith(bytes: Uint8Array, magic: readonly number[], offset = 0): boolean {
  return magic.every((byte, i) => bytes[offset + i] === byte);
}

function ascii(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', start, end);
}

/** Whether there are null bytes, or many control characters other than white space, escape and the end-of-file mark of DOS. */
function looksBinary(bytes: Uint8Array): boolean {
  let controls = 0;
  for (const byte of bytes) {
    if (byte === 0) return true;
    if (byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1b && byte !== 0x1a) controls++;
  }
  return controls > 8 && controls > bytes.length / 100;
}

function sniffZip(head: Uint8Array): SniffedContent {
  const text = ascii(head, 0, head.length);
  if (text.startsWith('mimetype', 30)) {
    const mime = /^[\w.+/-]{1,100}/.exec(text.slice(MIMETYPE_OFFSET, MIMETYPE_OFFSET + 100))?.[0] ?? '';
    // The next local header follows the text immediately, so the longest known type that the text starts with is its type.
    const known = [
      'application/vnd.oasis.opendocument.text-template',
      'application/vnd.oasis.opendocument.spreadsheet-template',
      'application/vnd.oasis.opendocument.presentation-template',
      'application/vnd.oasis.opendocument.text',
      'application/vnd.oasis.opendocument.spreadsheet',
      'application/vnd.oasis.opendocument.presentation',
      'application/epub+zip',
    ].find((name) => mime.startsWith(name));
    const row = known === undefined ? undefined : formatByMimeType(known);
    if (row) return { kind: 'zip', extension: row.extension, label: row.label };
  }
  if (/PK\x03\x04[\s\S]{26}(?:\[Content_Types\]\.xml|_rels\/|word\/|xl\/|ppt\/)/.test(text)) {
    if (/PK\x03\x04[\s\S]{26}xl\/[\w/]{1,50}\.bin/.test(text))
      return { kind: 'zip', extension: '.xlsb', label: rowOf('.xlsb').label };
    const folder = /PK\x03\x04[\s\S]{26}(word|xl|ppt)\//.exec(text)?.[1];
    const extension = folder === 'xl' ? '.xlsx' : folder === 'ppt' ? '.pptx' : '.docx';
    return { kind: 'zip', extension, label: 'an Office Open XML document' };
  }
  return { kind: 'zip', label: 'a ZIP archive' };
}

/**
 * The format of an OpenDocument file that is one XML document (ODF 1.3 part 3, 3.1.2): its root element names the type
 * of the document. Undefined for any other text.
 */
function flatOpenDocument(text: string): '.fodt' | '.fods' | '.fodp' | undefined {
  const root = /^<(?:[\w.-]{1,50}:)?document\s[^>]*>/.exec(text)?.[0];
  if (root === undefined || !root.includes('urn:oasis:names:tc:opendocument:xmlns:office:1.0')) return undefined;
  const type = /mimetype\s*=\s*["']application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation)/.exec(
    root,
  )?.[1];
  return type === undefined ? undefined : type === 'text' ? '.fodt' : type === 'spreadsheet' ? '.fods' : '.fodp';
}

function sniffText(head: Uint8Array): SniffedContent {
  const { text } = decodeText(head, { markup: true });
  if (text.trimStart().startsWith('<') && OFFICE_XML.test(text)) {
    const extension = /schemas-microsoft-com:office:spreadsheet|Excel\.Sheet/.test(text) ? '.xls' : '.doc';
    return { kind: 'markup', extension, label: 'an Office 2003 XML document' };
  }
  let rest = text.trimStart();
  for (let skipped = true; skipped; ) {
    skipped = false;
    for (const [open, close] of [
      ['<!--', '-->'],
      ['<?', '>'],
    ] as const) {
      if (!rest.startsWith(open)) continue;
      const end = rest.indexOf(close, open.length);
      rest = end < 0 ? '' : rest.slice(end + close.length).trimStart();
      skipped = true;
    }
  }
  const flat = flatOpenDocument(rest);
  if (flat !== undefined) return { kind: 'markup', extension: flat, label: 'flat OpenDocument' };
  // A CSV file may begin with `<`, so only tags that start a document count.
  const html = /^(?:<!doctype\s+html\b|<(?:[a-z]{1,9}:)?html[\s>/]|<head[\s>]|<body[\s>])/i.exec(rest)?.[0];
  if (html === undefined) return { kind: 'text', label: 'plain text' };
  const xhtml =
    /^<\?xml\b/.test(text.trimStart()) || /^(?:<!doctype[^>]{0,200}XHTML|<html[^>]{0,400}xmlns\s*=)/i.test(rest);
  return { kind: 'markup', extension: xhtml ? '.xhtml' : '.html', label: xhtml ? 'XHTML' : 'HTML' };
}

/** The extension of an image format, or undefined. */
function sniffImage(head: Uint8Array): string | undefined {
  for (const [magic, extension] of IMAGES) if (startsWith(head, magic)) return extension;
  if (ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 12) === 'WEBP') return '.webp';
  const headerSize = (head[14] ?? 0) | ((head[15] ?? 0) << 8) | ((head[16] ?? 0) << 16) | ((head[17] ?? 0) << 24);
  return ascii(head, 0, 2) === 'BM' && BMP_HEADERS.includes(headerSize) ? '.bmp' : undefined;
}

/** The type of a file by its first bytes (up to 8192). Never throws. */
function sniffContent(head: Uint8Array): SniffedContent {
  if (head.length === 0) return { kind: 'text', label: 'empty' };
  if (startsWith(head, [0x50, 0x4b, 0x03, 0x04]) || startsWith(head, [0x50, 0x4b, 0x05, 0x06])) return sniffZip(head);
  if (startsWith(head, OLE_MAGIC)) return { kind: 'ole', label: 'a binary Office document' };
  if (BARE_BIFF.some((magic) => startsWith(head, magic)))
    return { kind: 'ole', extension: '.xls', label: 'an early Excel document' };
  const opening = ascii(head, 0, PDF_HEADER_WITHIN).replace(/^(?:\xef\xbb\xbf)?[\s\0]*/, '');
  if (opening.startsWith('{\\rt')) return { kind: 'rtf', extension: '.rtf', label: 'Rich Text' };
  if (opening.startsWith('%PDF-')) return { kind: 'pdf', extension: '.pdf', label: 'PDF' };
  const image = sniffImage(head);
  if (image !== undefined) return { kind: 'image', extension: image, label: `a ${rowOf(image).label} image` };
  for (const [magic, label] of FOREIGN) if (startsWith(head, magic)) return { kind: 'foreign', label };
  if (ascii(head, 4, 8) === 'ftyp') return { kind: 'foreign', label: 'an MPEG-4 media file' };
  if (byteOrderMark(head) !== undefined || utf16ByNulls(head) !== undefined) return sniffText(head);
  if (looksBinary(head)) {
    if (opening.includes('%PDF-')) return { kind: 'pdf', extension: '.pdf', label: 'PDF' };
    return { kind: 'binary', label: 'unknown binary data' };
  }
  return sniffText(head);
}

/** The extension of a file name, in lower case with its dot, or undefined. */
function extensionOf(fileName: string): string | undefined {
  const base = fileName.trim().split(/[\\/]/).at(-1) ?? '';
  return /\.[^.\s]{1,16}$/.exec(base)?.[0].toLowerCase();
}

function rowOf(extension: string): FormatRow {
  const row = formatByExtension(extension);
  if (!row) throw new ParseError('UNSUPPORTED_FILE_TYPE', unsupported(`\`${extension}\` files are not supported`));
  return row;
}

function unsupported(reason: string): string {
  return `Unsupported file type: ${reason}. Supported extensions: ${EXTENSIONS.join(', ')}`;
}

const serviceOf = (row: FormatRow): ServiceName => QUEUES[row.queue].service;

function detected(row: FormatRow, container: Container = row.container): DetectedFormat {
  return {
    extension: row.extension,
    container,
    contentType: row.mimeTypes[0],
    service: serviceOf(row),
    queue: row.queue,
  };
}

/** The format that the request declares: by the extension, or by the content type if there is none. */
function statedRow({ fileName, contentType }: DetectInput): FormatRow {
  const extension = extensionOf(fileName);
  if (extension !== undefined) return rowOf(extension);
  const row = contentType === undefined ? undefined : formatByMimeType(contentType);
  if (row) return row;
  throw new ParseError(
    'UNSUPPORTED_FILE_TYPE',
    unsupported('the file name has no extension, and the content type of the part is not known'),
  );
}

/**
 * The format of an upload (docs/api.md, "Formats"): its extension, unless the content is clearly another supported format.
 * The office service looks into binary Office containers itself.
 * @throws ParseError UNSUPPORTED_FILE_TYPE (400) if the name or the content is not supported
 */
export function detectFormat(input: DetectInput): DetectedFormat {
  const stated = statedRow(input);
  const { head } = input;
  // A mail may contain files of any kind, also as bytes that are not text.
  if (stated.extension === '.eml' && MAIL_HEADER.test(ascii(head, 0, 1_000))) return detected(stated);
  const content = sniffContent(head);
  switch (content.kind) {
    case 'zip':
      if (stated.container === 'zip') {
        // Only a `mimetype` entry or a part of an Excel binary workbook is proof. The office service distinguishes the Office Open XML formats.
        const row = content.extension === undefined ? stated : rowOf(content.extension);
        const crosses = serviceOf(row) !== serviceOf(stated) || content.label === row.label;
        return crosses ? detected(row) : detected(stated);
      }
      if (content.extension !== undefined) return detected(rowOf(content.extension));
      // The office service accepts any office container under any office extension. LibreOffice is not needed for a package.
      if (serviceOf(stated) === 'office') return detected(rowOf('.docx'));
      break;
    case 'ole':
      return detected(
        serviceOf(stated) === 'office' || stated.container === 'ole' ? stated : rowOf(content.extension ?? '.doc'),
        'ole',
      );
    case 'image': {
      const row = rowOf(content.extension ?? stated.extension);
      // One format has two extensions (`.jpg` and `.jpeg`).
      return detected(row.label === stated.label ? stated : row);
    }
    case 'rtf':
    case 'pdf':
      return detected(rowOf(content.extension ?? stated.extension));
    case 'markup':
      if (stated.container === 'markup' && stated.queue === 'html' && content.extension?.endsWith('html'))
        return detected(stated);
      if (content.extension !== undefined) return detected(rowOf(content.extension), 'markup');
      break;
    case 'text':
      if (stated.container === 'text' || (stated.container === 'markup' && stated.queue === 'html'))
        return detected(stated);
      // Programs that export "Excel" often write tab-separated text.
      if (stated.extension === '.xls' && TABBED_ROWS.test(decodeText(head).text)) return detected(rowOf('.csv'));
      if (stated.container === 'pdf' && ascii(head, 0, PDF_HEADER_WITHIN).includes('%PDF-')) return detected(stated);
      break;
    case 'foreign':
      // Some magic bytes are letters, with which a text can begin ("ID3 tags are ...").
      if (stated.container === 'text' && !looksBinary(head)) return detected(stated);
      break;
    case 'binary':
      break;
  }
  throw new ParseError(
    'UNSUPPORTED_FILE_TYPE',
    unsupported(`the file is declared as ${stated.label} (${stated.extension}), but its content is ${content.label}`),
  );
}
