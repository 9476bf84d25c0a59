// Scores office and HTML files with the engine script of the office corpus.
import { join } from 'node:path';
import type { Run, Suite } from './suite.ts';

const PACKAGES = ['markdown-it-py', 'mdit-py-plugins', 'beautifulsoup4', 'lxml', 'rapidfuzz', 'apted'];
const WEB_EXTENSIONS = '.html,.htm,.xhtml,.epub';

async function runEngine({ corpora, out, shell, python }: Run, ...args: string[]): Promise<void> {
  const folder = join(corpora, 'office');
  await shell.run(python, join(folder, 'run_engine.py'), join(folder, 'dev'), out, '--url', shell.baseUrl, ...args);
}

export const office: Suite = {
  corpus: 'office',
  packages: PACKAGES,
  run: (run) => runEngine(run, '--parts', 'roundtrip,checks,robust'),
};

export const html: Suite = {
  corpus: 'office',
  packages: PACKAGES,
  run: (run) => runEngine(run, '--only', WEB_EXTENSIONS),
};
