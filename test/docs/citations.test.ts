// Checks the references between code and docs: sections of docs/api.md that code cites, files that docs link to, and files that are not in the repository.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

async function sources(pattern: string): Promise<[path: string, text: string][]> {
  const found: [string, string][] = [];
  for await (const path of glob(pattern, { cwd: ROOT, exclude: ['node_modules/**'] }))
    found.push([path, await read(path)]);
  return found;
}

test('each section of docs/api.md that code cites exists', async () => {
  const headings = new Set(Array.from((await read('docs/api.md')).matchAll(/^## (.+)$/gm), ([, heading]) => heading));
  const cited = (await sources('{services,shared,test,fixtures}/**/*.ts')).flatMap(([path, text]) =>
    Array.from(text.matchAll(/docs\/api\.md,\s+"([^"]+)"/g), ([, section]) => ({ path, section })),
  );
  assert.ok(cited.length > 20, 'the search must find the citations');
  assert.deepEqual(
    cited.filter(({ section }) => !headings.has(section ?? '')),
    [],
  );
});

test('each file that a page links to exists', async () => {
  const pages = await sources(
    '{*.md,docs/*.md,charts/*/README.md,k8s/README.md,fixtures/**/README.md,examples/**/README.md}',
  );
  const broken = pages.flatMap(([path, text]) =>
    Array.from(text.matchAll(/\]\((?!https?:|#)([^)#\s`]+)(?:#[^)]*)?\)/g), ([, target = '']) => target)
      .filter((target) => !existsSync(join(ROOT, dirname(path), target)))
      .map((target) => `${path}: ${target}`),
  );
  assert.ok(pages.length > 10, 'the search must find the pages');
  assert.deepEqual(broken, []);
});
