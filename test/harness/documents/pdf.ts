// Generates PDF files with text pages, image-only pages and blank pages, and PDF files of a given size.
import { PDFDocument, type PDFImage, rgb, StandardFonts } from 'pdf-lib';

export interface PdfPage {
  title?: string;
  lines?: readonly string[];
  /** Rows of a ruled table below the lines. */
  table?: readonly (readonly string[])[];
}

/** A document with fixed dates, so that the same content always gives the same bytes. */
async function createDocument(): Promise<PDFDocument> {
  const document = await PDFDocument.create();
  document.setCreationDate(new Date('2024-05-01T12:00:00Z'));
  document.setModificationDate(new Date('2024-05-01T12:00:00Z'));
  return document;
}

/** A PDF with one A4 page per item: the title at 24 pt, each line at 11 pt as its own paragraph, and a ruled table. */
export async function pdf(pages: readonly PdfPage[], { title }: { title?: string } = {}): Promise<Uint8Array> {
  const document = await createDocument();
  if (title !== undefined) document.setTitle(title);
  const plain = await document.embedFont(StandardFonts.Helvetica);
  const bold = await document.embedFont(StandardFonts.HelveticaBold);
  for (const { title: heading, lines = [], table = [] } of pages) {
    const page = document.addPage([595, 842]);
    let y = 770;
    if (heading !== undefined) {
      page.drawText(heading, { x: 60, y, size: 24, font: bold });
      y -= 50;
    }
    for (const line of lines) {
      page.drawText(line, { x: 60, y, size: 11, font: plain });
      y -= 34;
    }
    for (const row of table) {
      row.forEach((cell, column) => {
        page.drawRectangle({
          x: 60 + column * 150,
          y: y - 8,
          width: 150,
          height: 24,
          borderWidth: 1,
          borderColor: rgb(0, 0, 0),
        });
        page.drawText(cell, { x: 66 + column * 150, y, size: 11, font: plain });
      });
      y -= 24;
    }
  }
  return document.save({ useObjectStreams: false });
}

/** A PDF with image-only pages, as a scanner writes it. An image that is passed several times is embedded once. */
export async function imagePdf(pngs: readonly Uint8Array[]): Promise<Uint8Array> {
  const document = await createDocument();
  const embedded = new Map<Uint8Array, PDFImage>();
  for (const bytes of pngs) {
    const image = embedded.get(bytes) ?? (await document.embedPng(bytes));
    embedded.set(bytes, image);
    document.addPage([595, 842]).drawImage(image, { x: 0, y: 0, width: 595, height: 842 });
  }
  return document.save();
}

/** A PDF with `count` blank pages. */
export async function blankPdf(count = 1): Promise<Uint8Array> {
  const document = await createDocument();
  for (let index = 0; index < count; index++) document.addPage([595, 842]);
  return document.save();
}

/** A one-line PDF that is padded to exactly `size` bytes, so that its conversion is fast. */
export async function pdfOfSize(size: number): Promise<Buffer> {
  const small = Buffer.from(await pdf([{ lines: ['Heavy but short.'] }]));
  // The padding is a comment (ISO 32000-1, 7.2.3) before `startxref`, because readers search the end of the file for it.
  const at = small.lastIndexOf('startxref');
  return Buffer.concat([
    small.subarray(0, at),
    Buffer.from('%'),
    Buffer.alloc(size - small.length - 2, 0x20),
    Buffer.from('\n'),
    small.subarray(at),
  ]);
}
