// Runs every command, program and setting of docs/clients.md against a started product.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import {
  type CodeBlock,
  codeBlocks,
  commandEnvironment,
  OfflineError,
  runBlocks,
  withServer,
} from '../harness/documented-commands.ts';
import { CONTENT, pdf } from '../harness/documents.ts';
import { connectMcp, parseTool, textOf } from '../harness/mcp-client.ts';
import { type Product, startProduct } from '../harness/product.ts';
import { MCP_SERVER, npmPackages, orSkip, PYTHON_SDK, pythonPackages } from '../harness/published-packages.ts';

const blocks = await codeBlocks('docs/clients.md');
const sections = Map.groupBy(blocks, ({ section }) => section);
const settings = sections.get('') ?? [];
let product: Product;
let folder: string;

before(async () => {
  product = await startProduct({ transport: 'memory' });
  folder = await mkdtemp(join(tmpdir(), 'parsemesh-clients-'));
  const lines = [...CONTENT.paragraphs, 'Write to anna@example.com.'];
  await writeFile(join(folder, 'report.pdf'), await pdf([{ title: CONTENT.title, lines }]));
});
after(async () => {
  await product?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs code blocks. @returns what their commands print, or undefined if the test is skipped */
async function runOrSkip(context: TestContext, code: CodeBlock[], path: string[] = []): Promise<string | undefined> {
  try {
    return await runBlocks([...settings, ...code], { product, folder, path });
  } catch (error) {
    if (!(error instanceof OfflineError)) throw error;
    context.skip(`SKIPPED: ${error.message}`);
    return undefined;
  }
}

const runSection = (context: TestContext, name: string, path: string[] = []) =>
  runOrSkip(context, sections.get(name) ?? [], path);

const count = (text: string, words: RegExp): number => [...text.matchAll(words)].length;

test('the page has the sections that these tests run, and no other code', () => {
  const names = [...sections.keys()];
  assert.deepEqual(names, ['', 'curl', 'JavaScript', 'Python', 'Command line', 'MCP server']);
  const kinds = blocks.map(({ language, fileName }) => (fileName === undefined ? language : `${language} file`));
  assert.deepEqual([...new Set(kinds)].sort(), ['js file', 'json file', 'python file', 'sh']);
});

test('curl', async (context) => {
  const output = await runSection(context, 'curl');
  assert.match(output ?? '', /^# Harbour report\n\nThe lighthouse keeper counted seventeen herons\./);
  assert.match(output ?? '', /Write to <EMAIL>.*"links":\[\]/s);
});

test('JavaScript', async (context) => {
  const output = await runSection(context, 'JavaScript');
  if (output === undefined) return;
  assert.equal(count(output, /seventeen herons/g), 2);
  assert.match(output, /^1 pages, 2 credits$/m);
});

test('Python', async (context) => {
  const python = await orSkip(context, pythonPackages(PYTHON_SDK));
  if (python === undefined) return;
  const output = await runSection(context, 'Python', [dirname(python)]);
  if (output === undefined) return;
  assert.equal(count(output, /seventeen herons/g), 2);
  assert.match(output, /^1 pages$/m);
  assert.equal(count(output, /^report\.pdf \d+ characters$/gm), 2);
});

test('Command line', async (context) => {
  const output = await runSection(context, 'Command line');
  if (output === undefined) return;
  assert.match(output, /seventeen herons/);
  assert.match(output, /Remaining Credits: /);
  assert.match(await readFile(join(folder, 'report.md'), 'utf8'), /seventeen herons/);
  assert.match(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')).html, /<h1>Harbour report/);
});

const definedVariables = (variables: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

interface ServerSettings {
  type?: string;
  command: string;
  args: string[];
  env: Record<string, string>;
}

function serverSettings({ text }: CodeBlock): ServerSettings {
  const { mcpServers, servers } = JSON.parse(withServer(text, product));
  return (mcpServers ?? servers).parsemesh;
}

test('MCP server', async (context) => {
  const packages = await orSkip(context, npmPackages(MCP_SERVER));
  if (packages === undefined) return;
  const download = { section: '', language: 'sh', fileName: undefined, text: `npm cache add ${MCP_SERVER}` };
  if ((await runOrSkip(context, [download])) === undefined) return;
  const [first, ...others] = (sections.get('MCP server') ?? []).map(serverSettings);
  assert.ok(first);
  for (const { type: _, ...other } of others) assert.deepEqual(other, first, 'all assistants start the same server');
  const env = { ...definedVariables(commandEnvironment(folder)), ...first.env };
  const client = await connectMcp(packages, { ...first, env, cwd: folder });
  try {
    const result = await parseTool(client, { filePath: join(folder, 'report.pdf') });
    assert.match(textOf(result), /seventeen herons/);
  } finally {
    await client.close();
  }
});
