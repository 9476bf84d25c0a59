// Holds the converter to what our fixtures show, file by file, with the real engines; OCR answers come from a scripted bus.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { PDFDocument, PDFName, PDFString, StandardFonts } from 'pdf-lib';
import { ParseError } from '#shared/contract/errors.ts';
import type { JobContext, OcrJob, OcrPage, RenderOptions } from '#shared/contract/jobs.ts';
import type { JobProgress } from '#shared/contract/progress.ts';
import type { ConvertedDocument, PagedBlock } from '#shared/document/document.ts';
import { convertPdf } from './convert.ts';

type PdfOptions = RenderOptions['pdf'];

function options(pdf: Partial<PdfOptions> = {}): RenderOptions {
  return {
    fields: ['markdown'],
    includeTags: [],
    excludeTags: [],
    onlyMainContent: true,
    blockAds: true,
    removeBase64Images: true,
    pdf: { mode: 'auto', pages: false, blocks: false, pageMarkers: false, ...pdf },
  };
}

type OcrAnswer = (job: OcrJob, pixels: Uint8Array) => OcrPage;

function context(ocr?: OcrAnswer): JobContext {
  return {
    signal: new AbortController().signal,
    deadline: Date.now() + 600_000,
    requestId: 'request-1',
    volatile: false,
    async call<Reply>(queue: string, job: unknown, payload: Uint8Array) {
      if (!ocr || queue !== 'ocr') throw new ParseError('SERVICE_UNAVAILABLE');
      return { reply: ocr(job as OcrJob, payload) as Reply };
    },
  };
}

async function fixture(name: string): Promise<Uint8Array> {
  return readFile(new URL(`../../fixtures/pdf/${name}`, import.meta.url));
}

async function convert(name: string, pdf: Partial<PdfOptions> = {}, ocr?: OcrAnswer): Promise<ConvertedDocument> {
  return convertPdf({ bytes: await fixture(name), fileName: name, extension: '.pdf' }, options(pdf), context(ocr));
}

function blocks(document: ConvertedDocument): PagedBlock[] {
  return (document.pages ?? []).flatMap((page) => page.blocks);
}

function texts(document: ConvertedDocument): string[] {
  return blocks(document)
    .filter((block) => !block.furniture)
    .map((block) => block.html.replace(/<[^>]+>/g, ''));
}

test('reports each page of the text layer that is read, up to maxPages', async () => {
  const document = await PDFDocument.create();
  for (let page = 0; page < 5; page++) document.addPage().drawText(`Words of page ${page}`);
  const reports: JobProgress[] = [];
  await convertPdf(
    { bytes: await document.save(), fileName: 'five.pdf', extension: '.pdf' },
    options({ maxPages: 4 }),
    { ...context(), progress: (report) => void reports.push(report) },
  );
  assert.deepEqual(
    reports,
    [0, 1, 2, 3, 4].map((pagesDone) => ({ stage: 'convert', pagesDone, pages: 4 })),
  );
});

test('headings by size, number and weight become a title and levels; words broken at line ends are whole again', async () => {
  const document = await convert('headings.pdf');
  const found = blocks(document).filter((block) => block.type !== 'text');
  assert.deepEqual(
    found.map((block) => block.html),
    ['<h1>Rivers and Markets</h1>', '<h2>1 The Valley</h2>', '<h3>1.1 Houses on Mounds</h3>', '<h2>2 The Square</h2>'],
  );
  assert.deepEqual(
    found.map((block) => block.type),
    ['title', 'section_header', 'section_header', 'section_header'],
  );
  const all = texts(document).join('\n');
  assert.match(all, /over the meadows, where/);
  assert.doesNotMatch(all, /\p{L}- \p{L}/u);
  assert.match(
    blocks(document).at(-1)?.html ?? '',
    /^<p><strong>Weather<\/strong> turns quickly here; take a coat\.<sup>1<\/sup><\/p>$/,
  );
});

test('what the file says of itself is in the metadata, dates in ISO form', async () => {
  const { metadata } = await convert('headings.pdf');
  assert.equal(metadata.title, 'Rivers and Markets');
  assert.equal(metadata.author, 'A. Writer');
  assert.equal(metadata.description, 'A fixture about headings');
  assert.equal(metadata.language, 'en-GB');
  assert.equal(metadata.creationDate, '2024-05-06T07:08:09.000Z');
  assert.equal(metadata.numPages, 1);
});

test('two columns are read one after the other, and running heads and numbers are furniture', async () => {
  const document = await convert('two-columns-furniture.pdf');
  const all = texts(document).join(' ');
  const marks = [...all.matchAll(/(Left|Right) (\d)\.(\d)/g)].map((match) => `${match[2]}${match[1]}${match[3]}`);
  assert.ok(marks.length >= 40);
  assert.deepEqual(marks, [...marks].sort());
  assert.doesNotMatch(all, /Journal of Rivers/);
  const furniture = blocks(document).filter((block) => block.furniture);
  assert.deepEqual(
    furniture.map((block) => block.type),
    ['page_header', 'page_number', 'page_header', 'page_number', 'page_header', 'page_number'],
  );
  assert.equal(blocks(document).filter((block) => block.type === 'table').length, 0);
});

test('a paragraph that a column breaks carries on', async () => {
  const document = await convert('two-columns-furniture.pdf');
  assert.ok(
    blocks(document).every((block) => block.continues === undefined || !/^<p>(Left|Right) \d/.test(block.html)),
  );
});

test('lists nest by indent and keep their numbers', async () => {
  const document = await convert('lists-nested-ordered.pdf');
  const lists = blocks(document)
    .map((block) => block.html)
    .filter((html) => /^<[uo]l/.test(html));
  assert.equal(lists.length, 2);
  assert.match(
    lists[0] ?? '',
    /last of the stalls<\/li><li>coins<ul><li>copper<\/li><li>silver<\/li><\/ul><\/li><li>a coat<\/li><\/ul>$/,
  );
  assert.equal(lists[1], '<ol><li>walk to the square</li><li>look at every stall</li><li>go home</li></ol>');
});

test('tables: drawn with lines and spanning heads, between rules with a wrapped cell, and by white space alone', async () => {
  const tables = blocks(await convert('tables-ruled-booktabs-bare.pdf')).filter((block) => block.type === 'table');
  assert.deepEqual(
    tables.map((block) => block.html),
    [
      '<table><thead><tr><th rowspan="2">River</th><th colspan="2">Length in km</th></tr><tr><th>Upper</th><th>Lower</th></tr></thead><tbody><tr><td>Aar</td><td>120</td><td>173</td></tr><tr><td>Bode</td><td>88</td><td>81</td></tr></tbody></table>',
      '<table><thead><tr><th>Goods</th><th>Where from</th><th>Price</th></tr></thead><tbody><tr><td>Cheese</td><td>the farms in the upper valley</td><td>4.50</td></tr><tr><td>Bread</td><td>the town</td><td>2.00</td></tr><tr><td>Cloth</td><td>the mill</td><td>19.90</td></tr></tbody></table>',
      '<table><thead><tr><th>Year</th><th>Visitors</th><th>Stalls</th><th>Income</th></tr></thead><tbody><tr><td>2019</td><td>1,204</td><td>45</td><td>88.1</td></tr><tr><td>2020</td><td>310</td><td>12</td><td>20.4</td></tr><tr><td>2021</td><td>998</td><td>40</td><td>71.9</td></tr></tbody></table>',
    ],
  );
});

test('a table over a page break is one table with one head', async () => {
  const tables = blocks(await convert('table-over-page-break.pdf')).filter((block) => block.type === 'table');
  assert.equal(tables.length, 1);
  assert.equal(tables[0]?.html.match(/Town/g)?.length, 1);
  assert.match(tables[0]?.html ?? '', /Aa.*Bb.*Cc.*Dd/);
});

test('turned, cropped, linked, overprinted and empty pages', async () => {
  const document = await convert('rotated-cropped-linked-overprinted-empty.pdf');
  const [turned, cropped, linked, printed, empty] = document.pages ?? [];
  assert.equal(turned?.blocks[0]?.html, '<p>This page is shown turned to the right.</p>');
  const box = turned?.blocks[0]?.bbox ?? [0, 0, 0, 0];
  assert.ok(box[2] - box[0] > (box[3] - box[1]) * 3, 'the box is upright as displayed');
  assert.deepEqual(
    cropped?.blocks.map((block) => block.html),
    ['<p>Inside the crop box</p>'],
  );
  assert.equal(linked?.blocks[0]?.html, '<p>Read the <a href="https://example.org/handbook">handbook</a> first.</p>');
  assert.equal(printed?.blocks[0]?.html.match(/Printed/g)?.length, 1);
  assert.equal(printed?.blocks[1]?.html, '<pre><code>const answer = 42;\n  return answer;</code></pre>');
  assert.deepEqual(empty?.blocks, []);
  assert.deepEqual(document.warnings, []);
});

test('an encrypted file wants its password and opens with it', async () => {
  await assert.rejects(convert('encrypted-river.pdf'), {
    code: 'DOCUMENT_ENCRYPTED',
    message: /needs a password.*`password`/,
  });
  await assert.rejects(convert('encrypted-river.pdf', { password: 'lake' }), {
    code: 'DOCUMENT_ENCRYPTED',
    message: /does not open/,
  });
  assert.deepEqual(texts(await convert('encrypted-river.pdf', { password: 'river' })), [
    'Only for those who know the word.',
  ]);
});

test('what no engine can read is DOCUMENT_CORRUPT, whatever it is', async () => {
  await assert.rejects(convert('corrupt-truncated.pdf'), { code: 'DOCUMENT_CORRUPT' });
  for (const bytes of [new Uint8Array(0), new TextEncoder().encode('%PDF-1.7\n%%EOF'), new Uint8Array(5_000).fill(37)])
    await assert.rejects(convertPdf({ bytes, fileName: 'x.pdf', extension: '.pdf' }, options(), context()), {
      code: 'DOCUMENT_CORRUPT',
    });
});

const ocrAnswer: OcrAnswer = (job) => ({
  width: job.width,
  height: job.height,
  rotation: 0,
  confidence: 0.9,
  lines: [
    {
      box: [50, 60, 400, 90],
      height: 22,
      words: [
        { text: 'Harbour', box: [50, 60, 200, 90], confidence: 0.95 },
        { text: 'report', box: [210, 60, 320, 90], confidence: 0.85 },
      ],
    },
  ],
});

test('auto sends only the page without text to OCR, at a bounded size, and its words take the same way', async () => {
  const jobs: OcrJob[] = [];
  const document = await convert('scan-then-text.pdf', {}, (job, pixels) => {
    jobs.push(job);
    assert.equal(pixels.length, job.width * job.height);
    return ocrAnswer(job, pixels);
  });
  assert.deepEqual(
    jobs.map((job) => job.pageNumber),
    [1],
  );
  const first = document.pages?.[0];
  assert.equal(first?.width, jobs[0]?.width);
  assert.equal(first?.status, 'ok');
  assert.equal(first?.blocks[0]?.source, 'layout_ocr');
  assert.equal(first?.blocks[0]?.confidence.ocr, 0.9);
  assert.match(first?.blocks[0]?.html ?? '', /Harbour report/);
  const second = document.pages?.[1];
  assert.equal(second?.width, null);
  assert.deepEqual(
    second?.blocks.map((block) => block.type),
    ['text', 'figure', 'caption'],
  );
});

test('mode ocr sends every page, mode fast none and says so', async () => {
  const seen: number[] = [];
  await convert('scan-then-text.pdf', { mode: 'ocr' }, (job, pixels) => {
    seen.push(job.pageNumber);
    return ocrAnswer(job, pixels);
  });
  assert.deepEqual(seen.sort(), [1, 2]);
  const fast = await convert('scan-then-text.pdf', { mode: 'fast' });
  assert.deepEqual(fast.warnings, ['page 1 has no text layer; use mode auto or ocr']);
});

test('a page that OCR fails on is told, the others go on; nothing read at all is the fault itself', async () => {
  const document = await convert('scan-then-text.pdf');
  assert.equal(document.pages?.[0]?.status, 'failed');
  assert.deepEqual(document.warnings, ['page 1 could not be read by OCR']);
  assert.match(texts(document).join(' '), /has a text layer/);
  await assert.rejects(convert('scan-then-text.pdf', { maxPages: 1 }), { code: 'SERVICE_UNAVAILABLE' });
});

test('OCR gets the languages of the request; a language that is not installed ends the document with 400', async () => {
  const seen: string[][] = [];
  await convert('scan-then-text.pdf', { languages: ['deu', 'eng'] }, (job, pixels) => {
    seen.push(job.languages);
    return ocrAnswer(job, pixels);
  });
  await convert('scan-then-text.pdf', {}, (job, pixels) => {
    seen.push(job.languages);
    return ocrAnswer(job, pixels);
  });
  assert.deepEqual(seen, [['deu', 'eng'], []]);
  const refuse = (): OcrPage => {
    throw new ParseError('BAD_REQUEST', 'not installed');
  };
  await assert.rejects(convert('scan-then-text.pdf', {}, refuse), { code: 'BAD_REQUEST', message: 'not installed' });
});

test('a passed deadline ends the work', async () => {
  const late: JobContext = { ...context(), signal: AbortSignal.abort(new ParseError('REQUEST_TIMEOUT')) };
  const bytes = await fixture('headings.pdf');
  await assert.rejects(convertPdf({ bytes, fileName: 'x.pdf', extension: '.pdf' }, options(), late), {
    code: 'REQUEST_TIMEOUT',
  });
});

test('what a filled-in form shows is read, with or without pictures of its fields, and what it hides is not', async () => {
  const made = await PDFDocument.create();
  const font = await made.embedFont(StandardFonts.Helvetica);
  const page = made.addPage([400, 300]);
  page.drawText('Name of the ship', { x: 40, y: 220, size: 11, font });
  const place = { x: 150, width: 180, height: 20, font };
  const ship = made.getForm().createTextField('ship');
  ship.setText('Silver Heron');
  ship.addToPage(page, { ...place, y: 212 });
  const secret = made.getForm().createTextField('secret');
  secret.setText('nobody sees this');
  secret.addToPage(page, { ...place, y: 100, hidden: true });
  for (const pictures of [true, false]) {
    if (!pictures) for (const widget of ship.acroField.getWidgets()) widget.dict.delete(PDFName.of('AP'));
    const bytes = await made.save({ updateFieldAppearances: pictures });
    const document = await convertPdf({ bytes, fileName: 'x.pdf', extension: '.pdf' }, options(), context());
    assert.deepEqual(texts(document), ['Name of the ship Silver Heron'], `pictures: ${pictures}`);
  }
});

test('a form shows its values, its choices and its ticks, and a note its words where they stand; what is hidden or closed does not show', async () => {
  const document = await convert('form-filled-noted.pdf', { mode: 'fast' });
  const page = (ship: string) => [
    `Name of the ship ${ship}`,
    'Cargo slate',
    'Home ports Oban Leith',
    '☑ insured☐ towed',
    'What the harbour master adds:',
    'Moor her at the west quay',
    'Signed at the harbour office.',
  ];
  assert.deepEqual(texts(document), [...page('Silver Heron'), ...page('Grey Gull')]);
});

test('the files of a document are named in its metadata, and a file on a page also where its sign stands', async () => {
  const made = await PDFDocument.create();
  const font = await made.embedFont(StandardFonts.Helvetica);
  const page = made.addPage([400, 400]);
  page.drawText('What the keeper adds to the log:', { x: 40, y: 350, size: 10, font });
  page.drawText('Signed at the harbour office.', { x: 40, y: 50, size: 10, font });
  const file = { Type: 'Filespec', F: PDFString.of('birds.csv') };
  const sign = { Type: 'Annot', Subtype: 'FileAttachment', F: 4, Rect: [40, 290, 60, 310], FS: file };
  page.node.addAnnot(made.context.register(made.context.obj(sign)));
  await made.attach(new Uint8Array([1]), 'ships of the year.xml');
  const document = await convertPdf(
    { bytes: await made.save(), fileName: 'x.pdf', extension: '.pdf' },
    options({ mode: 'fast' }),
    context(),
  );
  assert.deepEqual(document.metadata.attachments, ['ships of the year.xml']);
  assert.deepEqual(texts(document), ['What the keeper adds to the log:', 'birds.csv', 'Signed at the harbour office.']);
});

test('a document without text says so for each page; one of page numbers alone says that', async () => {
  const made = await PDFDocument.create();
  made.addPage([300, 300]);
  made.addPage([300, 300]);
  const read = async () =>
    (await convertPdf({ bytes: await made.save(), fileName: 'x.pdf', extension: '.pdf' }, options(), context()))
      .warnings;
  assert.deepEqual(await read(), ['page 1 holds no text', 'page 2 holds no text']);
  const font = await made.embedFont(StandardFonts.Helvetica);
  for (const page of made.getPages()) page.drawText('- 7 -', { x: 140, y: 12, size: 8, font });
  const [first] = await read();
  assert.match(first ?? '', /^page 1 holds nothing but page headers, footers or numbers/);
});

test('a page with more than the limits let be read is partial and says what was left out', async () => {
  const made = await PDFDocument.create();
  const font = await made.embedFont(StandardFonts.Helvetica);
  const page = made.addPage([600, 800]);
  const text = Array.from({ length: 2_000 }, () => 'a long line of the log of the harbour '.repeat(3)).join('\n');
  page.drawText(text, { x: 10, y: 790, size: 0.35, lineHeight: 0.39, font });
  const link = { Type: 'Annot', Subtype: 'Link', Rect: [1, 1, 2, 2] };
  page.node.set(PDFName.of('Annots'), made.context.obj(Array.from({ length: 5_001 }, () => link)));
  const file = { bytes: await made.save(), fileName: 'x.pdf', extension: '.pdf' };
  const document = await convertPdf(file, options(), context());
  assert.equal(document.pages?.[0]?.status, 'partial');
  assert.deepEqual(document.warnings, [
    'page 1 holds more than 200000 characters; the others were left out',
    'page 1 holds more than 5000 links and notes; the others were left out',
  ]);
});

test('maxPages caps what is read, and a thousand pages are read whole', async () => {
  const made = await PDFDocument.create();
  const font = await made.embedFont(StandardFonts.Helvetica);
  for (let n = 1; n <= 1_000; n++) {
    const page = made.addPage([200, 200]);
    page.drawText(`Chronicle`, { x: 20, y: 185, size: 7, font });
    page.drawText(`Entry number ${n} of the chronicle.`, { x: 20, y: 100, size: 9, font });
  }
  const file = { bytes: await made.save(), fileName: 'x.pdf', extension: '.pdf' };
  const whole = await convertPdf(file, options(), context());
  assert.equal(whole.metadata.numPages, 1_000);
  assert.equal(texts(whole).length, 1_000);
  assert.equal(texts(whole).at(-1), 'Entry number 1000 of the chronicle.');
  const some = await convertPdf(file, options({ maxPages: 3 }), context());
  assert.deepEqual([some.metadata.numPages, some.metadata.totalPages, some.pages?.length], [3, 1_000, 3]);
});
