// Detects the format of an office upload from the content of its container, because these formats share names and magic bytes.
import { ParseError } from '#shared/contract/errors.ts';
import { EXTENSIONS, type Extension, formatByExtension } from '#shared/contract/formats.ts';
import type { SourceFile } from '#shared/document/document.ts';
import { decodeText } from '#shared/readers/charset.ts';
import { childElements, descendants, parseXml } from '#shared/readers/xml.ts';
import { openZip, type ZipContainer } from '#shared/readers/zip.ts';
import { binaryKind } from './binary-kind.ts';
import { OpcPackage } from './opc.ts';

/** Which reader an Office Open XML package needs. `binary`: only LibreOffice reads it. */
type OpcFamily = 'word' | 'sheet' | 'slides' | 'binary';

export type OfficeFile =
  | { kind: 'opc'; extension: Extension; family: OpcFamily; opc: OpcPackage; mainPart: string }
  | { kind: 'odf'; extension: Extension; zip: ZipContainer }
  /** OpenDocument in one XML document. */
  | { kind: 'flat'; extension: Extension; xml: string }
  /** A format that only LibreOffice reads. */
  | { kind: 'legacy'; extension: '.doc' | '.xls' | '.ppt' | '.rtf' };

/** The content types of main parts, without `application/vnd.`. An add-in is read as the document that it is stored as. */
const MAIN_PARTS: readonly (readonly [RegExp, OpcFamily, Extension])[] = [
  [/wordprocessingml\.document\.main\+xml$/i, 'word', '.docx'],
  [/wordprocessingml\.template\.main\+xml$/i, 'word', '.dotx'],
  [/ms-word\.template\.macroenabled\w*\.main\+xml$/i, 'word', '.dotm'],
  [/ms-word\.document\.macroenabled\w*\.main\+xml$/i, 'word', '.docm'],
  [/spreadsheetml\.sheet\.main\+xml$/i, 'sheet', '.xlsx'],
  [/spreadsheetml\.template\.main\+xml$/i, 'sheet', '.xltx'],
  [/ms-excel\.template\.macroenabled\.main\+xml$/i, 'sheet', '.xltm'],
  [/ms-excel\.(?:sheet|addin)\.macroenabled\.main\+xml$/i, 'sheet', '.xlsm'],
  [/ms-excel\.sheet\.binary\.macroenabled\.main$/i, 'binary', '.xlsb'],
  [/presentationml\.presentation\.main\+xml$/i, 'slides', '.pptx'],
  [/presentationml\.template\.main\+xml$/i, 'slides', '.potx'],
  [/presentationml\.slideshow\.main\+xml$/i, 'slides', '.ppsx'],
  [/ms-powerpoint\.template\.macroenabled\.main\+xml$/i, 'slides', '.potm'],
  [/ms-powerpoint\.slideshow\.macroenabled\.main\+xml$/i, 'slides', '.ppsm'],
  [/ms-powerpoint\.(?:presentation|addin)\.macroenabled\.main\+xml$/i, 'slides', '.pptm'],
];

/** The formats of a document and of a template for it. */
const ODF_KINDS: Readonly<Record<string, readonly [Extension, Extension]>> = {
  text: ['.odt', '.ott'],
  spreadsheet: ['.ods', '.ots'],
  presentation: ['.odp', '.otp'],
};

function encrypted(): ParseError {
  return new ParseError('DOCUMENT_ENCRYPTED', 'The document is encrypted: remove its password and send it again');
}

function unsupported(found: string): ParseError {
  return new ParseError(
    'UNSUPPORTED_FILE_TYPE',
    `Unsupported file type: the file is ${found}. Supported extensions: ${EXTENSIONS.join(', ')}`,
  );
}

/**
 * Opens a file only as far as needed to detect its format.
 * @throws ParseError DOCUMENT_ENCRYPTED, DOCUMENT_CORRUPT, UNSUPPORTED_FILE_TYPE if the container has another content
 */
export async function openOffice(file: SourceFile): Promise<OfficeFile> {
  const { bytes } = file;
  if (bytes.length === 0) throw new ParseError('DOCUMENT_CORRUPT', 'The document is empty');
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return openContainer(await openZip(bytes));
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf) {
    const kind = binaryKind(bytes);
    if (kind === 'encrypted') throw encrypted();
    if (kind === undefined) throw unsupported('a binary container that holds no Word, Excel or PowerPoint document');
    return { kind: 'legacy', extension: kind };
  }
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('latin1');
  if (/^(?:\xef\xbb\xbf)?[\s\0]{0,512}\{\\rt/.test(head)) return { kind: 'legacy', extension: '.rtf' };
  // Excel before version 5 wrote no container, and Office 2003 could write a single XML file.
  if (/^\x09[\x00\x02\x04][\x04\x06]\x00/.test(head)) return { kind: 'legacy', extension: '.xls' };
  if (/urn:schemas-microsoft-com:office:spreadsheet/.test(head)) return { kind: 'legacy', extension: '.xls' };
  if (/schemas\.microsoft\.com\/office\/word\/2003\/wordml/.test(head)) return { kind: 'legacy', extension: '.doc' };
  if (formatByExtension(file.extension)?.container === 'markup') {
    const xml = decodeText(bytes, { markup: true }).text;
    return { kind: 'flat', extension: file.extension as Extension, xml };
  }
  throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: it does not have the format of an office program');
}

function openContainer(zip: ZipContainer): OfficeFile {
  if (zip.has('[Content_Types].xml')) return openOpc(zip);
  const mime = zip.has('mimetype') ? zip.text('mimetype').trim() : rootMediaType(zip);
  const odf = /^application\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation)\b(-template)?/.exec(mime);
  const extension = ODF_KINDS[odf?.[1] ?? '']?.[odf?.[2] === undefined ? 0 : 1];
  if (extension !== undefined) {
    refuseEncryptedOdf(zip);
    if (!zip.has('content.xml'))
      throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: its content is missing');
    return { kind: 'odf', extension, zip };
  }
  if (zip.has('content.xml') && mime === '') throw unsupported('an OpenDocument file of an unknown kind');
  throw unsupported(
    mime.startsWith('application/') ? 'a document of another kind' : 'a ZIP archive that holds no office document',
  );
}

/** The media type in the manifest, for a package without a `mimetype` entry. */
function rootMediaType(zip: ZipContainer): string {
  if (!zip.has('META-INF/manifest.xml')) return '';
  const entries = childElements(parseXml(zip.text('META-INF/manifest.xml')), 'file-entry');
  const root = entries.find((entry) => entry.attributes['manifest:full-path'] === '/');
  return root?.attributes['manifest:media-type'] ?? '';
}

function refuseEncryptedOdf(zip: ZipContainer): void {
  if (zip.has('encrypted-package')) throw encrypted();
  if (!zip.has('META-INF/manifest.xml')) return;
  if (descendants(parseXml(zip.text('META-INF/manifest.xml')), 'encryption-data').length > 0) throw encrypted();
}

function openOpc(zip: ZipContainer): OfficeFile {
  const opc = new OpcPackage(zip);
  const types = childElements(parseXml(zip.text('[Content_Types].xml')));
  const main = [...opc.relationships('').values()].find((relationship) => relationship.type === 'officeDocument');
  const overrides = types.filter((type) => type.local === 'Override');
  const typeOf = (part: string): string => {
    const wanted = `/${part}`.toLowerCase();
    const override = overrides.find((type) => type.attributes.PartName?.toLowerCase() === wanted);
    if (override) return override.attributes.ContentType ?? '';
    const ending = part.slice(part.lastIndexOf('.') + 1).toLowerCase();
    const byDefault = types.find(
      (type) => type.local === 'Default' && type.attributes.Extension?.toLowerCase() === ending,
    );
    return byDefault?.attributes.ContentType ?? '';
  };
  const candidates = main && zip.has(main.target) ? [main.target] : [];
  // If the relationships are missing, the content types still name the main part.
  for (const override of overrides) candidates.push((override.attributes.PartName ?? '').replace(/^\//, ''));
  for (const part of candidates) {
    const type = typeOf(part);
    const known = MAIN_PARTS.find(([pattern]) => pattern.test(type));
    if (known && zip.has(part)) return { kind: 'opc', extension: known[2], family: known[1], opc, mainPart: part };
  }
  for (const [part, family, extension] of [
    ['word/document.xml', 'word', '.docx'],
    ['xl/workbook.xml', 'sheet', '.xlsx'],
    ['ppt/presentation.xml', 'slides', '.pptx'],
  ] as const)
    if (zip.has(part)) return { kind: 'opc', extension, family, opc, mainPart: part };
  if (main && !zip.has(main.target))
    throw new ParseError('DOCUMENT_CORRUPT', 'The document is corrupt: its main part is missing');
  throw unsupported('a package that holds no Word, Excel or PowerPoint document');
}
