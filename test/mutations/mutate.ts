// `npm run mutations`: switches off one condition of the PDF layout at a time and tells which of them no test misses; with a folder of PDF files, also how many of those read otherwise.
import { readdirSync, readFileSync } from 'node:fs';
import { type LoadHookSync, type ResolveHookSync, registerHooks } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { JobContext } from '#shared/contract/jobs.ts';
import { readParseOptions } from '#shared/contract/options.ts';
import { type CollectedTest, collected } from './collected-tests.ts';
import { type Mutant, mutate } from './mutants.ts';

const HELP = `npm run mutations -- [FILE...] [--constants] [--corpus FOLDER]
  FILE: rows, columns, ...: files under services/pdf/layout and services/pdf/tables; all where none is named.
  --constants: numbers named at the head of a file, half as large again and two thirds as large, too.
  --corpus: PDF files below this folder that are parsed with each condition that no test misses.`;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ROOMS = ['services/pdf/layout', 'services/pdf/tables'];
/** Times that a test may come by a mutant before it is taken to go round for ever. */
const HITS = 2_000_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { constants: { type: 'boolean' }, corpus: { type: 'string' }, help: { type: 'boolean' } },
});
if (values.help) {
  console.log(HELP);
  process.exit();
}

const mutants: Mutant[] = [];
let on = -1;
let hits = 0;
let passed: Set<number> | undefined;
Object.assign(globalThis, {
  mutant(id: number): boolean {
    passed?.add(id);
    if (id !== on) return false;
    hits += 1;
    if (hits > HITS) throw new Error('it goes round for ever');
    return true;
  },
});

const files = ROOMS.flatMap((room) => readdirSync(join(ROOT, room)).map((name) => join(ROOT, room, name)));
const sources = new Set(
  files.filter(
    (path) => !path.endsWith('.test.ts') && (positionals.length === 0 || positionals.includes(basename(path, '.ts'))),
  ),
);
const resolve: ResolveHookSync = (specifier, context, next) => {
  if (specifier === 'node:test') return next('#test/mutations/collected-tests.ts', context);
  const converter =
    context.parentURL?.endsWith('/services/pdf/convert.ts') && specifier.endsWith('/open-page-source.ts');
  return next(converter ? '#test/mutations/recorded-pages.ts' : specifier, context);
};
const load: LoadHookSync = (url, context, next) => {
  const path = url.startsWith('file:') ? fileURLToPath(url) : '';
  if (!sources.has(path)) return next(url, context);
  const file = mutate(path.slice(ROOT.length), readFileSync(path, 'utf8'), mutants.length, values.constants);
  mutants.push(...file.mutants);
  return { format: 'module', source: file.source, shortCircuit: true };
};
registerHooks({ resolve, load });

interface Trial {
  name: string;
  /** The mutants that it comes by. */
  passes: Set<number>;
  /** Throws, or gives something else than it did, where it notices. */
  run(): unknown;
}

/** Runs once with nothing changed, to see which mutants it comes by. */
async function observe(name: string, run: () => unknown): Promise<Trial> {
  passed = new Set();
  await run();
  const trial = { name, passes: passed, run };
  passed = undefined;
  return trial;
}

async function notices(trial: Trial, mutant: Mutant): Promise<boolean> {
  [on, hits] = [mutant.id, 0];
  try {
    await trial.run();
    return false;
  } catch {
    return true;
  } finally {
    on = -1;
  }
}

const tested = [...files, join(ROOT, 'services/pdf/convert.test.ts')].filter((path) => path.endsWith('.test.ts'));
for (const path of tested) await import(pathToFileURL(path).href);
const tests: Trial[] = [];
for (const { name, run } of collected as CollectedTest[]) tests.push(await observe(name, run));

const survivors: Mutant[] = [];
const tally = new Map<string, { tried: number; caught: number }>();
for (const mutant of mutants) {
  const count = tally.get(mutant.file) ?? { tried: 0, caught: 0 };
  tally.set(mutant.file, count);
  count.tried += 1;
  let noticed = false;
  for (const trial of tests) {
    noticed = trial.passes.has(mutant.id) && (await notices(trial, mutant));
    if (noticed) break;
  }
  if (noticed) count.caught += 1;
  else survivors.push(mutant);
}

const documents: Trial[] = [];
if (values.corpus !== undefined) {
  const { convertPdf } = await import('#services/pdf/convert.ts');
  const options = { ...readParseOptions({ parsers: [{ type: 'pdf', mode: 'fast' }] }), fields: ['markdown' as const] };
  const context: JobContext = {
    signal: new AbortController().signal,
    requestId: 'mutations',
    deadline: Number.MAX_SAFE_INTEGER,
    volatile: false,
    call: () => Promise.reject(new Error('the text layer alone is read')),
  };
  const paths = readdirSync(values.corpus, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.pdf'),
  );
  for (const path of paths) {
    const bytes = readFileSync(join(values.corpus, path));
    const convert = async (): Promise<string> => {
      const file = { bytes, fileName: basename(path), extension: '.pdf' };
      return JSON.stringify((await convertPdf(file, options, context)).pages);
    };
    const before = await convert().catch(() => undefined);
    if (before === undefined) continue;
    documents.push(
      await observe(path, async () => {
        if ((await convert()) !== before) throw new Error('it reads otherwise');
      }),
    );
  }
}

for (const mutant of survivors) {
  const differ: string[] = [];
  for (const trial of documents)
    if (trial.passes.has(mutant.id) && (await notices(trial, mutant))) differ.push(basename(trial.name));
  const changed = values.corpus === undefined ? '' : `  ${differ.length} files: ${differ.slice(0, 4).join(' ')}`;
  console.log(`${mutant.file}:${mutant.line}  ${mutant.change}  ${mutant.code}${changed}`);
}
console.table(Object.fromEntries(tally));
process.exit();
