// Checks that each exported name is imported by another file, because an unused export hides dead code.
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Stands for all names of a file: `import * as`, `import()`, or a file that is loaded by its URL. */
const ALL = '*';

const DECLARATION =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|const|let|class|interface|type)\s+([\w$]+)/gm;
const STATIC_IMPORT = /\b(?:import|export)\s+(?:type\s+)?([^;'"]*?)\s*from\s*['"]([.#][^'"]+)['"]/g;
const DYNAMIC_IMPORT = /\bimport\(\s*['"]([.#][^'"]+)['"]\s*\)/g;
const FILE_URL = /\bnew URL\(\s*['"](\.[^'"]+\.ts)['"]/g;

type Sources = ReadonlyMap<string, string>;

/** Names that the files import from each file, by path. */
function importedNames(sources: Sources): Map<string, Set<string>> {
  const used = new Map<string, Set<string>>();
  for (const [file, source] of sources) {
    const add = (specifier: string, names: readonly string[]): void => {
      const target = specifier.startsWith('#') ? specifier.slice(1) : normalize(join(dirname(file), specifier));
      used.set(target, new Set([...(used.get(target) ?? []), ...names]));
    };
    for (const [, clause = '', specifier = ''] of source.matchAll(STATIC_IMPORT)) {
      const braces = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
      const names = braces.split(',').map((name) =>
        name
          .trim()
          .replace(/^type\s+/, '')
          .replace(/\s+as\s.*$/s, ''),
      );
      add(specifier, clause.includes('*') ? [ALL] : names);
    }
    for (const [, specifier = ''] of source.matchAll(DYNAMIC_IMPORT)) add(specifier, [ALL]);
    for (const [, specifier = ''] of source.matchAll(FILE_URL)) add(specifier, [ALL]);
  }
  return used;
}

/** Files whose exports are used by name at run time: the modules of isolated processes, substitutes for modules in `npm run mutations`, and code in a string. */
const LOADED_AT_RUN_TIME =
  /^services\/[^/]+\/(?:\w+-)?worker\.ts$|^shared\/runtime\/isolation\/testing\/|^test\/mutations\/(?:collected-tests|cached-page-source|mutation-operators\.test)\.ts$/;

/** Exports that no other file imports, as `file: name`. */
function unusedExports(sources: Sources): string[] {
  const used = importedNames(sources);
  return [...sources].flatMap(([file, source]) => {
    const names = used.get(file);
    if (names?.has(ALL) || LOADED_AT_RUN_TIME.test(file)) return [];
    return [...source.matchAll(DECLARATION)].flatMap(([, name = '']) => (names?.has(name) ? [] : [`${file}: ${name}`]));
  });
}

test('each exported name is imported by another file', async () => {
  const sources = new Map<string, string>();
  for await (const file of glob('{services,shared,test,fixtures}/**/*.ts', { cwd: ROOT }))
    sources.set(file, await readFile(join(ROOT, file), 'utf8'));
  assert.ok(sources.size > 300, 'the sources were found');
  assert.deepEqual(unusedExports(sources), [], 'remove `export` from these names, or delete them');
});

test('finds an unused export, and counts every form of import as a use', () => {
  const library = 'export const a = 1;\nexport type B = string;\nexport async function c() {}\nexport class D {}\n';
  const uses = (importer: string) =>
    unusedExports(
      new Map([
        ['shared/x/library.ts', library],
        ['shared/x/importer.ts', importer],
      ]),
    );
  assert.deepEqual(
    uses(''),
    ['a', 'B', 'c', 'D'].map((name) => `shared/x/library.ts: ${name}`),
  );
  assert.deepEqual(uses("import { a, type B, c as renamed } from './library.ts';"), ['shared/x/library.ts: D']);
  assert.deepEqual(uses("export { a, c, D } from '#shared/x/library.ts';\nimport type { B } from './library.ts';"), []);
  assert.deepEqual(uses("import * as library from './library.ts';"), []);
  assert.deepEqual(uses("const { a } = await import('./library.ts');"), []);
  assert.deepEqual(uses("start(new URL('./library.ts', import.meta.url));"), []);
});
