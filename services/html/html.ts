// Reads HTML and XHTML files: their bytes as text, unmodified; all else is the render pipeline's.
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { decodeText } from '#shared/readers/charset.ts';

/** XHTML by name, or by an XML declaration, which no HTML writer makes by accident. */
function isXhtml(extension: string, text: string): boolean {
  return extension === '.xhtml' || /^\s{0,100}<\?xml\s/.test(text.slice(0, 200));
}

/** A web page as text. The charset is found as browsers do: BOM, content type, declaration in the head, then the bytes. */
export function convertHtml(file: SourceFile): ConvertedDocument {
  const { text } = decodeText(file.bytes, {
    markup: true,
    ...(file.charset === undefined ? {} : { charset: file.charset }),
  });
  const warnings = text.trim() === '' ? ['The document holds no text'] : [];
  return { genre: 'webpage', html: text, rawHtml: text, xhtml: isXhtml(file.extension, text), metadata: {}, warnings };
}
