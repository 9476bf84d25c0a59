// Reads HTML and XHTML files: decodes the bytes, and leaves everything else to the render pipeline.
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { decodeText } from '#shared/readers/charset.ts';

/** XHTML has the extension, or an XML declaration. */
function isXhtml(extension: string, text: string): boolean {
  return extension === '.xhtml' || /^\s{0,100}<\?xml\s/.test(text.slice(0, 200));
}

/** A web page as text. The charset is found as in browsers: byte order mark, content type, declaration, then the bytes. */
export function convertHtml(file: SourceFile): ConvertedDocument {
  const { text } = decodeText(file.bytes, {
    markup: true,
    ...(file.charset === undefined ? {} : { charset: file.charset }),
  });
  const warnings = text.trim() === '' ? ['The document contains no text'] : [];
  return { genre: 'webpage', html: text, rawHtml: text, xhtml: isXhtml(file.extension, text), metadata: {}, warnings };
}
