// Cases of the code that the page shows: it is run, and must return the Markdown that the page shows.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BrowserCase, Visit } from './browser-case.ts';
import { PERSONAL } from './documents.ts';

const run = promisify(execFile);
const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
/** The shell, curl and JavaScript read parts of this name as their own syntax if they are not quoted. */
const FILE_NAME = `it's "5; 6", über.html`;

/** Runs a program in a folder with the file. @returns its output, or undefined if the program is not installed */
async function output(command: string, args: readonly string[], cwd: string): Promise<string | undefined> {
  try {
    return (await run(command, args, { cwd, timeout: 120_000 })).stdout;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function shownCode({ page }: Visit, language: string): Promise<string> {
  await page.locator('#panel-code').getByRole('tab', { name: language, exact: true }).click();
  return (await page.locator('#panel-code .code-text').textContent()) ?? '';
}

const markdownOf = (json: string | undefined): unknown =>
  json === undefined ? undefined : (JSON.parse(json) as { data: { markdown: string } }).data.markdown;

export const cases: readonly BrowserCase[] = [
  {
    name: 'the shown curl, Python and JavaScript send the same request, with a placeholder for the key',
    async run(visit) {
      const { page, product } = visit;
      await visit.open();
      await page.check('#redact');
      await page.selectOption('[name=redactStyle]', 'mask');
      await visit.parse(FILE_NAME, PERSONAL);
      await visit.result();
      await visit.tab('Markdown').click();
      const expected = await page.locator('#panel-markdown .source').textContent();
      assert.match(expected ?? '', /\*{5}/);
      await visit.tab('Code').click();
      assert.match(await shownCode(visit, 'curl'), /Bearer YOUR_API_KEY/);
      await page.locator('#panel-code').getByLabel('Show my key').check();

      const folder = await mkdtemp(join(tmpdir(), 'parsemesh-code-'));
      try {
        await writeFile(join(folder, FILE_NAME), PERSONAL);
        await symlink(PACKAGES, join(folder, 'node_modules'));
        const curl = await shownCode(visit, 'curl');
        assert.ok(curl.includes(product.key));
        assert.equal(markdownOf(await output('sh', ['-c', curl], folder)), expected);
        await writeFile(join(folder, 'fetch.mjs'), await shownCode(visit, 'JavaScript'));
        assert.equal(markdownOf(await output(process.execPath, ['fetch.mjs'], folder)), expected);
        await writeFile(join(folder, 'sdk.mjs'), await shownCode(visit, 'JavaScript SDK'));
        assert.equal((await output(process.execPath, ['sdk.mjs'], folder))?.trim(), expected?.trim());
        await writeFile(join(folder, 'request.py'), await shownCode(visit, 'Python'));
        const hasRequests = await output(
          'python3',
          ['-c', 'import importlib.util as u; print(u.find_spec("requests"))'],
          folder,
        );
        if (hasRequests !== undefined && hasRequests.trim() !== 'None')
          assert.equal(markdownOf(await output('python3', ['request.py'], folder)), expected);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  },
  {
    name: 'the code follows the form before a request is sent',
    async run(visit) {
      const { page } = visit;
      await visit.open();
      await page.check('[value=html]');
      await page.selectOption('[name=mode]', 'ocr');
      const card = page.locator('#start-code');
      await card
        .getByText('{"formats":["markdown","html"],"parsers":[{"type":"pdf","blocks":true,"mode":"ocr"}]}')
        .waitFor();
    },
  },
];
