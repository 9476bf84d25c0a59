// Runs `npm run pdf-styles`: writes PDFs of random content and style with the Markdown of each, to train and to check the PDF reader.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { startBrowser } from '#test/browser/browser-case.ts';
import { drawDocument } from './document.ts';
import { fodtOf } from './fodt.ts';
import { htmlOf } from './html.ts';
import type { RandomDocument } from './model.ts';
import { truthOf } from './truth.ts';

const USAGE = `npm run pdf-styles -- [--out FOLDER] [--seed 1] [--count 100] [--first 0] [--engine chromium|libreoffice|both]
  Writes FOLDER/pdf/NAME.pdf, FOLDER/truth/NAME.md and FOLDER/tags.json. The default folder is a new one.
  both (default): documents with even numbers are from Chromium, the others from LibreOffice.`;
/** Documents that LibreOffice converts in one run. A run costs 1 s to start. */
const BATCH = 25;

/** Pages of a PDF whose page objects are not compressed, as both engines write them. */
const pagesOf = (pdf: Buffer) => pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0;

/** The position of footnotes in the truth is only known if the document has one page. */
const isUsable = (document: RandomDocument, pdf: Buffer) =>
  pagesOf(pdf) === 1 || !document.blocks.some((block) => block.kind === 'footnotes');

export async function printWithChromium(browser: Browser, html: string): Promise<Buffer> {
  const page = await browser.newPage();
  try {
    await page.setContent(html);
    return await page.pdf({ preferCSSPageSize: true, printBackground: true });
  } finally {
    await page.close();
  }
}

/** Converts documents in one run. @returns the PDF of each */
function printWithLibreOffice(documents: readonly RandomDocument[]): Buffer[] {
  const folder = mkdtempSync(join(tmpdir(), 'pdf-styles-'));
  try {
    const files = documents.map((document) => join(folder, `${document.name}.fodt`));
    documents.forEach((document, at) => {
      writeFileSync(files[at]!, fodtOf(document));
    });
    const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
    const run = spawnSync('soffice', [profile, '--headless', '--convert-to', 'pdf', '--outdir', folder, ...files], {
      encoding: 'utf8',
    });
    if (run.status !== 0) throw new Error(`soffice: ${run.stderr}${run.error ?? ''}`);
    return files.map((file) => readFileSync(file.replace(/fodt$/, 'pdf')));
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      out: { type: 'string' },
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '100' },
      first: { type: 'string', default: '0' },
      engine: { type: 'string', default: 'both' },
    },
  });
  if (values.help) return console.log(USAGE);
  const out = values.out ?? mkdtempSync(join(tmpdir(), 'pdf-styles-'));
  for (const part of ['pdf', 'truth']) mkdirSync(join(out, part), { recursive: true });
  const [seed, count, first] = [values.seed, values.count, values.first].map(Number) as [number, number, number];
  const documents = Array.from({ length: count }, (_, at) => drawDocument(seed, first + at));
  const isLibreOffice = (at: number) =>
    values.engine === 'both' ? (first + at) % 2 === 1 : values.engine === 'libreoffice';
  const tags: Record<string, unknown> = {};
  const keep = (document: RandomDocument, engine: string, pdf: Buffer) => {
    if (!isUsable(document, pdf)) return;
    const name = `${document.name}-${engine}`;
    writeFileSync(join(out, 'pdf', `${name}.pdf`), pdf);
    writeFileSync(join(out, 'truth', `${name}.md`), truthOf(document.blocks));
    tags[name] = { engine, pages: pagesOf(pdf), ...document.tags };
  };

  const browser = await startBrowser();
  try {
    for (const document of documents.filter((_, at) => !isLibreOffice(at)))
      keep(document, 'cr', await printWithChromium(browser, htmlOf(document)));
  } finally {
    await browser.close();
  }
  const others = documents.filter((_, at) => isLibreOffice(at));
  for (let at = 0; at < others.length; at += BATCH) {
    const batch = others.slice(at, at + BATCH);
    printWithLibreOffice(batch).forEach((pdf, index) => {
      keep(batch[index]!, 'lo', pdf);
    });
  }
  writeFileSync(join(out, 'tags.json.part'), JSON.stringify(tags, null, 1));
  renameSync(join(out, 'tags.json.part'), join(out, 'tags.json'));
  console.log(`${Object.keys(tags).length} documents in ${out}`);
}

if (import.meta.main) await main();
