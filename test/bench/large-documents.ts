// Generates large documents of few kinds of content, to measure the memory that their conversion needs.
import { zipOf } from '../harness/zip.ts';
import type { Input } from './inputs.ts';

const CSV_BYTES = 50_000_000;
const RTF_BYTES = 46_000_000;
const SHEET_ROWS = 1_000_000;
const SHARED_TEXTS = 1_000;
const WORDS = 'harbour tide ledger berth cargo vessel pilot anchor manifest customs quay channel'.split(' ');
const OPC = 'http://schemas.openxmlformats.org';

/** The same numbers in every run, from 0 to below 2^31. */
function* numbers(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    yield state;
  }
}

function wordsOf(random: Iterator<number, never>, count: number): string {
  const words: string[] = [];
  for (let i = 0; i < count; i++) words.push(WORDS[(random.next().value >> 8) % WORDS.length] ?? '');
  return words.join(' ');
}

/** Joins lines into bytes without one string of them all. */
function linesOf(bytes: number, head: string, line: (index: number) => string, tail = ''): Buffer {
  const parts: Buffer[] = [Buffer.from(head)];
  let size = 0;
  for (let index = 0; size < bytes; ) {
    let text = '';
    for (let i = 0; i < 1_000; i++) text += line(index++);
    const part = Buffer.from(text);
    parts.push(part);
    size += part.length;
  }
  parts.push(Buffer.from(tail));
  return Buffer.concat(parts);
}

/** 50 MB of rows as a database exports them: numbers, dates, words, quoted texts and some characters outside of ASCII. */
export function largeCsv(): Input {
  const random = numbers();
  const bytes = linesOf(CSV_BYTES, 'id,day,vessel,berth,weight,note,port\n', (index) => {
    const number = random.next().value;
    const day = `20${10 + (number % 15)}-${String(1 + (number % 12)).padStart(2, '0')}-${String(1 + (number % 28)).padStart(2, '0')}`;
    return `${index},${day},${wordsOf(random, 1)},B${number % 97},${(number / 1000).toFixed(2)},"${wordsOf(random, 6)}, ${wordsOf(random, 2)}",${index % 9 === 0 ? 'Tromsø' : 'Bergen'}\n`;
  });
  return { name: 'large.csv', extension: '.csv', bytes };
}

/** 46 MB of paragraphs with bold runs. */
export function largeRtf(): Input {
  const random = numbers();
  const bytes = linesOf(
    RTF_BYTES,
    '{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Times New Roman;}}\n',
    (index) => `\\pard ${index}. ${wordsOf(random, 20)} {\\b ${wordsOf(random, 3)}} ${wordsOf(random, 20)}.\\par\n`,
    '}',
  );
  return { name: 'large.rtf', extension: '.rtf', bytes };
}

/**
 * A workbook of one sheet with four cells a row: a text, a number, a date and another text.
 * @param texts `few`: cells refer to 1,000 shared strings; `unique`: each row has a shared string of its own
 * @param rowCount a multiple of 1,000
 */
export function largeWorkbook(texts: 'few' | 'unique', rowCount = SHEET_ROWS): Input {
  const random = numbers();
  const strings = texts === 'few' ? SHARED_TEXTS : rowCount;
  let index = 0;
  const shared = stringsPart(strings, () => `${wordsOf(random, 3)} ${index++}`);
  const row = (at: number): string => {
    const number = random.next().value;
    const r = at + 1;
    const text = texts === 'few' ? number % strings : at;
    return `<row r="${r}"><c r="A${r}" t="s"><v>${text}</v></c><c r="B${r}"><v>${number / 100}</v></c><c r="C${r}" s="1"><v>${40_000 + (number % 5_000)}</v></c><c r="D${r}" t="s"><v>${number % SHARED_TEXTS}</v></c></row>`;
  };
  const parts: Buffer[] = [Buffer.from(`<worksheet xmlns="${OPC}/spreadsheetml/2006/main"><sheetData>`)];
  for (let at = 0; at < rowCount; at += 1_000) {
    let text = '';
    for (let i = 0; i < 1_000; i++) text += row(at + i);
    parts.push(Buffer.from(text));
  }
  parts.push(Buffer.from('</sheetData></worksheet>'));
  return { name: `large-${texts}.xlsx`, extension: '.xlsx', bytes: workbookOf(Buffer.concat(parts), shared) };
}

function stringsPart(count: number, text: () => string): Buffer {
  const parts: Buffer[] = [Buffer.from(`<sst xmlns="${OPC}/spreadsheetml/2006/main">`)];
  for (let at = 0; at < count; at += 1_000) {
    let items = '';
    for (let i = 0; i < 1_000; i++) items += `<si><t>${text()}</t></si>`;
    parts.push(Buffer.from(items));
  }
  parts.push(Buffer.from('</sst>'));
  return Buffer.concat(parts);
}

function workbookOf(sheet: Uint8Array, strings: Uint8Array): Buffer {
  const main = `${OPC}/spreadsheetml/2006/main`;
  const types = `${OPC}/package/2006/content-types`;
  const links = `${OPC}/package/2006/relationships`;
  const office = `${OPC}/officeDocument/2006/relationships`;
  return zipOf([
    {
      name: '[Content_Types].xml',
      content: `<Types xmlns="${types}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`,
    },
    {
      name: '_rels/.rels',
      content: `<Relationships xmlns="${links}"><Relationship Id="r1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `<Relationships xmlns="${links}"><Relationship Id="r1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="${office}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="r3" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      content: `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Log" sheetId="1" r:id="r1"/></sheets></workbook>`,
    },
    {
      name: 'xl/styles.xml',
      content: `<styleSheet xmlns="${main}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    },
    { name: 'xl/sharedStrings.xml', content: strings },
    { name: 'xl/worksheets/sheet1.xml', content: sheet },
  ]);
}
