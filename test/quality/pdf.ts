// Scores PDF reading on the PDF corpora, and other installed engines on those that have published figures.
import { join } from 'node:path';
import { installedPdfEngines } from '../bench/pdf-engines.ts';
import { type MeasuredEngine, printPdfTable, printRealDocuments } from './pdf-table.ts';
import type { Run, Suite } from './suite.ts';

/** Corpora of the table, for which other engines have published figures. */
const TABLE_CORPORA = 'rendered,long,icdar2013,olmocr';
/** Longer than the default of the product, so that other load on the machine does not change the scores. */
const TIMEOUT_MS = 240_000;
const OPTIONS = JSON.stringify({ formats: ['markdown'], timeout: TIMEOUT_MS });

/** Runs the product on all corpora and scores it. @returns the paths of its scores: table, real documents, styles */
async function scoreProduct({
  corpora,
  out,
  shell,
  python,
}: Run): Promise<Record<'table' | 'real' | 'styles', string>> {
  const folder = join(corpora, 'pdf');
  const predictions = join(out, 'parsemesh');
  const dev = ['--corpora', folder, '--split', 'dev'];
  const parts = `${TABLE_CORPORA},robust,styles,real`;
  const run = [python, join(folder, 'run.py'), ...dev, '--corpus', parts, '--out', predictions, '--http'];
  await shell.run('env', `OPTIONS=${OPTIONS}`, ...run, '--timeout', String(TIMEOUT_MS / 1_000 + 10));
  const scores = {
    table: join(predictions, 'score.json'),
    real: join(predictions, 'real.json'),
    styles: join(predictions, 'styles.json'),
  };
  const score = [python, join(folder, 'score.py'), '--name', 'parsemesh'] as const;
  const own = [...dev, '--pred', predictions];
  await shell.run(...score, ...own, '--corpus', TABLE_CORPORA, '--out', scores.table);
  await shell.read(...score, ...own, '--corpus', 'real', '--out', scores.real);
  const styles = ['--pred', join(predictions, 'styles'), '--truth', join(folder, 'styles/dev/truth')];
  await shell.read(...score, ...styles, '--out', scores.styles);
  return scores;
}

/** Runs another engine on the corpora of the table and scores it. @returns the path of its scores */
async function scoreEngine({ corpora, out, shell, python }: Run, name: string, worker: string): Promise<string> {
  const folder = join(corpora, 'pdf');
  const predictions = join(out, name);
  const dev = ['--corpora', folder, '--split', 'dev'];
  const args = ['--out', predictions, '--timeout', '60', '--worker', worker];
  await shell.run(python, join(folder, 'run.py'), ...dev, ...args);
  const scores = join(predictions, 'score.json');
  await shell.run(python, join(folder, 'score.py'), ...dev, '--pred', predictions, '--name', name, '--out', scores);
  return scores;
}

async function runPdf(run: Run): Promise<void> {
  const { corpora, shell, python } = run;
  const scores = await scoreProduct(run);
  const measured: MeasuredEngine[] = [{ name: 'parsemesh', scores: scores.table }];
  for (const { name, command, args } of process.env.PDF_PEERS ? installedPdfEngines(process.env.PDF_PEERS) : [])
    measured.push({ name, scores: await scoreEngine(run, name, [command, ...args].join(' ')) });
  printPdfTable(measured);
  printRealDocuments(scores.real);
  console.log('\nPDF, corpus styles: means by tag');
  const folder = join(corpora, 'pdf');
  await shell.run(python, join(folder, 'bytag.py'), join(folder, 'styles/dev/tags.json'), `parsemesh=${scores.styles}`);
}

export const pdf: Suite = { corpus: 'pdf', packages: ['rapidfuzz', 'lxml', 'pypdf'], run: runPdf };
