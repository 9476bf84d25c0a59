// Tests what each image contains, without a container: packages, weight, and files that no program reads.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { IMAGE_TARGETS, type ImageTarget, imageContent, imageFiles } from './image-files.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
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
  ['csv-parse', ['csv']],
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

test('each package keeps its licence', async () => {
  const { packages } = await contentOf('all');
  const licensed = packages.filter((name) => {
    const below = [...filesOf('all')].filter((path) => path.includes(`node_modules/${name}/`));
    return below.some((path) => /\/(?:licen[cs]e|notice|copying)[^/]*$/i.test(path));
  });
  // Some packages state their licence only in package.json.
  assert.ok(licensed.length >= packages.length * 0.9, `${licensed.length} of ${packages.length}`);
});
