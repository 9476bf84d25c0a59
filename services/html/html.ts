// Reads HTML and XHTML files: decodes the bytes, because the render pipeline does everything else.
import type { ConvertedDocument, SourceFile } from '#shared/document/document.ts';
import { decodeText } from '#shared/readers/charset.ts';

/** True for the extension `.xhtml`, or if the text starts with an XML declaration. */
function isXhtml(extension: string, text: string): boolean {
  return extension === '.xhtml' || /^\s{0,100}<\?xml\s/.test(text.slice(0, 200));
}

/** Decodes a web page. The charset is detected as in browsers: byte order mark, content type, declaration, then the bytes. */
export function convertHtml(file: SourceFile): ConvertedDocument {
  const { text } = decodeText(file.bytes, {
    markup: true,
    ...(file.charset === undefined ? {} : { charset: file.charset }),
  });
  const warnings = text.trim() === '' ? ['The document contains no text'] : [];
  return { genre: 'webpage', html: text, rawHtml: text, xhtml: isXhtml(file.extension, text), metadata: {}, warnings };
}
