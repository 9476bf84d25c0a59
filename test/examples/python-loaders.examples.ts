// Runs the loaders for LangChain and LlamaIndex in Python. They have a script of their own (`npm run test:examples`), because installing their packages takes minutes.
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { after, before, test } from 'node:test';
import { type Product, startProduct } from '../harness/product.ts';
import { orSkip, pythonPackages } from '../harness/published-packages.ts';
import { runExample } from './example.ts';

let product: Product;
before(async () => {
  product = await startProduct({ transport: 'memory' });
});
after(() => product?.stop());

test('langchain, Python', async (context) => {
  const python = await orSkip(context, pythonPackages('langchain-core==1.7.2', 'requests==2.34.2'));
  if (python === undefined) return;
  const output = await runExample('langchain', { product, context, path: [dirname(python)], only: /export|python/ });
  if (output === undefined) return;
  assert.match(output, /seventeen herons/);
  assert.match(output, /'page': 1, 'total_pages': 2\}\nThe second page\./);
});

test('llama-index', async (context) => {
  const python = await orSkip(context, pythonPackages('llama-index-core==0.14.25', 'requests==2.34.2'));
  if (python === undefined) return;
  const output = await runExample('llama-index', { product, context, path: [dirname(python)] });
  if (output === undefined) return;
  assert.match(output, /seventeen herons/);
  assert.match(output, /'page_label': '2'.*\nThe second page\./);
});
