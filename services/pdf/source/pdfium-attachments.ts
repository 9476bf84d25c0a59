// Reads the names of the files that a PDF carries: those of the whole document, and those that an annotation puts on a page (ISO 32000-1, 7.11.4 and 12.5.6.15).
import { DOCUMENT_LIMITS } from '#shared/contract/limits.ts';
import { decodeUtf16, type Pdfium, readSized } from './pdfium-module.ts';

/** The names of the files of a whole document; what these files hold is not read. */
export function readAttachments(pdfium: Pdfium, document: number): string[] {
  const count = Math.min(pdfium.FPDFDoc_GetAttachmentCount(document), DOCUMENT_LIMITS.pdfAttachments);
  const names: string[] = [];
  for (let n = 0; n < count; n++) {
    const name = attachmentName(pdfium, pdfium.FPDFDoc_GetAttachment(document, n));
    if (name !== '') names.push(name);
  }
  return names;
}

/** The name of the file of a FileAttachment annotation; '' where it has none. */
export function attachedName(pdfium: Pdfium, annotation: number): string {
  return attachmentName(pdfium, pdfium.FPDFAnnot_GetFileAttachment(annotation));
}

function attachmentName(pdfium: Pdfium, attachment: number): string {
  if (attachment === 0) return '';
  const name = decodeUtf16(
    readSized(pdfium, (buffer, size) => pdfium.FPDFAttachment_GetName(attachment, buffer, size)),
  );
  return name
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, DOCUMENT_LIMITS.pdfMetadataLength);
}
