// Runs an example in a copy of its folder, against a started product.
import { cp, glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { codeBlocks, OfflineError, runBlocks, withServer } from '../harness/documented-commands.ts';
import { CONTENT, pdf } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));

interface ExampleOptions {
  product: Product;
  context: TestContext;
  /** Folders that come first in PATH. */
  path?: readonly string[];
  /** Which commands of the README run. The default is all. */
  only?: RegExp;
  /** Checks the files that the commands wrote. */
  check?: (folder: string) => Promise<void>;
}

/**
 * Copies an example beside a PDF with two pages, sets the URL and the key in its files, and runs the commands of its README.
 * @returns what the commands print, or undefined after the test is marked as skipped because a package cannot be downloaded
 */
export async function runExample(name: string, options: ExampleOptions): Promise<string | undefined> {
  const { product, context, path, only, check } = options;
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-example-'));
  try {
    await cp(join(EXAMPLES, name), folder, { recursive: true });
    for await (const file of glob('**/*.json', { cwd: folder })) {
      const text = await readFile(join(folder, file), 'utf8');
      await writeFile(join(folder, file), withServer(text, product));
    }
    const pages = [{ title: CONTENT.title, lines: [...CONTENT.paragraphs] }, { lines: ['The second page.'] }];
    await writeFile(join(folder, 'report.pdf'), await pdf(pages));
    const blocks = await codeBlocks(`examples/${name}/README.md`);
    const chosen = blocks.filter(({ text }) => only === undefined || only.test(text));
    if (chosen.length === 0) throw new Error(`examples/${name}/README.md has no such commands`);
    const output = await runBlocks(chosen, { product, folder, ...(path ? { path } : {}) });
    await check?.(folder);
    return output;
  } catch (error) {
    if (!(error instanceof OfflineError)) throw error;
    context.skip(`SKIPPED: ${error.message}`);
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
