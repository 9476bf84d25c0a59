// Runs the examples against a started product, with the commands of their READMEs. The loaders in Python have a script of their own (`npm run test:examples`).
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { send } from '../harness/client.ts';
import { withServer } from '../harness/documented-commands.ts';
import { CONTENT, pdf } from '../harness/documents.ts';
import { type Product, startProduct } from '../harness/product.ts';
import { orSkip, PYTHON_SDK, pythonPackages } from '../harness/published-packages.ts';
import { runExample } from './example.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
let product: Product;
before(async () => {
  product = await startProduct({ transport: 'memory' });
});
after(() => product?.stop());

const HERONS = /seventeen herons/;

test('examples/README.md lists every example', async () => {
  const folders = (await readdir(EXAMPLES, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const listed = [...(await readFile(join(EXAMPLES, 'README.md'), 'utf8')).matchAll(/^\| \[([\w-]+)\]\(\1\) \|/gm)];
  assert.deepEqual(listed.map(([, name]) => name).sort(), folders.map(({ name }) => name).sort());
});

test('python', async (context) => {
  const python = await orSkip(context, pythonPackages(PYTHON_SDK));
  if (python === undefined) return;
  const check = async (folder: string) => assert.match(await readFile(join(folder, 'report.md'), 'utf8'), HERONS);
  const output = await runExample('python', { product, context, path: [dirname(python)], check });
  if (output !== undefined) assert.match(output, /^report\.md: 3 credits$/m);
});

test('node', async (context) => {
  const check = async (folder: string) => assert.match(await readFile(join(folder, 'report.md'), 'utf8'), HERONS);
  assert.match((await runExample('node', { product, context, check })) ?? '', /^report\.md: 3 credits$/m);
});

test('node waits as Retry-After asks, and prints the message of an error', async (context) => {
  const key = await product.createKey('--rate', '20');
  // Requests with an invalid body use up the rate of the key. The next one is allowed after 3 s.
  const invalid = { headers: { 'content-type': 'multipart/form-data; boundary=b' }, body: '--b--\r\n', key };
  let status = 400;
  while (status === 400) status = (await send(product, invalid)).status;
  assert.equal(status, 429);
  assert.match((await runExample('node', { product: { ...product, key }, context })) ?? '', /3 credits/);
  const wrong = { ...product, key: 'fc-wrong' };
  await assert.rejects(runExample('node', { product: wrong, context }), /report\.pdf: UNAUTHORIZED: Unauthorized/);
});

test('langchain, JavaScript', async (context) => {
  const output = await runExample('langchain', { product, context, only: /export|npm/ });
  if (output === undefined) return;
  assert.match(output, HERONS);
  assert.match(output, /page: 1,\s+total_pages: 2\s+\}\nThe second page\./);
});

test('mcp', async (context) => {
  const output = await runExample('mcp', { product, context });
  if (output !== undefined) assert.match(output, HERONS);
});

interface WorkflowNode {
  name: string;
  type: string;
  parameters: {
    method: string;
    url: string;
    genericAuthType: string;
    contentType: string;
    bodyParameters: {
      parameters: { parameterType: string; name: string; value?: string; inputDataFieldName?: string }[];
    };
    options: { dataPropertyName?: string };
  };
}

test('n8n: the workflow is complete, and its HTTP request returns Markdown', async () => {
  const text = await readFile(join(EXAMPLES, 'n8n/parse-file.json'), 'utf8');
  const { nodes, connections } = JSON.parse(withServer(text, product)) as {
    nodes: WorkflowNode[];
    connections: Record<string, { main: { node: string }[][] }>;
  };
  const next = (name: string) => connections[name]?.main[0]?.[0]?.node;
  const [start, read, request] = nodes;
  assert.ok(start && read && request);
  assert.deepEqual([next(start.name), next(read.name), next(request.name)], [read.name, request.name, undefined]);
  assert.equal(new Set(nodes.map((node) => JSON.stringify((node as { id?: string }).id))).size, nodes.length);

  // The HTTP Request node of n8n sends this request: the credential is the bearer token, a field of binary data is a file part.
  const { method, url, contentType, genericAuthType, bodyParameters } = request.parameters;
  assert.deepEqual([contentType, genericAuthType], ['multipart-form-data', 'httpBearerAuth']);
  const file = await pdf([{ title: CONTENT.title, lines: [...CONTENT.paragraphs] }]);
  const form = new FormData();
  for (const { parameterType, name, value, inputDataFieldName } of bodyParameters.parameters)
    if (parameterType === 'formBinaryData') {
      assert.equal(inputDataFieldName, read.parameters.options.dataPropertyName);
      form.append(name, new Blob([Buffer.from(file)], { type: 'application/pdf' }), 'report.pdf');
    } else form.append(name, value ?? '');
  const response = await fetch(url, { method, headers: { authorization: `Bearer ${product.key}` }, body: form });
  const { data } = (await response.json()) as { data: { markdown: string } };
  assert.match(data.markdown, HERONS);
});

test('open-webui: the request of the README returns documents, and the compose file has the settings', async (context) => {
  const output = await runExample('open-webui', { product, context, only: /curl|PARSEMESH_KEY=/ });
  const documents = JSON.parse(output ?? '') as { page_content: string; metadata: { page: number } }[];
  assert.match(documents[0]?.page_content ?? '', HERONS);
  assert.equal(documents[1]?.metadata.page, 1);
  const compose = parseYaml(await readFile(join(EXAMPLES, 'open-webui/compose.yaml'), 'utf8'));
  const { CONTENT_EXTRACTION_ENGINE, ...rest } = compose.services['open-webui'].environment;
  assert.equal(CONTENT_EXTRACTION_ENGINE, 'external');
  assert.deepEqual(Object.keys(rest), ['EXTERNAL_DOCUMENT_LOADER_URL', 'EXTERNAL_DOCUMENT_LOADER_API_KEY']);
});
