// Compares OCR of the same pages sent as image files and in a PDF.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ocrResolution } from '#services/pdf/pages/ocr-page.ts';
import { openImageSource } from '#services/pdf/source/image/image-source.ts';
import { openPageSource } from '#services/pdf/source/open-page-source.ts';
import { parse, successData } from '../harness/client.ts';
import { encodeImage, type Picture, toSharp } from '../harness/documents/images.ts';
import type { Run } from './suite.ts';

const TIMEOUT_MS = 120_000;
const OPTIONS = { timeout: TIMEOUT_MS, parsers: [{ type: 'pdf', mode: 'ocr' }] };

interface Scan {
  name: string;
  picture: Picture;
  dpi: number;
}

interface Upload {
  label: string;
  fileName: string;
  encode(scan: Scan): Promise<Buffer>;
}

const UPLOADS: readonly Upload[] = [
  ...(['.png', '.jpg', '.tiff', '.webp'] as const).map((extension) => ({
    label: extension,
    fileName: `page${extension}`,
    encode: ({ picture, dpi }: Scan) => encodeImage(extension, picture, dpi),
  })),
  {
    label: '.png without resolution',
    fileName: 'page.png',
    encode: ({ picture }) => toSharp(picture).png().toBuffer(),
  },
];

/** The first page of a file of the corpus, as OCR receives it. */
async function readScan(name: string, path: string): Promise<Scan> {
  const bytes = readFileSync(path);
  const source = path.endsWith('.pdf') ? await openPageSource(bytes, undefined) : await openImageSource(bytes);
  try {
    const { width, height, pixels, dpi } = await source.renderGrey(0, ocrResolution(await source.readPage(0)));
    return { name, picture: { width, height, pixels }, dpi: Math.round(dpi) };
  } finally {
    await source.close();
  }
}

const scores = z.object({
  groups: z.object({ ALL: z.object({ cer: z.number(), wer: z.number(), bowF: z.number() }) }),
  tests: z.object({ n: z.number(), ok: z.number() }).partial(),
});

/**
 * Sends every page of the corpus as each kind of image file, scores the results, and prints them below those of the PDFs.
 * @param files of the corpus by name
 * @param pdfPredictions folder of the Markdown of the same pages in PDFs
 */
export async function compareImageUploads(
  { corpora, out, shell, python, product }: Run,
  files: ReadonlyMap<string, string>,
  pdfPredictions: string,
): Promise<void> {
  const folders: [label: string, folder: string][] = [['in a PDF', pdfPredictions]];
  for (const { label } of UPLOADS) {
    const folder = join(out, `image-${label.replace(/\W+/g, '-')}`);
    mkdirSync(folder, { recursive: true });
    folders.push([label, folder]);
  }
  for (const [name, path] of files) {
    const scan = await readScan(name, path);
    for (const [index, { fileName, encode }] of UPLOADS.entries()) {
      const file = await encode(scan);
      const answer = await parse(product, { file, fileName, options: OPTIONS, clientTimeoutMs: TIMEOUT_MS + 10_000 });
      writeFileSync(join(folders[index + 1]?.[1] ?? '', `${name}.md`), successData(answer).markdown ?? '');
    }
  }
  const corpus = join(corpora, 'ocr/dev');
  console.log('\nParsemesh, mode ocr: the same pages in a PDF and as image files');
  console.log(
    ['upload', 'CER', 'WER', 'words', 'olmocr tests']
      .map((head, n) => (n === 0 ? head.padEnd(24) : head.padStart(8)))
      .join(' '),
  );
  for (const [label, folder] of folders) {
    const report = join(folder, 'score.json');
    await shell.read(python, join(corpora, 'ocr/score.py'), corpus, folder, '--json', report);
    const { groups, tests } = scores.parse(JSON.parse(readFileSync(report, 'utf8')));
    const figures = [groups.ALL.cer, groups.ALL.wer, groups.ALL.bowF].map((value) => value.toFixed(4).padStart(8));
    console.log([label.padEnd(24), ...figures, `${tests.ok ?? 0}/${tests.n ?? 0}`.padStart(8)].join(' '));
  }
}
