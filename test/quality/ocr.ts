// Scores OCR on the OCR corpus, and native tesseract on the same pages.
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { compareImageUploads } from './ocr-images.ts';
import type { Run, Suite } from './suite.ts';

const manifestRow = z.object({ name: z.string(), file: z.string() });
const PRINT_DPI =
  'import sys; from PIL import Image; print(round(float(Image.open(sys.argv[1]).info.get("dpi", (300,))[0])))';

/** Resolution of a page: that of the first image of a PDF (200 if it has none), or that in an image file. */
async function readDpi({ shell, python }: Run, source: string): Promise<number> {
  if (!source.endsWith('.pdf')) return Number(await shell.read(python, '-c', PRINT_DPI, source));
  const list = await shell.read('pdfimages', '-list', source);
  return Number(list.trim().split('\n').at(2)?.trim().split(/\s+/).at(12)) || 200;
}

/** Files of the corpus by name. */
function listFiles({ corpora }: Run): Map<string, string> {
  const folder = join(corpora, 'ocr/dev');
  const lines = readFileSync(join(folder, 'manifest.jsonl'), 'utf8').split('\n');
  const rows = lines.filter((line) => line !== '').map((line) => manifestRow.parse(JSON.parse(line)));
  return new Map(rows.map(({ name, file }) => [name, join(folder, file)]));
}

/** Writes the pages for native tesseract as grey images at their own resolution. @returns a folder for each resolution */
async function renderPages(run: Run): Promise<Map<number, string>> {
  const { out, shell } = run;
  const folders = new Map<number, string>();
  for (const [name, source] of listFiles(run)) {
    const dpi = await readDpi(run, source);
    const folder = join(out, `pages-${dpi}`);
    mkdirSync(folder, { recursive: true });
    folders.set(dpi, folder);
    const target = join(folder, name);
    if (source.endsWith('.pdf'))
      await shell.read('pdftoppm', '-gray', '-r', String(dpi), '-singlefile', source, target);
    else if (!existsSync(target)) symlinkSync(source, `${target}.${source.split('.').at(-1)}`);
  }
  return folders;
}

async function runOcr(run: Run): Promise<void> {
  const { corpora, out, shell, python } = run;
  const folder = join(corpora, 'ocr');
  const predictions = join(out, 'parsemesh');
  const options = JSON.stringify({ timeout: 120_000, parsers: [{ type: 'pdf', mode: 'ocr' }] });
  console.log('Parsemesh, POST /v2/parse, mode ocr');
  await shell.run(python, join(folder, 'client.py'), join(folder, 'dev'), predictions, '-j', '2', '--options', options);
  await shell.run(python, join(folder, 'score.py'), join(folder, 'dev'), predictions);
  await compareImageUploads(run, listFiles(run), predictions);
  if (!shell.isInstalled('tesseract') || !shell.isInstalled('pdftoppm')) {
    console.log('\nNative tesseract is not compared. To compare it, install tesseract-ocr and poppler-utils.');
    return;
  }
  console.log('\nnative tesseract, page segmentation mode 3, one thread');
  const native = join(out, 'native');
  for (const [dpi, pages] of await renderPages(run))
    await shell.run(python, join(folder, 'run_native.py'), pages, native, '--dpi', String(dpi));
  await shell.run(python, join(folder, 'score.py'), join(folder, 'dev'), native);
}

export const ocr: Suite = { corpus: 'ocr', packages: ['pillow'], run: runOcr };
