// Runs the commands of README.md, and checks that its tables are complete, so that the first page that a user reads is true.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { EXTENSIONS } from '#shared/contract/formats.ts';
import { parseOptionsSchema } from '#shared/contract/options-schema.ts';
import { parseResponseSchema } from '#shared/contract/response.ts';
import { type CodeBlock, codeBlocks, commandsOf, ROOT } from '../harness/documented-commands.ts';
import { type Product, startProduct } from '../harness/product.ts';
import { orSkip, PYTHON_SDK, pythonPackages } from '../harness/published-packages.ts';

const run = promisify(execFile);
const SAMPLE = 'fixtures/pdf/sample.pdf';

/** Commands that another test runs, because they start the product, or need Docker or a cluster. */
const RUN_ELSEWHERE: readonly (readonly [command: RegExp, file: string])[] = [
  [/^npm start$/, 'test/e2e/npm-start.test.ts'],
  [/^npm test$/, '.ci/run'],
  [/^docker (build|run) /, 'test/images/readme.images.ts'],
  [/^(npm run images|helm |kubectl )/, 'test/cluster/readme.cluster.ts'],
];

const runElsewhere = (command: string) => RUN_ELSEWHERE.find(([pattern]) => pattern.test(command))?.[1];
const blocks = await codeBlocks('README.md');
const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
const inLanguage = (language: string): CodeBlock[] => blocks.filter((block) => block.language === language);
const requests = inLanguage('sh')
  .flatMap(commandsOf)
  .filter((command) => runElsewhere(command) === undefined);

/** The rows of the table in this section: the text of each cell. */
const tableOf = (section: string): string[][] =>
  (readme.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));

const inBackticks = (text: string): string[] => Array.from(text.matchAll(/`([^`]+)`/g), ([, code = '']) => code);

describe('README.md', () => {
  let product: Product;
  /** Working folder of the commands. It contains the sample at the same path as a checkout. */
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parsemesh-readme-'));
    await mkdir(join(folder, 'fixtures/pdf'), { recursive: true });
    await copyFile(join(ROOT, SAMPLE), join(folder, SAMPLE));
    product = await startProduct({ transport: 'memory' });
  });
  after(async () => {
    await product?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const adapt = (text: string): string =>
    text.replaceAll('http://127.0.0.1:8080', product.url).replaceAll('YOUR_KEY', product.key);

  test('each file that runs the other commands exists', () => {
    for (const [, file] of RUN_ELSEWHERE) assert.ok(existsSync(join(ROOT, file)), file);
  });

  test('each block of code is a shell command or a Python program', () => {
    assert.deepEqual(new Set(blocks.map((block) => block.language)), new Set(['sh', 'python']));
    assert.ok(requests.length >= 3, 'the search must find the requests');
  });

  for (const command of requests)
    test(`works as printed: ${command.slice(0, 120)}`, async () => {
      const { stdout } = await run('sh', ['-c', adapt(command)], { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
      const saved = /> (\S+)$/.exec(command)?.[1];
      const markdown =
        saved === undefined
          ? parseResponseSchema.parse(JSON.parse(stdout)).data.markdown
          : await readFile(join(folder, saved), 'utf8');
      assert.match(markdown ?? '', /^# A short guide to tide tables/m);
    });

  for (const { text } of inLanguage('python'))
    test('the Python program prints the Markdown', async (context) => {
      const python = await orSkip(context, pythonPackages(PYTHON_SDK));
      if (python === undefined) return;
      const { stdout } = await run(python, ['-c', adapt(text)], { cwd: folder });
      assert.match(stdout, /^# A short guide to tide tables/m);
    });

  test('the table of files names each extension once', () => {
    const named = tableOf('Files').flatMap(([, , extensions = '']) => inBackticks(extensions));
    assert.deepEqual(named.toSorted(), EXTENSIONS.toSorted());
  });

  test('the table of options names options that exist', () => {
    const known = Object.keys(parseOptionsSchema.shape);
    const named = tableOf('Options').flatMap(([, option = '']) => inBackticks(option));
    assert.ok(named.length >= 8, 'the search must find the options');
    assert.deepEqual(
      named.filter((name) => !known.includes(name)),
      [],
    );
  });
});
