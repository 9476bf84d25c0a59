// Serves the page at `/` to try the API: its HTML, styles and scripts, pdf.js, and a sample document. All of it comes from this server.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FORMATS } from '#shared/contract/formats.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { PII_ENTITIES } from '#shared/contract/options-schema.ts';
import type { Handler } from '../app.ts';
import type { PageSettings } from '../page/settings.ts';
import { sendCompressible } from '../responses/compression.ts';

/** Allows scripts and styles from this server only. pdf.js compiles WebAssembly; pictures of a document are blobs or data URLs. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify pdf-worker',
].join('; ');

/** A worker has the policy of its own file. pdf.js reads fonts and WebAssembly from this server in its worker. */
const WORKER_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; font-src 'self'";

const YEAR_SECONDS = 31_536_000;
/** The browser asks on each load whether the file has changed, so that an upgrade never mixes old and new files. */
const REVALIDATE = 'no-cache';

const PAGE_FOLDER = fileURLToPath(new URL('../page/', import.meta.url));
const SAMPLE = new URL('../../../fixtures/pdf/sample.pdf', import.meta.url);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.pdf': 'application/pdf',
};

/** Files of npm packages, by the path at which the browser code imports them. */
const PACKAGE_FILES: Readonly<Record<string, readonly [packageName: string, file: string]>> = {
  '/page/packages/marked.js': ['marked', 'lib/marked.esm.js'],
  '/page/packages/dompurify.js': ['dompurify', 'dist/purify.es.mjs'],
};

/** Files of pdfjs-dist by folder: names, or the extensions of all names. */
const PDFJS_FILES: Readonly<Record<string, readonly string[]>> = {
  build: ['pdf.min.mjs', 'pdf.worker.min.mjs'],
  cmaps: ['.bcmap'],
  standard_fonts: ['.pfb', '.ttf'],
  wasm: ['jbig2.wasm', 'openjpeg.wasm', 'qcms_bg.wasm'],
  iccs: ['.icc'],
};

interface Asset {
  contentType: string;
  cacheControl: string;
  read: () => Promise<string | Buffer>;
  headers?: Readonly<Record<string, string>>;
}

/** Handlers by path. The paths are fixed at the start: no path of a request is used to find a file. */
export function pageHandlers(): Record<string, Handler> {
  const pdfjs = packageFolder('pdfjs-dist');
  const pdfjsPath = `/page/pdfjs-${pdfjs.version}`;
  const assets: Record<string, Asset> = {
    '/': {
      ...pageFile('index.html'),
      headers: { 'Content-Security-Policy': PAGE_POLICY, 'Cross-Origin-Opener-Policy': 'same-origin' },
    },
    '/page/settings.json': {
      contentType: contentTypeOf('.json'),
      cacheControl: REVALIDATE,
      read: async () => JSON.stringify(settings(pdfjsPath)),
    },
    '/page/sample.pdf': {
      contentType: contentTypeOf('.pdf'),
      cacheControl: REVALIDATE,
      read: () => readFile(SAMPLE),
    },
  };
  for (const name of readdirSync(PAGE_FOLDER))
    if (['.ts', '.css', '.svg'].includes(extname(name)) && !name.endsWith('.test.ts'))
      assets[`/page/${name}`] = pageFile(name);
  for (const [path, [packageName, file]] of Object.entries(PACKAGE_FILES))
    assets[path] = packageFile(join(packageFolder(packageName).path, file), REVALIDATE);
  // The version is part of the path, so the content of a path never changes.
  const forever = `public, max-age=${YEAR_SECONDS}, immutable`;
  for (const [folder, wanted] of Object.entries(PDFJS_FILES))
    for (const name of readdirSync(join(pdfjs.path, folder)))
      if (wanted.includes(name) || wanted.includes(extname(name)))
        assets[`${pdfjsPath}/${folder}/${name}`] = packageFile(join(pdfjs.path, folder, name), forever);
  return Object.fromEntries(Object.entries(assets).map(([path, asset]) => [path, handlerOf(asset)]));
}

/** What the page must know of this server. None of it is secret: docs/limits.md and docs/formats-and-errors.md say the same. */
function settings(pdfjsPath: string): PageSettings {
  return {
    pdfjs: pdfjsPath,
    fileBytes: REQUEST_LIMITS.fileBytes,
    timeoutDefaultMs: REQUEST_LIMITS.timeoutDefaultMs,
    timeoutMaxMs: REQUEST_LIMITS.timeoutMaxMs,
    maxPages: REQUEST_LIMITS.maxPagesMax,
    piiEntities: PII_ENTITIES,
    // Files of the pdf service have pages and blocks.
    formats: FORMATS.map(({ extension, label, queue }) => ({ extension, label, hasPages: queue === 'pdf' })),
  };
}

const contentTypeOf = (name: string): string => CONTENT_TYPES[extname(name) || name] ?? 'application/octet-stream';

/** A file of `services/gateway/page/`. It is small, so it stays in memory after the first request. */
function pageFile(name: string): Asset {
  let text: string | undefined;
  return {
    contentType: contentTypeOf(name),
    cacheControl: REVALIDATE,
    read: async () => {
      if (text === undefined) {
        const source = await readFile(join(PAGE_FOLDER, name), 'utf8');
        text = name.endsWith('.ts') ? stripTypeScriptTypes(source) : source;
      }
      return text;
    },
  };
}

const packageFile = (path: string, cacheControl: string): Asset => ({
  contentType: contentTypeOf(path),
  cacheControl,
  read: () => readFile(path),
  ...(path.includes('.worker.') ? { headers: { 'Content-Security-Policy': WORKER_POLICY } } : {}),
});

/** The folder and the version of an installed npm package. */
function packageFolder(name: string): { path: string; version: string } {
  const require = createRequire(import.meta.url);
  // Not every package exports its package.json, so the folder is found from the main file.
  let path = dirname(require.resolve(name));
  for (;;) {
    try {
      const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
        name?: string;
        version: string;
      };
      if (manifest.name === name) return { path, version: manifest.version };
    } catch {
      // This folder has no package.json.
    }
    const parent = dirname(path);
    if (parent === path) throw new Error(`the package ${name} is not installed`);
    path = parent;
  }
}

function handlerOf({ contentType, cacheControl, read, headers = {} }: Asset): Handler {
  return async (request, response) => {
    const body = await read();
    // Weak, because the body may be compressed.
    const tag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    response.setHeaders(new Map(Object.entries({ ...headers, 'Cache-Control': cacheControl, ETag: tag })));
    if (request.headers['if-none-match'] === tag) {
      response.writeHead(304, { Vary: 'Accept-Encoding' });
      response.end();
      return;
    }
    sendCompressible(request, response, contentType, body);
  };
}
