// Checks that Firecrawl's public SDKs work when only their API URL is set.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Firecrawl } from 'firecrawl';
import { CONTENT, pdf } from '../harness/documents.ts';
import type { Product } from '../harness/product.ts';
import { type ContractCase, SMALL_CSV } from './contract-case.ts';

const run = promisify(execFile);
const PYTHON_SDK = 'firecrawl-py==4.53.0';

const client = (product: Product) => new Firecrawl({ apiKey: product.key, apiUrl: product.url });

/** Path of a Python with the SDK, in a virtual environment that is kept between runs. @throws Error if it cannot be installed */
const pythonWithSdk = (() => {
  let ready: Promise<string> | undefined;
  return () => {
    ready ??= (async () => {
      const folder = fileURLToPath(
        new URL(`../../node_modules/.cache/${PYTHON_SDK.replace('==', '-')}`, import.meta.url),
      );
      const python = join(folder, 'bin/python');
      const finished = join(folder, 'lib/.installed');
      try {
        await access(finished);
      } catch {
        await mkdir(folder, { recursive: true });
        await run('python3', ['-m', 'venv', folder], { timeout: 600_000 });
        await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PYTHON_SDK], {
          timeout: 600_000,
        });
        await mkdir(finished);
      }
      return python;
    })();
    return ready;
  };
})();

const PYTHON_PROGRAM = `
import json, sys
from firecrawl import Firecrawl
from firecrawl.v2.types import ParseOptions
url, key, path = sys.argv[1:4]
client = Firecrawl(api_key=key, api_url=url)
plain = client.parse(open(path, "rb").read(), filename="boats.csv")
tuned = client.parse(path, options=ParseOptions(formats=["markdown", "html"], only_main_content=True, timeout=300000))
try:
    client.parse(b"words", filename="notes.xyz")
    refused = "no"
except Exception as error:
    refused = str(error)
print(json.dumps({"plain": plain.markdown, "tuned": tuned.html, "refused": refused}))
`;

export const cases: ContractCase[] = [
  {
    name: 'npm `firecrawl` parses a file with its default options',
    run: async (product) => {
      const document = await client(product).parse({
        data: Buffer.from(SMALL_CSV.file),
        filename: 'boats.csv',
        contentType: 'text/csv',
      });
      assert.match(document.markdown ?? '', /seventeen herons/);
      assert.equal(document.metadata?.statusCode, 200);
    },
  },
  {
    name: 'npm `firecrawl` sends formats, parsers, timeout and redaction',
    run: async (product) => {
      const data = await pdf([{ title: CONTENT.title, lines: ['Write to anna@example.com.'] }]);
      const document = await client(product).parse(
        { data, filename: 'report.pdf', contentType: 'application/pdf' },
        {
          formats: ['markdown', 'html', 'links'],
          parsers: [{ type: 'pdf', mode: 'auto', pages: true, blocks: true }],
          timeout: 300_000,
          redactPII: true,
          onlyMainContent: true,
        },
      );
      assert.match(document.markdown ?? '', /<EMAIL>/);
      assert.ok(document.html && document.links);
      assert.equal(document.pages?.[0]?.pageNumber, 1);
      assert.ok((document.blocks?.[0]?.items.length ?? 0) > 0);
    },
  },
  {
    name: 'npm `firecrawl` rejects with the status and message of a 400',
    run: async (product) => {
      await assert.rejects(
        client(product).parse({ data: Buffer.from('words'), filename: 'notes.xyz' }),
        (error: Error & { status?: number }) => {
          assert.equal(error.status, 400);
          assert.match(error.message, /\.pdf/);
          return true;
        },
      );
    },
  },
  {
    name: 'npm `firecrawl` rejects with status 401 for a wrong key',
    run: async (product) => {
      const unauthorized = new Firecrawl({ apiKey: 'fc-not-a-key-000', apiUrl: product.url });
      await assert.rejects(
        unauthorized.parse({ data: Buffer.from('a'), filename: 'a.csv' }),
        (error: Error & { status?: number }) => error.status === 401,
      );
    },
  },
  {
    name: `Python \`${PYTHON_SDK}\` parses with defaults and with options, and raises for a 400`,
    run: async (product, context) => {
      let python: string;
      try {
        python = await pythonWithSdk();
      } catch (error) {
        if (process.env.CI) throw error;
        context.skip('the Python SDK could not be installed');
        return;
      }
      const folder = await mkdtemp(join(tmpdir(), 'parsemesh-python-'));
      try {
        await writeFile(join(folder, 'boats.csv'), SMALL_CSV.file);
        const { stdout } = await run(
          python,
          ['-c', PYTHON_PROGRAM, product.url, product.key, join(folder, 'boats.csv')],
          { timeout: 600_000 },
        );
        const { plain, tuned, refused } = JSON.parse(stdout);
        assert.match(plain, /seventeen herons/);
        assert.match(tuned, /<table/);
        assert.match(refused, /\.pdf/);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  },
];
