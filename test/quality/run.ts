// Prints how well the product reads a corpus: starts it, lets the corpus' own client and scorer ask and judge, and puts native tesseract beside OCR.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { installedPdfEngines } from '../bench/pdf-engines.ts';
import { type Product, startProduct } from '../harness/product.ts';
import { checkAutoPages } from './auto.ts';
import { printPdfTable } from './pdf-table.ts';
import { makeShell, pythonWith, Refusal, type Shell } from './shell.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HELP = `npm run quality -- pdf|ocr|auto|office|html|pii [pii: accurate|aggressive|fast]
  CORPORA             folder of the corpora (default ../shared/corpora)
  BASE_URL, API_KEY   a running product to ask instead of starting one
  PDF_PEERS           pdf: folder with peers to run beside it (the bench says how to make it)
  OCR_ENGINE          native or wasm, where the product is started here
  PREDICTIONS         folder that keeps what was answered (default: a temporary one)`;

interface Run {
  corpora: string;
  product: Pick<Product, 'url' | 'key'>;
  /** Answers are written below it. */
  out: string;
  shell: Shell;
  python: string;
  mode: string;
}

interface Suite {
  /** PyPI packages of the corpus' scripts. */
  packages: readonly string[];
  run(run: Run): Promise<void>;
}

const OFFICE_PACKAGES = ['markdown-it-py', 'mdit-py-plugins', 'beautifulsoup4', 'lxml', 'rapidfuzz', 'apted'];
const WEB_KINDS = '.html,.htm,.xhtml,.epub';

async function runEngine({ corpora, out, shell, python }: Run, ...args: string[]): Promise<void> {
  const folder = join(corpora, 'office');
  await shell.show(python, join(folder, 'run_engine.py'), join(folder, 'dev'), out, '--url', shell.baseUrl, ...args);
}

async function runPdf({ corpora, out, shell, python }: Run): Promise<void> {
  const folder = join(corpora, 'pdf');
  const env = { NAME: 'parsemesh', SPLIT: 'dev', CORPORA: folder, PRED: out, PYTHON: python };
  await shell.show({ env }, 'sh', join(folder, 'run.sh'), 'http');
  const measured = [{ name: 'parsemesh', scores: join(out, 'parsemesh/score.json') }];
  const peers = process.env.PDF_PEERS ? installedPdfEngines(process.env.PDF_PEERS) : [];
  for (const { name, command, args } of peers) {
    const answers = join(out, name);
    const worker = [command, ...args].join(' ');
    const where = ['--corpora', folder, '--split', 'dev'];
    await shell.show(python, join(folder, 'run.py'), ...where, '--out', answers, '--timeout', '60', '--worker', worker);
    const scores = join(answers, 'score.json');
    await shell.show(python, join(folder, 'score.py'), ...where, '--pred', answers, '--name', name, '--out', scores);
    measured.push({ name, scores });
  }
  printPdfTable(measured);
}

async function runPii({ corpora, out, shell, python, mode }: Run): Promise<void> {
  const folder = join(corpora, 'pii');
  await shell.show(python, join(folder, 'expand.py'), join(folder, 'dev/templates.jsonl'), out);
  for (const set of [
    join(folder, 'dev/synth.jsonl'),
    join(folder, 'dev/real.jsonl'),
    join(out, 'gen.jsonl'),
    join(out, 'md.jsonl'),
  ]) {
    const answers = join(out, `${basename(set, '.jsonl')}.answers.jsonl`);
    console.log(`\n${basename(set)}, mode ${mode}`);
    await shell.show(python, join(folder, 'client.py'), set, answers, '--mode', mode, '-j', '2');
    await shell.show(python, join(folder, 'score.py'), set, answers);
  }
}

const manifestRow = z.object({ name: z.string(), file: z.string() });

/** The pages as grey images at each scan's own resolution, one folder a resolution, for native tesseract. */
async function renderPages({ corpora, out, shell, python }: Run): Promise<Map<number, string>> {
  const folders = new Map<number, string>();
  const rows = readFileSync(join(corpora, 'ocr/dev/manifest.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  for (const row of rows.map((line) => manifestRow.parse(JSON.parse(line)))) {
    const source = join(corpora, 'ocr/dev', row.file);
    const isPdf = source.endsWith('.pdf');
    const dpi = isPdf
      ? Number((await shell.read('pdfimages', '-list', source)).trim().split('\n').at(2)?.trim().split(/\s+/).at(12)) ||
        200
      : Number(
          await shell.read(
            python,
            '-c',
            'import sys; from PIL import Image; print(round(float(Image.open(sys.argv[1]).info.get("dpi", (300,))[0])))',
            source,
          ),
        );
    const folder = join(out, `pages-${dpi}`);
    mkdirSync(folder, { recursive: true });
    folders.set(dpi, folder);
    const target = join(folder, row.name);
    if (isPdf) await shell.read('pdftoppm', '-gray', '-r', String(dpi), '-singlefile', source, target);
    else if (!existsSync(target)) symlinkSync(source, `${target}.${source.split('.').at(-1)}`);
  }
  return folders;
}

async function runOcr(run: Run): Promise<void> {
  const { corpora, out, shell, python } = run;
  const folder = join(corpora, 'ocr');
  const ours = join(out, 'parsemesh');
  const options = JSON.stringify({ timeout: 120_000, parsers: [{ type: 'pdf', mode: 'ocr' }] });
  console.log('parsemesh, POST /v2/parse in mode ocr');
  await shell.show(python, join(folder, 'client.py'), join(folder, 'dev'), ours, '-j', '2', '--options', options);
  await shell.show(python, join(folder, 'score.py'), join(folder, 'dev'), ours);
  if (!shell.has('tesseract') || !shell.has('pdftoppm')) {
    console.log('\nNative tesseract is not shown beside it: install tesseract-ocr and poppler-utils.');
    return;
  }
  console.log('\nnative tesseract, page segmentation 3, one thread');
  const native = join(out, 'native');
  for (const [dpi, pages] of await renderPages(run))
    await shell.show(python, join(folder, 'run_native.py'), pages, native, '--dpi', String(dpi));
  await shell.show(python, join(folder, 'score.py'), join(folder, 'dev'), native);
}

const SUITES: Readonly<Record<string, Suite>> = {
  pdf: { packages: ['rapidfuzz', 'lxml', 'pypdf'], run: runPdf },
  ocr: { packages: ['pillow'], run: runOcr },
  auto: { packages: [], run: ({ corpora, product }) => checkAutoPages(corpora, product) },
  office: { packages: OFFICE_PACKAGES, run: (run) => runEngine(run, '--parts', 'roundtrip,checks,robust') },
  html: { packages: OFFICE_PACKAGES, run: (run) => runEngine(run, '--only', WEB_KINDS) },
  pii: { packages: ['markdown-it-py'], run: runPii },
};

async function main([name, mode = 'accurate']: readonly string[]): Promise<void> {
  const suite = SUITES[name ?? ''];
  if (!suite) throw new Refusal(HELP);
  const corpora = resolve(process.env.CORPORA ?? join(ROOT, '../shared/corpora'));
  const corpus = join(corpora, { html: 'office', auto: 'pdf' }[name ?? ''] ?? name ?? '');
  if (!existsSync(corpus) || readdirSync(corpus).length === 0)
    throw new Refusal(
      `There is no corpus in ${corpus}. CORPORA must name the folder that holds pdf, ocr, office and pii.`,
    );
  const python = suite.packages.length === 0 ? '' : await pythonWith(suite.packages);
  const kept = process.env.PREDICTIONS;
  const out = kept ? resolve(kept) : mkdtempSync(join(tmpdir(), 'parsemesh-quality-'));
  mkdirSync(out, { recursive: true });
  const { BASE_URL: url, API_KEY: key } = process.env;
  const engine = process.env.OCR_ENGINE;
  const product =
    url && key
      ? { url, key, stop: async () => {} }
      : await startProduct({ transport: 'memory', env: engine ? { OCR_ENGINE: engine } : {} });
  try {
    const shell = makeShell({ BASE_URL: product.url, API_KEY: product.key });
    await suite.run({ corpora, product, out, shell, python, mode });
  } finally {
    await product.stop();
    if (!kept) rmSync(out, { recursive: true, force: true });
  }
}

if (import.meta.main)
  main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Refusal ? error.message : error);
    process.exitCode = error instanceof Refusal ? 2 : 1;
  });
