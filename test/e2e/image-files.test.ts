// Runs the product from the files of its images, each in a folder of its own without the repository: a file that an image lacks fails here.
import assert from 'node:assert/strict';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { copyImage, IMAGE_TARGETS, type ImageTarget } from '#services/image-files.ts';
import { cases as endpoints } from '../contract/endpoints.cases.ts';
import { cases as formats } from '../contract/formats.cases.ts';
import { cases as parsers } from '../contract/parsers.cases.ts';
import { cases as redact } from '../contract/redact.cases.ts';
import { type Product, skipReason, startProduct, type TransportName } from '../harness/product.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parsemesh-images-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** Copies the files of an image and joins its two layers, as the Dockerfile does. */
async function layOut(target: ImageTarget): Promise<void> {
  await copyImage(target, join(folder, target));
  await rename(join(folder, target, 'packages/node_modules'), join(folder, target, 'app/node_modules'));
}

/** One row of the contract for each kind of file, and for each of its MIME types. */
const FILES = endpoints.filter(({ name }) => name.startsWith('parses '));

const SHAPES: readonly { name: string; transport: TransportName; targets: readonly ImageTarget[]; ocr: string }[] = [
  // The WebAssembly engine, because the installed program needs no package.
  {
    name: 'one image for each service, over NATS',
    transport: 'nats',
    targets: IMAGE_TARGETS.filter((target) => target !== 'all'),
    ocr: 'wasm',
  },
  { name: 'the image with all services', transport: 'memory', targets: ['all'], ocr: 'auto' },
];

for (const { name, transport, targets, ocr } of SHAPES)
  describe(name, { skip: skipReason(transport) }, () => {
    let product: Product;
    before(async () => {
      for (const target of targets) await layOut(target);
      product = await startProduct({
        transport,
        folder: (service) => join(folder, service === 'start' ? 'all' : service, 'app'),
        env: { OCR_ENGINE: ocr },
      });
    });
    after(() => product?.stop());
    describe('rows of the contract', { concurrency: 4 }, () => {
      for (const one of transport === 'nats' ? [...FILES, ...parsers, ...formats, ...redact] : FILES)
        test(one.name, (context) => one.run(product, context));
    });
    test('the pages of the gateway have their files', async () => {
      const get = async (path: string): Promise<string> => {
        const response = await fetch(`${product.url}${path}`);
        assert.equal(response.status, 200, path);
        return response.text();
      };
      for (const path of ['/', '/page/sample.pdf', '/docs', '/docs/swagger-ui-bundle.js', '/openapi.json'])
        await get(path);
      for (const path of ['/page/main.ts', '/page/packages/marked.js', '/page/packages/dompurify.js']) await get(path);
      const { pdfjs } = JSON.parse(await get('/page/settings.json')) as { pdfjs: string };
      for (const name of ['build/pdf.min.mjs', 'build/pdf.worker.min.mjs', 'wasm/openjpeg.wasm'])
        await get(`${pdfjs}/${name}`);
    });
  });
