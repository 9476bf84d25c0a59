// Chooses the engine that reads a file: PDFium, and where it refuses, pdf.js.
import { ParseError } from '#shared/contract/errors.ts';
import { EngineCrashError, type EngineOpener, OpenRefusedError, type PageSource } from './page-source.ts';
import { openWithPdfium } from './pdfium-source.ts';
import { openWithPdfjs } from './pdfjs-source.ts';

/**
 * Opens a PDF with the first engine that reads it.
 * @throws ParseError DOCUMENT_ENCRYPTED (a password is needed or wrong), DOCUMENT_CORRUPT (nothing can read it, or it has no page).
 */
export async function openPageSource(
  bytes: Uint8Array,
  password: string | undefined,
  engines: readonly EngineOpener[] = [openWithPdfium, openWithPdfjs],
): Promise<PageSource> {
  let firstRefusal: unknown;
  let wantsPassword = false;
  for (const open of engines) {
    try {
      const source = await open(bytes, password);
      if (source.pageCount > 0) return source;
      await source.close();
    } catch (error) {
      if (!(error instanceof OpenRefusedError || error instanceof EngineCrashError)) throw error;
      firstRefusal ??= error;
      if (error instanceof OpenRefusedError && error.reason === 'password') {
        wantsPassword = true;
        break;
      }
    }
  }
  if (wantsPassword)
    throw new ParseError(
      'DOCUMENT_ENCRYPTED',
      password === undefined
        ? 'The PDF is encrypted and needs a password: send it as `password` of the pdf parser, for example {"parsers":[{"type":"pdf","password":"..."}]}'
        : 'The password given for the encrypted PDF does not open it: check `password` of the pdf parser',
      { cause: firstRefusal },
    );
  throw new ParseError(
    'DOCUMENT_CORRUPT',
    firstRefusal === undefined
      ? 'The PDF has no pages: export it again from the program that made it'
      : 'The PDF is damaged beyond repair or is not a PDF: open it in a viewer and save or print it to a new PDF, then send that',
    { cause: firstRefusal },
  );
}
