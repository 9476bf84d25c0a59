// Runs only PDFium's part of reading a PDF in a child process: opening it, loading each page, characters, boxes and objects.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { copyIn, loadPdfium } from '#services/pdf/source/pdfium-module.ts';

const pdfium = await loadPdfium();
const scratch = pdfium.malloc(64);

function readDocument(bytes: Uint8Array): boolean {
  const file = copyIn(pdfium, bytes);
  const document = pdfium.FPDF_LoadMemDocument(file, bytes.length, 0);
  const pages = document === 0 ? 0 : pdfium.FPDF_GetPageCount(document);
  for (let index = 0; index < pages; index++) {
    const page = pdfium.FPDF_LoadPage(document, index);
    const text = pdfium.FPDFText_LoadPage(page);
    const characters = pdfium.FPDFText_CountChars(text);
    for (let at = 0; at < characters; at++) {
      pdfium.FPDFText_GetUnicode(text, at);
      pdfium.FPDFText_GetLooseCharBox(text, at, scratch);
    }
    const objects = pdfium.FPDFPage_CountObjects(page);
    for (let at = 0; at < objects; at++) pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page, at));
    pdfium.FPDFText_ClosePage(text);
    pdfium.FPDF_ClosePage(page);
  }
  if (document !== 0) pdfium.FPDF_CloseDocument(document);
  pdfium.free(file);
  return pages > 0;
}

console.log('ready');
for await (const path of createInterface({ input: process.stdin }))
  console.log(readDocument(readFileSync(path)) ? 'ok' : 'no');
