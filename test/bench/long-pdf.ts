// Generates a PDF of any length whose pages have a running header, a heading, prose and a ruled table.
import { PDFDocument, type PDFFont, type PDFPage, StandardFonts } from 'pdf-lib';
import type { Input } from './inputs.ts';

const WORDS =
  'the harbour master keeps a ledger of every vessel that enters with its tonnage draught cargo and the day on which pilots boarded it before weather turned'.split(
    ' ',
  );
const HEAD = ['Vessel', 'Tons', 'Draught', 'Days'];
const LINE_WIDTH = 430;
const LEFT = 60;

/** Creates a generator of pseudorandom integers below `limit`, which are the same in every run. */
function createRandom(): (limit: number) => number {
  let seed = 1;
  return (limit) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >> 8) % limit;
  };
}

export async function longPdf(pages: number): Promise<Input> {
  const document = await PDFDocument.create();
  const plain = await document.embedFont(StandardFonts.TimesRoman);
  const bold = await document.embedFont(StandardFonts.HelveticaBold);
  const random = createRandom();
  for (let number = 1; number <= pages; number++) {
    const page = document.addPage([595, 842]);
    page.drawText(`Harbour ledger, volume ${1 + (number >> 7)}`, { x: LEFT, y: 805, size: 9, font: plain });
    page.drawText(String(number), { x: 300, y: 30, size: 9, font: plain });
    page.drawText(`${number} Entries of week ${number}`, { x: LEFT, y: 760, size: 15, font: bold });
    drawTable(page, drawProse(page, 734, plain, random), plain, random);
  }
  const bytes = Buffer.from(await document.save());
  return { name: `ledger-${pages}.pdf`, extension: '.pdf', bytes };
}

type Random = ReturnType<typeof createRandom>;

function drawProse(page: PDFPage, top: number, font: PDFFont, random: Random): number {
  let y = top;
  for (let paragraph = 0; paragraph < 6; paragraph++) {
    for (let line = 0; line < 6; line++) {
      let text = '';
      for (let width = 0; width < LINE_WIDTH; ) {
        const word = `${text === '' ? '' : ' '}${WORDS[random(WORDS.length)]}${random(9) === 0 ? random(9_999) : ''}`;
        width += font.widthOfTextAtSize(word, 10.5);
        text += word;
      }
      page.drawText(text, { x: LEFT, y, size: 10.5, font });
      y -= 13.5;
    }
    y -= 9;
  }
  return y;
}

function drawTable(page: PDFPage, top: number, font: PDFFont, random: Random): void {
  const rule = (y: number) => page.drawLine({ start: { x: LEFT, y }, end: { x: 500, y }, thickness: 0.5 });
  let y = top;
  for (let row = 0; row < 7; row++) {
    rule(y + 11);
    HEAD.forEach((name, column) => {
      const text = row === 0 ? name : column === 0 ? (WORDS[random(WORDS.length)] ?? '') : String(random(9_000));
      page.drawText(text, { x: LEFT + 4 + column * 110, y, size: 10, font });
    });
    y -= 15;
  }
  rule(y + 11);
}
