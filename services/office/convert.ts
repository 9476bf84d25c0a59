// Converts any office file into semantic HTML: detects its kind, converts legacy formats first, and calls the reader of the format.
import { ParseError } from '#shared/contract/errors.ts';
import { type Extension, formatByExtension } from '#shared/contract/formats.ts';
import type { DocumentMetadata, JobContext, RenderOptions } from '#shared/contract/jobs.ts';
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { PictureCollection } from '#shared/document/pictures.ts';
import { openZip } from '#shared/readers/zip.ts';
import { type OfficeFile, openOffice } from './container.ts';
import { readDocx } from './docx/document.ts';
import type { PictureOptions } from './drawing.ts';
import type { TargetExtension } from './libreoffice/office-process.ts';
import type { convertLegacy } from './libreoffice/soffice.ts';
import { flatParts, packageParts, readOdf } from './odf/document.ts';
import { OpcPackage } from './opc.ts';
import { readProperties } from './properties.ts';
import { checkRtfSize } from './rtf-size.ts';
import { readWorkbook } from './sheet/workbook.ts';
import { type SheetContent, writeSheets } from './sheet/write.ts';
import { readPptx } from './slides/presentation.ts';

/** The format that LibreOffice converts each legacy format to. */
const MODERN: Partial<Record<Extension, TargetExtension>> = {
  '.doc': 'docx',
  '.rtf': 'docx',
  '.xls': 'xlsx',
  '.xlsb': 'xlsx',
  '.ppt': 'pptx',
};

/**
 * Converts one office document.
 * @param convert converts a legacy document to a modern one
 * @throws ParseError DOCUMENT_ENCRYPTED, DOCUMENT_CORRUPT, DOCUMENT_TOO_COMPLEX, UNSUPPORTED_FILE_TYPE, SERVICE_UNAVAILABLE
 */
export async function convertOffice(
  file: SourceFile,
  options: RenderOptions,
  context: JobContext,
  convert: typeof convertLegacy,
): Promise<ConvertedDocument> {
  try {
    const office = await openOffice(file);
    const readable = await modernize(office, file, context, convert);
    const pictures: PictureOptions = {
      embed: !options.removeBase64Images,
      ...(options.embeddedImages ? { collection: new PictureCollection() } : {}),
    };
    const { html, markdown, streamed, metadata } = await read(readable, options, pictures);
    const contentType = formatByExtension(office.extension)?.mimeTypes[0];
    return {
      genre: 'document',
      html,
      ...(markdown === undefined ? {} : { markdown }),
      ...(streamed ? { streamed } : {}),
      ...(pictures.collection ? { pictures: pictures.collection } : {}),
      metadata: { ...metadata, ...(contentType === undefined ? {} : { contentType }) },
      warnings: [],
    };
  } catch (cause) {
    // Readers are recursive. The nesting depth of a document is limited, but the call stack can still overflow.
    if (cause instanceof RangeError && /call stack/i.test(cause.message))
      throw new ParseError('DOCUMENT_TOO_COMPLEX', 'The document has too many levels of nesting', { cause });
    throw cause;
  }
}

async function modernize(
  office: OfficeFile,
  file: SourceFile,
  context: JobContext,
  convert: typeof convertLegacy,
): Promise<OfficeFile> {
  const target = MODERN[office.extension];
  if (target === undefined) return office;
  if (office.extension === '.rtf') checkRtfSize(file.bytes);
  const { signal, volatile } = context;
  const bytes = await convert(file.bytes, office.extension, target, { signal, volatile });
  const opc = new OpcPackage(await openZip(bytes));
  const mainPart = { docx: 'word/document.xml', xlsx: 'xl/workbook.xml', pptx: 'ppt/presentation.xml' }[target];
  const family = { docx: 'word', xlsx: 'sheet', pptx: 'slides' } as const;
  return { kind: 'opc', extension: `.${target}`, family: family[target], opc, mainPart };
}

async function read(
  office: OfficeFile,
  options: RenderOptions,
  pictures: PictureOptions,
): Promise<SheetContent & { metadata: DocumentMetadata }> {
  if (office.kind === 'odf') return readOdf(packageParts(office.zip), options, pictures);
  if (office.kind === 'flat') return readOdf(flatParts(office.xml), options, pictures);
  if (office.kind === 'legacy') throw new ParseError('CONVERSION_FAILED');
  const { opc, mainPart } = office;
  const metadata = readProperties(opc.tree(opc.related('', 'core-properties')[0]?.target));
  switch (office.family) {
    case 'word':
      return { html: readDocx(opc, mainPart, pictures), metadata };
    case 'sheet':
      return { ...writeSheets(await readWorkbook(opc, mainPart, pictures), options), metadata };
    default:
      return { html: readPptx(opc, mainPart, pictures), metadata };
  }
}
