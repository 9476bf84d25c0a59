// Runs `npm run mutations`: activates one mutant of the PDF layout at a time and prints those that no test detects.
import { readdirSync, readFileSync } from 'node:fs';
import { type LoadHookSync, type ResolveHookSync, registerHooks } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { JobContext } from '#shared/contract/jobs.ts';
import { readParseOptions } from '#shared/contract/options.ts';
import { type CollectedTest, collected } from './collected-tests.ts';
import { createMutants, type Mutant } from './mutation-operators.ts';

const HELP = `npm run mutations -- [FILE...] [--constants] [--corpus FOLDER]
  FILE         names of files in services/pdf/layout and services/pdf/tables, for example rows or columns (default: all)
  --constants  also multiply the named numbers at the top of a file by 1.5 and by 0.67
  --corpus     for each undetected mutant, count the PDF files below this folder whose result changes`;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['services/pdf/layout', 'services/pdf/tables'];
/** A test that evaluates the active mutant more often than this is in an endless loop. */
const MAX_HITS = 2_000_000;

/** A test or a document that is run once for each mutant. */
interface Trial {
  name: string;
  /** Ids of the mutants that it evaluates. */
  evaluated: Set<number>;
  /** Throws if the result is not the expected one. */
  run(): unknown;
}

const mutants: Mutant[] = [];
let active = -1;
let hits = 0;
let evaluated: Set<number> | undefined;
Object.assign(globalThis, {
  isMutantActive(id: number): boolean {
    evaluated?.add(id);
    if (id !== active) return false;
    hits += 1;
    if (hits > MAX_HITS) throw new Error('endless loop');
    return true;
  },
});

/** Makes imports load the sources with mutants, and the replacements of node:test and of the PDF engines. */
function installHooks(sources: ReadonlySet<string>, constants: boolean): void {
  const resolve: ResolveHookSync = (specifier, context, next) => {
    if (specifier === 'node:test') return next('#test/mutations/collected-tests.ts', context);
    const inConverter = context.parentURL?.endsWith('/services/pdf/convert.ts');
    const cached = inConverter && specifier.endsWith('/open-page-source.ts');
    return next(cached ? '#test/mutations/cached-page-source.ts' : specifier, context);
  };
  const load: LoadHookSync = (url, context, next) => {
    const path = url.startsWith('file:') ? fileURLToPath(url) : '';
    if (!sources.has(path)) return next(url, context);
    const file = createMutants(path.slice(ROOT.length), readFileSync(path, 'utf8'), mutants.length, constants);
    mutants.push(...file.mutants);
    return { format: 'module', source: file.source, shortCircuit: true };
  };
  registerHooks({ resolve, load });
}

/** Runs once without an active mutant, to find the mutants that the trial evaluates. */
async function createTrial(name: string, run: () => unknown): Promise<Trial> {
  evaluated = new Set();
  await run();
  const trial = { name, evaluated, run };
  evaluated = undefined;
  return trial;
}

async function detects(trial: Trial, mutant: Mutant): Promise<boolean> {
  if (!trial.evaluated.has(mutant.id)) return false;
  [active, hits] = [mutant.id, 0];
  try {
    await trial.run();
    return false;
  } catch {
    return true;
  } finally {
    active = -1;
  }
}

async function isDetected(trials: readonly Trial[], mutant: Mutant): Promise<boolean> {
  for (const trial of trials) if (await detects(trial, mutant)) return true;
  return false;
}

/** One trial for each PDF file below a folder that can be converted. */
async function createDocumentTrials(folder: string): Promise<Trial[]> {
  const { convertPdf } = await import('#services/pdf/convert.ts');
  const options = { ...readParseOptions({ parsers: [{ type: 'pdf', mode: 'fast' }] }), fields: ['markdown' as const] };
  const context: JobContext = {
    signal: new AbortController().signal,
    requestId: 'mutations',
    deadline: Number.MAX_SAFE_INTEGER,
    volatile: false,
    call: () => Promise.reject(new Error('mode fast must not call another service')),
  };
  const trials: Trial[] = [];
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.pdf')) continue;
    const bytes = readFileSync(join(folder, path));
    const convert = async (): Promise<string> => {
      const file = { bytes, fileName: basename(path), extension: '.pdf' };
      return JSON.stringify((await convertPdf(file, options, context)).pages);
    };
    const expected = await convert().catch(() => undefined);
    if (expected === undefined) continue;
    const run = async () => {
      if ((await convert()) !== expected) throw new Error('the result changed');
    };
    trials.push(await createTrial(basename(path), run));
  }
  return trials;
}

async function printUndetected(undetected: readonly Mutant[], corpus: string | undefined): Promise<void> {
  const documents = corpus === undefined ? [] : await createDocumentTrials(corpus);
  for (const mutant of undetected) {
    const changed: string[] = [];
    for (const trial of documents) if (await detects(trial, mutant)) changed.push(trial.name);
    const files = corpus === undefined ? '' : `  ${changed.length} files: ${changed.slice(0, 4).join(' ')}`;
    console.log(`${mutant.file}:${mutant.line}  ${mutant.change}  ${mutant.code}${files}`);
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      constants: { type: 'boolean', default: false },
      corpus: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const files = FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => join(ROOT, folder, name)));
  const isSelected = (path: string) => positionals.length === 0 || positionals.includes(basename(path, '.ts'));
  installHooks(new Set(files.filter((path) => !path.endsWith('.test.ts') && isSelected(path))), values.constants);

  const testFiles = [...files, join(ROOT, 'services/pdf/convert.test.ts')].filter((path) => path.endsWith('.test.ts'));
  for (const path of testFiles) await import(pathToFileURL(path).href);
  const tests: Trial[] = [];
  for (const { name, run } of collected as CollectedTest[]) tests.push(await createTrial(name, run));

  const undetected: Mutant[] = [];
  const counts = new Map<string, { mutants: number; detected: number }>();
  for (const mutant of mutants) {
    const count = counts.get(mutant.file) ?? { mutants: 0, detected: 0 };
    counts.set(mutant.file, count);
    count.mutants += 1;
    if (await isDetected(tests, mutant)) count.detected += 1;
    else undetected.push(mutant);
  }
  await printUndetected(undetected, values.corpus);
  console.table(Object.fromEntries(counts));
}

await main();
// Tests may have left timers and workers running.
process.exit();
