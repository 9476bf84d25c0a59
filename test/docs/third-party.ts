// Generates THIRD-PARTY-NOTICES.md from what the images contain (`npm run notices`): npm packages, the software inside them, Node.js and Debian packages.
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IMAGE_TARGETS, imageFiles } from '#services/image-files.ts';
import { table } from './markdown-table.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const NOTICES = 'THIRD-PARTY-NOTICES.md';
const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

/** Licences of the Debian packages that the Dockerfile names, as their copyright files state them. */
const DEBIAN: Readonly<Record<string, string>> = {
  tini: 'MIT',
  libtesseract5: 'Apache-2.0',
  'tesseract-ocr': 'Apache-2.0',
  'tesseract-ocr-eng': 'Apache-2.0',
  'libreoffice-writer-nogui': 'MPL-2.0, with parts under Apache-2.0, LGPL-3.0-or-later and others',
  'libreoffice-calc-nogui': 'MPL-2.0, with parts under Apache-2.0, LGPL-3.0-or-later and others',
  'libreoffice-impress-nogui': 'MPL-2.0, with parts under Apache-2.0, LGPL-3.0-or-later and others',
  'fonts-liberation': 'OFL-1.1',
  'fonts-dejavu': 'Bitstream Vera License, with changes in the public domain',
  'fonts-noto-core': 'OFL-1.1',
};

/** Software that is compiled into a package, where the package does not list it itself. */
const INSIDE: Readonly<Record<string, readonly (readonly [software: string, licence: string])[]>> = {
  '@embedpdf/pdfium': [
    ['PDFium', 'BSD-3-Clause and Apache-2.0 (LICENSE.pdfium)'],
    ['Abseil', 'Apache-2.0'],
    ['Anti-Grain Geometry 2.3', 'AGG licence (permissive)'],
    ['FreeType', 'FreeType License'],
    ['ICU', 'Unicode-3.0'],
    ['Little CMS', 'MIT'],
    ['libjpeg-turbo', 'IJG, BSD-3-Clause, Zlib'],
    ['OpenJPEG', 'BSD-2-Clause'],
    ['libpng', 'libpng-2.0'],
    ['zlib', 'Zlib'],
  ],
  'pdfjs-dist': [
    ['OpenJPEG (WebAssembly)', 'BSD-2-Clause (wasm/LICENSE_OPENJPEG)'],
    ['PDFium JBIG2 (WebAssembly)', 'BSD-3-Clause and Apache-2.0 (wasm/LICENSE_JBIG2)'],
    ['qcms (WebAssembly)', 'MIT (wasm/LICENSE_QCMS)'],
    ['QuickJS (WebAssembly)', 'MIT (wasm/LICENSE_QUICKJS)'],
    ['Foxit fonts', 'BSD-3-Clause (standard_fonts/LICENSE_FOXIT)'],
    ['Liberation fonts', 'OFL-1.1 (standard_fonts/LICENSE_LIBERATION)'],
    ['Adobe CMaps', 'BSD-3-Clause (cmaps/LICENSE)'],
  ],
  'tesseract.js-core': [
    ['Tesseract', 'Apache-2.0'],
    ['Leptonica', 'BSD-2-Clause'],
    ['giflib', 'MIT'],
    ['libjpeg', 'IJG'],
    ['libpng', 'libpng-2.0'],
    ['libtiff', 'libtiff'],
    ['libwebp', 'BSD-3-Clause'],
    ['OpenJPEG', 'BSD-2-Clause'],
    ['zlib', 'Zlib'],
  ],
};

/** Node.js and the software in its program, as its LICENSE lists it. */
const NODE: readonly (readonly [software: string, licence: string])[] = [
  ['Node.js', 'MIT'],
  ['Acorn, Ada, amaro, c-ares, cjs-module-lexer, llhttp, nghttp2, nghttp3, ngtcp2, undici, uvwasi', 'MIT'],
  ['Brotli, libuv, simdjson, simdutf', 'MIT (simdjson and simdutf: or Apache-2.0)'],
  ['ICU, CLDR and time zone data', 'Unicode-3.0'],
  ['OpenSSL', 'Apache-2.0'],
  ['SQLite', 'public domain'],
  ['V8, Zstandard', 'BSD-3-Clause'],
  ['zlib', 'Zlib'],
];

interface Package {
  name: string;
  version: string;
  licence: string;
  /** Names of the files with the text of the licence. */
  files: Set<string>;
}

interface PackageJson {
  version: string;
  license?: string;
  licenses?: readonly { type: string }[];
}

const folderOf = (path: string): string | undefined => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
const LICENCE_FILE = /^(?:licen[cs]e|notice|copying|third[-_]?party)/i;
/** A package with a program for one platform has the same licence on each. */
const anyPlatform = (name: string): string => name.replace(/-linux-(x64|arm64)$/, '-linux-*');

/** The npm packages of all images, by name and version. */
async function npmPackages(): Promise<Package[]> {
  const packages = new Map<string, Package>();
  for (const image of IMAGE_TARGETS)
    for (const path of await imageFiles(image)) {
      const folder = folderOf(path);
      if (folder === undefined) continue;
      let found = packages.get(folder);
      if (!found) {
        const { version, license, licenses } = JSON.parse(await read(`${folder}/package.json`)) as PackageJson;
        const licence = license ?? licenses?.map(({ type }) => type).join(', ');
        if (!licence) throw new Error(`${folder} has no licence in its package.json`);
        const name = anyPlatform(folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length));
        found = { name, version, licence, files: new Set() };
        packages.set(folder, found);
      }
      const file = path.slice(folder.length + 1);
      if (LICENCE_FILE.test(file)) found.files.add(file);
    }
  return [...packages.values()].sort((a, b) => (a.name + a.version < b.name + b.version ? -1 : 1));
}

/** The table of libraries in the README of libvips for sharp. */
async function libvipsLibraries(): Promise<string[][]> {
  for await (const path of glob('node_modules/@img/sharp-libvips-linux-*/README.md', { cwd: ROOT })) {
    const rows = [...(await read(path)).matchAll(/^\| ([a-z][\w-]*) +\| (.+?) +\|$/gm)];
    if (rows.length < 10) throw new Error(`${path} has no table of libraries`);
    return rows.map(([, name = '', licence = '']) => ['@img/sharp-libvips-linux-*', name, licence]);
  }
  throw new Error('the package sharp-libvips for Linux is not installed');
}

/**
 * Names of the Debian packages that a Dockerfile installs in its images.
 * @throws Error for a variable that it does not declare
 */
export function debianPackages(dockerfile: string): string[] {
  const variables = new Map(
    [...dockerfile.matchAll(/^ARG (\w+)="?(.*?)"?$/gm)].map(([, name, value]) => [name, value]),
  );
  const names = new Set<string>();
  // The stage `node` is not part of an image.
  const stages = dockerfile.split(/^(?=FROM )/m).filter((stage) => !/ AS node$/m.test(stage.split('\n')[0] ?? ''));
  const text = stages
    .join('')
    .replaceAll(/\$\(for language in \$\{LANGUAGES\}; do echo "(.*?)\$\{language\}"; done\)/g, (_, prefix: string) =>
      (variables.get('LANGUAGES') ?? '')
        .split(' ')
        .map((language) => prefix + language)
        .join(' '),
    )
    .replaceAll(/\$\{(OFFICE_PACKAGES)\}/g, (_, name: string) => variables.get(name) ?? '');
  for (const [, list = ''] of text.matchAll(/apt-get (?:install -y --no-install-recommends|download) ([^\\&\n]+)/g))
    for (const name of list.trim().split(/\s+/)) {
      if (!/^[a-z0-9][a-z0-9+.-]+$/.test(name)) throw new Error(`the Dockerfile installs ${name}, which is not a name`);
      names.add(name);
    }
  return [...names].sort();
}

/** @throws Error for a package whose licence is not listed */
export function debianTable(names: readonly string[]): string {
  const unknown = names.filter((name) => DEBIAN[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`add the licence of ${unknown.join(', ')} to DEBIAN in test/docs/third-party.ts`);
  return table(
    ['package', 'licence', 'text in the image'],
    names.map((name) => [name, DEBIAN[name] ?? '', `/usr/share/doc/${name}/copyright`]),
  );
}

/** The text of THIRD-PARTY-NOTICES.md. */
export async function notices(): Promise<string> {
  const packages = await npmPackages();
  const inside = Object.entries(INSIDE).flatMap(([name, parts]) => parts.map((part) => [name, ...part]));
  return `# Third-party notices

The container images of Parsemesh contain this software of others. Parsemesh itself is licensed under Apache-2.0 (LICENSE). This file is generated by \`npm run notices\` from the files that the images contain (services/image-files.ts) and from the Dockerfile; a test checks that it is current. It is in every image, in \`/app\`.

## npm packages

The licence texts are in the images, next to each package: \`/app/node_modules/PACKAGE/FILE\`. A package without a file states its licence only in its package.json.

${table(
  ['package', 'version', 'licence', 'files'],
  packages.map(({ name, version, licence, files }) => [name, version, licence, [...files].sort().join(', ')]),
)}

## Software inside npm packages

The texts of LGPL-3.0 and GPL-3.0 are in the images, in \`/usr/share/common-licenses\`. libvips is a shared library of its own file, so it can be replaced.

${table(['package', 'contains', 'licence'], [...inside, ...(await libvipsLibraries())])}

## Debian packages

The images start from Debian 12 and install these packages. Each of them brings the packages that it depends on. In an image, \`dpkg-query -W\` lists all packages, and \`/usr/share/doc/PACKAGE/copyright\` is the licence of each. Debian publishes the sources of every package (\`apt-get source PACKAGE\`). More OCR languages and fonts are added by the build arguments LANGUAGES and OFFICE_PACKAGES.

${debianTable(debianPackages(await read('Dockerfile')))}

## Node.js

The images contain the program \`node\`, with this software in it. The complete text is in \`/usr/share/doc/node/LICENSE\` if the image was built from an official image of Node.js, and at https://github.com/nodejs/node/blob/v24.x/LICENSE.

${table(['software', 'licence'], NODE)}
`;
}

if (process.argv.includes('--write')) await writeFile(join(ROOT, NOTICES), await notices());
