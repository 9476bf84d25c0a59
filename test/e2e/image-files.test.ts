// Tests what each image contains (packages, weight, files that no program reads), and runs the product from these files in a folder without the repository: a file that an image lacks fails here.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { copyImage, IMAGE_TARGETS, type ImageTarget, imageContent, imageFiles } from '#services/image-files.ts';
import { cases as endpoints } from '../contract/endpoints.cases.ts';
import { cases as formats } from '../contract/formats.cases.ts';
import { cases as redact } from '../contract/redact.cases.ts';
import { NOTICES, notices } from '../docs/third-party.ts';
import { type Product, skipReason, startProduct, type TransportName } from '../harness/product.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const files = new Map<ImageTarget, ReadonlySet<string>>();
for (const target of IMAGE_TARGETS) files.set(target, await imageFiles(target));

const filesOf = (target: ImageTarget): ReadonlySet<string> => files.get(target) ?? new Set();
const contentOf = (target: ImageTarget) => imageContent(filesOf(target));
/** The images that contain a package, without `all`. */
async function imagesWith(name: string): Promise<string[]> {
  const found: string[] = [];
  for (const target of IMAGE_TARGETS)
    if (target !== 'all' && (await contentOf(target)).packages.includes(name)) found.push(target);
  return found;
}

const PLACES: readonly (readonly [name: string, images: readonly string[]])[] = [
  ['@kubernetes/client-node', ['gateway']],
  ['express', ['gateway']],
  ['swagger-ui-dist', ['gateway']],
  ['@embedpdf/pdfium', ['pdf']],
  ['tesseract.js-core', ['ocr']],
  ['compromise', ['pii']],
  ['libphonenumber-js', ['pii']],
  ['sharp', ['pdf']],
  ['dompurify', ['gateway']],
  ['csv-parse', []],
  ['@napi-rs/canvas', []],
  ['node', []],
  ['@vercel/nft', []],
  ['typescript', []],
];
for (const [name, images] of PLACES)
  test(`${name} is in ${images.length === 0 ? 'no image' : `the image of ${images.join(', ')} and in no other`}`, async () =>
    assert.deepEqual(await imagesWith(name), images));

/** Packages that the files of an image import by name, read with a regular expression and not with the tracer. */
async function importedPackages(target: ImageTarget): Promise<Set<string>> {
  const names = new Set<string>();
  for (const path of filesOf(target)) {
    // The files of the page run in a browser, and contain programs for users as text.
    if (!/^(services|shared)\/.*\.ts$/.test(path) || path.startsWith('services/gateway/page/')) continue;
    const source = await readFile(join(ROOT, path), 'utf8');
    for (const [, specifier = ''] of source.matchAll(
      /^[ \t]*(?:import|export)\b(?!\s*type\b)[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm,
    ))
      if (!/^[.#]|^node:/.test(specifier)) names.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '');
  }
  return names;
}
for (const target of IMAGE_TARGETS)
  test(`the image ${target} contains each package that its files import`, async () => {
    const { packages } = await contentOf(target);
    const imported = await importedPackages(target);
    assert.ok(imported.size > 3, [...imported].join(' '));
    assert.deepEqual([...imported].filter((name) => !packages.includes(name)).sort(), []);
  });

/** Megabytes of npm packages that an image may contain. */
const PACKAGE_BUDGET: Readonly<Record<ImageTarget, number>> = {
  gateway: 60,
  pdf: 60,
  ocr: 30,
  office: 12,
  html: 12,
  csv: 12,
  pii: 12,
  enrich: 12,
  all: 130,
};
for (const target of IMAGE_TARGETS)
  test(`the packages of the image ${target} are at most ${PACKAGE_BUDGET[target]} MB`, async (context) => {
    const { packages, packageBytes, sourceBytes } = await contentOf(target);
    context.diagnostic(`${target}: ${packages.length} packages, ${packageBytes} bytes; sources, ${sourceBytes} bytes`);
    assert.ok(
      packageBytes <= PACKAGE_BUDGET[target] * 1e6,
      `${packageBytes} bytes. Which package grew? node services/image-files.ts /tmp/images ${target}`,
    );
    assert.ok(sourceBytes <= 3e6, `${sourceBytes} bytes of our own files`);
  });

test('an image contains its own service only, and no test, source map or type declaration', () => {
  for (const target of IMAGE_TARGETS) {
    const paths = [...filesOf(target)];
    assert.deepEqual(
      paths.filter((path) => /\.map$|\.d\.[cm]?ts$|\.test\.ts$|^(?:services|shared)\/.*\/testing\//.test(path)),
      [],
    );
    const foreign = paths.filter((path) => {
      const folder = /^services\/([^/]+)\//.exec(path)?.[1];
      return target !== 'all' && folder !== undefined && folder !== target;
    });
    assert.deepEqual(foreign, [], target);
    assert.ok(paths.includes('shared/runtime/isolation/child.ts'), `${target}: the module of isolated processes`);
  }
});

test('files that are read at run time are in the image: WebAssembly, character maps, fonts, native programs and the pages of the gateway', () => {
  const has = (target: ImageTarget, pattern: RegExp): boolean =>
    [...filesOf(target)].some((path) => pattern.test(path));
  assert.ok(has('pdf', /@embedpdf\/pdfium\/.*\.wasm$/));
  assert.ok(has('pdf', /pdfjs-dist\/cmaps\/.*\.bcmap$/));
  assert.ok(has('pdf', /pdfjs-dist\/standard_fonts\//));
  assert.ok(has('ocr', /tesseract\.js-core\/tesseract-core-relaxedsimd-lstm\.wasm$/));
  assert.ok(has('gateway', /swagger-ui-dist\/swagger-ui-bundle\.js$/));
  assert.ok(has('gateway', /^services\/keys\.ts$/));
  assert.ok(has('gateway', /pdfjs-dist\/build\/pdf\.worker\.min\.mjs$/));
  assert.ok(has('gateway', /^fixtures\/pdf\/sample\.pdf$/));
  assert.ok(has('pdf', /@img\/sharp-[^/]+\/.*\.node$/));
  assert.ok(has('pdf', /@img\/sharp-libvips-[^/]+\/.*\.so/));
});

test('each native package of production exists for amd64 and for arm64', async () => {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; os?: string[]; cpu?: string[] }>;
  };
  const forLinux = (cpu: string): string[] =>
    Object.entries(packages)
      .filter(([, entry]) => !entry.dev && entry.os?.includes('linux') && entry.cpu?.includes(cpu))
      .map(([path]) => path.replaceAll(cpu, 'CPU'))
      .sort();
  assert.ok(forLinux('x64').length > 1, forLinux('x64').join(' '));
  assert.deepEqual(forLinux('arm64'), forLinux('x64'));
});

test('THIRD-PARTY-NOTICES.md is current', async () =>
  assert.equal(
    await readFile(`${ROOT}${NOTICES}`, 'utf8'),
    await notices(),
    'run `npm run notices` and commit the result',
  ));

test('every image contains the notices and the licence of Parsemesh', async () => {
  for (const target of IMAGE_TARGETS) {
    assert.ok(filesOf(target).has(NOTICES) && filesOf(target).has('LICENSE'), target);
  }
  const dockerfile = await readFile(`${ROOT}Dockerfile`, 'utf8');
  assert.match(dockerfile, /^COPY LICENSE THIRD-PARTY-NOTICES\.md \.\/$/m);
  assert.match(await readFile(`${ROOT}.dockerignore`, 'utf8'), /^!THIRD-PARTY-NOTICES\.md$/m);
});

test('each package keeps its licence', async () => {
  const { packages } = await contentOf('all');
  const licensed = packages.filter((name) => {
    const below = [...filesOf('all')].filter((path) => path.includes(`node_modules/${name}/`));
    return below.some((path) => /\/(?:licen[cs]e|notice|copying)[^/]*$/i.test(path));
  });
  // Some packages state their licence only in package.json.
  assert.ok(licensed.length >= packages.length * 0.9, `${licensed.length} of ${packages.length}`);
});

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

/** One row of the contract for each extension, and rows that need every other service. */
const FILES = endpoints.filter(({ name }) => /^parses `\.\w+`:/.test(name));
const OTHERS = [...formats, ...redact].filter(({ name }) => /^`summary`|^redacts markdown, html/.test(name));

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
      // The image with all services has the same files as the others together.
      for (const one of transport === 'nats' ? [...FILES, ...OTHERS] : OTHERS)
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
