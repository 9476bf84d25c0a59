// Small documents for the browser cases.
import { readFile } from 'node:fs/promises';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { pngOf } from '../harness/documents/pictures.ts';

export const SAMPLE = await readFile(new URL('../../fixtures/pdf/sample.pdf', import.meta.url));

/** A PDF with a heading and a paragraph on each page; the paragraph names its page. */
export async function longTextPdf(pages: number): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.TimesRoman);
  for (let number = 1; number <= pages; number++) {
    const page = document.addPage([595, 842]);
    page.drawText(`Week ${number} of the ledger`, { x: 60, y: 760, size: 18, font });
    page.drawText(`The keeper counts every ship that passes, and writes its name on page ${number}.`, {
      x: 60,
      y: 720,
      size: 11,
      font,
    });
  }
  return document.save();
}

/** An HTML page with personal data of four kinds. */
export const PERSONAL = `<!doctype html><html lang="en"><title>Contacts</title><h1>Contacts</h1>
<p>Write to Jane Miller at jane.miller@example.com or call +1 415 555 2671.</p>
<p>The office is at 12 Baker Street, London. The card is 4111 1111 1111 1111.</p>`;

/** An HTML page with a table whose cells need quotes in CSV. */
export const TABLES = `<!doctype html><html lang="en"><title>Tides</title><h1>Tides</h1>
<table><tr><th>Tide</th><th>Time</th></tr><tr><td>High, spring</td><td>04:12</td></tr><tr><td>"Low"</td><td>10:31</td></tr></table>
<p>Between the tables.</p>
<table><tr><th colspan="2">Heights</th></tr><tr><td>3.9</td><td>0.8</td></tr></table>
<p>See <a href="https://example.org/tides">the method</a>.</p>`;

/** An HTML page with a PNG file. */
export const PICTURE = `<!doctype html><html lang="en"><title>Dot</title><p>Before the picture.</p>
<img alt="A blue field" src="data:image/png;base64,${(await pngOf(40, 30, '#205080')).toString('base64')}">`;
