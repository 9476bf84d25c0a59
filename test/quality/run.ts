// Runs `npm run quality`: starts the product, sends the documents of a corpus with the scripts of that corpus, and prints the scores.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProduct } from '../harness/product.ts';
import { checkAutoPages } from './auto.ts';
import { ocr } from './ocr.ts';
import { html, office } from './office.ts';
import { pdf } from './pdf.ts';
import { pii } from './pii.ts';
import { createShell, pythonWith, SetupError } from './shell.ts';
import type { Suite } from './suite.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HELP = `npm run quality -- pdf|ocr|auto|office|html|pii [pii: accurate|aggressive|fast]
  CORPORA             folder of the corpora (default ../shared/corpora)
  BASE_URL, API_KEY   a running product to use instead of starting one
  PDF_PEERS           pdf: folder with other PDF engines to compare (\`npm run bench -- pdf\` prints how to install them)
  OCR_ENGINE          native or wasm, if the product is started here
  PREDICTIONS         folder for responses and scores (default: a temporary folder that is deleted)`;

const SUITES: Readonly<Record<string, Suite>> = {
  pdf,
  ocr,
  auto: { corpus: 'pdf', packages: [], run: ({ corpora, product }) => checkAutoPages(corpora, product) },
  office,
  html,
  pii,
};

async function main([name = '', mode = 'accurate']: readonly string[]): Promise<void> {
  const suite = Object.hasOwn(SUITES, name) ? SUITES[name] : undefined;
  if (!suite) throw new SetupError(HELP);
  const corpora = resolve(process.env.CORPORA ?? join(ROOT, '../shared/corpora'));
  const corpus = join(corpora, suite.corpus);
  if (!existsSync(corpus) || readdirSync(corpus).length === 0)
    throw new SetupError(
      `There is no corpus in ${corpus}. Set CORPORA to the folder that contains pdf, ocr, office and pii.`,
    );
  const python = suite.packages.length === 0 ? '' : await pythonWith(suite.packages);
  const predictions = process.env.PREDICTIONS;
  const out = predictions ? resolve(predictions) : mkdtempSync(join(tmpdir(), 'parsemesh-quality-'));
  mkdirSync(out, { recursive: true });
  const { BASE_URL: url, API_KEY: key } = process.env;
  const engine = process.env.OCR_ENGINE;
  const product =
    url && key
      ? { url, key, stop: async () => {} }
      : await startProduct({ transport: 'memory', env: engine ? { OCR_ENGINE: engine } : {} });
  try {
    const shell = createShell({ BASE_URL: product.url, API_KEY: product.key });
    await suite.run({ corpora, product, out, shell, python, mode });
  } finally {
    await product.stop();
    if (!predictions) rmSync(out, { recursive: true, force: true });
  }
}

if (import.meta.main)
  main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof SetupError ? error.message : error);
    process.exitCode = error instanceof SetupError ? 2 : 1;
  });
