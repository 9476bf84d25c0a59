// Scores redaction on all parts of the PII corpus: generated and real texts, ordinary texts, office and PDF files, and every output field.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Run, Suite } from './suite.ts';

/** Parts of texts, each a file `NAME.jsonl` of the set. */
const TEXT_PARTS = ['gen', 'gen2', 'synth', 'real', 'md', 'ordinary'] as const;

/** Writes the texts of all parts to a folder. @returns the folder */
async function writeSet({ out, shell, python }: Run, folder: string): Promise<string> {
  const set = join(out, 'set');
  mkdirSync(set, { recursive: true });
  const dev = join(folder, 'dev');
  await shell.run(python, join(folder, 'expand.py'), join(dev, 'templates.jsonl'), set);
  const gen2 = [join(dev, 'families-dev.txt'), join(dev, 'names-dev.json'), join(set, 'gen2.jsonl')];
  await shell.run(python, join(folder, 'gen2.py'), ...gen2);
  await shell.run(python, join(folder, 'ordinary.py'), join(dev, 'ordinary-dev.txt'), join(set, 'ordinary.jsonl'));
  for (const name of ['synth.jsonl', 'real.jsonl']) copyFileSync(join(dev, name), join(set, name));
  return set;
}

async function runPii(run: Run): Promise<void> {
  const { corpora, out, shell, python, mode } = run;
  const folder = join(corpora, 'pii');
  const set = await writeSet(run, folder);
  for (const part of TEXT_PARTS) {
    const [texts, predictions] = [join(set, `${part}.jsonl`), join(out, `${part}-${mode}.jsonl`)];
    console.log(`\n${part}, mode ${mode}`);
    // `--base` keeps the responses without redaction, for a run of another mode in the same folder.
    const base = join(out, `${part}.base`);
    await shell.run(python, join(folder, 'client.py'), texts, predictions, '--mode', mode, '--base', base);
    if (part !== 'ordinary') await shell.run(python, join(folder, 'score.py'), texts, predictions);
  }
  console.log(`\nfiles and output fields, mode ${mode}`);
  const cells = [join(folder, 'dev/cells-dev.txt'), corpora, join(out, `cells-${mode}.json`)];
  await shell.run(python, join(folder, 'cells.py'), ...cells, '--mode', mode, '--show');
  await shell.run(python, join(folder, 'doors.py'), join(out, 'doors.json'), '--show');
  console.log('');
  const scores = join(out, `${mode}.json`);
  await shell.run(python, join(folder, 'score.py'), '--all', set, out, '--mode', mode, '--json', scores);
}

export const pii: Suite = { corpus: 'pii', packages: ['markdown-it-py'], run: runPii };
