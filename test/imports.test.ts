// Checks the import rules of docs/architecture.md, "Folders and import directions", against every import statement of the repository.
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The folders of shared/ that each folder of shared/ may import. */
const SHARED_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  readers: ['contract'],
  document: ['readers', 'contract'],
  bus: ['contract'],
  runtime: ['bus', 'contract'],
};
/** The folders of services/pdf that each of its folders may import: bytes become words, words become lines, lines become tables and blocks. */
const PDF_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  source: [],
  text: ['source'],
  tables: ['text', 'source'],
  layout: ['tables', 'text', 'source'],
  pages: ['text', 'source'],
};
/** Packages that only these folders may import. */
const RESTRICTED_PACKAGES: readonly (readonly [packages: RegExp, folders: readonly string[]])[] = [
  [/^pino(\/|$)/, ['shared/runtime', 'shared/bus']],
  [/^prom-client(\/|$)/, ['shared/runtime', 'shared/bus']],
  [/^(@nats-io\/|nats(\/|$))/, ['shared/runtime', 'shared/bus']],
  [/^@opentelemetry\//, ['shared/runtime', 'shared/bus']],
  // A schema of a caller can need seconds to compile, so it is never compiled in the process of the gateway.
  [/^ajv/, ['services/enrich']],
];
/** Implementation files, and the only module that may import them. They may also import each other, and tests may import them. */
const IMPLEMENTATIONS: readonly (readonly [files: RegExp, importer: string])[] = [
  [/^shared\/bus\/nats\//, 'shared/bus/nats.ts'],
  [/^shared\/bus\/memory\//, 'shared/bus/memory.ts'],
  [/^shared\/runtime\/traces\/otlp\.ts$/, 'shared/runtime/traces.ts'],
  [/^services\/ocr\/tesseract-(native|wasm)\.ts$/, 'services/ocr/engines.ts'],
];
/** Packages that an isolated process must not load, because they would increase the memory and the start time of each process. */
const SERVICE_PACKAGES = /^(pino|prom-client|express|@nats-io\/.*|@opentelemetry\/.*|@kubernetes\/.*)$/;

const isTest = (file: string) => file.endsWith('.test.ts');

/** `shared/bus`, `services/pdf`, `test`, or `services` for the files directly in services/. */
function folderOf(path: string): string {
  const [top = '', second = '', ...rest] = path.split('/');
  if (top === 'test' || top === 'fixtures') return top;
  return second === '' || (top === 'services' && rest.length === 0) ? top : `${top}/${second}`;
}

interface Import {
  specifier: string;
  /** `static` is loaded with the file, `dynamic` later, `type` never. */
  kind: 'static' | 'dynamic' | 'type';
}

/** Every module that a source text imports or exports from. */
function importsOf(source: string): Import[] {
  const declarations = /^[ \t]*(?:import|export)\b(\s*type\b)?[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm;
  const sideEffects = /^[ \t]*import\s*['"]([^'"]+)['"]/gm;
  const calls = /\bimport\(\s*['"]([^'"]+)['"]/g;
  return [
    ...[...source.matchAll(declarations)].map(
      ([, type, specifier = '']): Import => ({ specifier, kind: type ? 'type' : 'static' }),
    ),
    ...[...source.matchAll(sideEffects)].map(([, specifier = '']): Import => ({ specifier, kind: 'static' })),
    ...[...source.matchAll(calls)].map(([, specifier = '']): Import => ({ specifier, kind: 'dynamic' })),
  ];
}

const isPackage = (specifier: string) => !/^[.#]/.test(specifier);

/** The imported file, as a path from the root of the repository. */
const resolve = (file: string, specifier: string) =>
  specifier.startsWith('#') ? specifier.slice(1) : normalize(join(dirname(file), specifier));

/** The rule that forbids `file` (a path from the root) to import `specifier`, or undefined. */
function violation(file: string, { specifier, kind }: Import): string | undefined {
  const from = folderOf(file);
  if (specifier.startsWith('node:')) return undefined;
  if (isPackage(specifier)) return packageViolation(file, from, specifier);
  const target = resolve(file, specifier);
  const to = folderOf(target);
  if (!target.endsWith('.ts') && !target.endsWith('.json'))
    return 'the path of a module of this repository ends in .ts';
  if (target === 'shared/runtime/traces/otlp.ts' && kind !== 'dynamic')
    return 'OpenTelemetry is imported dynamically, so that it is loaded only if tracing is on';
  const importer = isTest(file) || from === 'test' ? undefined : IMPLEMENTATIONS.find(([files]) => files.test(target));
  if (importer && file !== importer[1] && !importer[0].test(file)) return `only ${importer[1]} imports ${target}`;
  if (from === 'services/pdf' && from === to && !isTest(file)) return pdfViolation(file, target);
  if (from === to || from === 'test') return undefined;
  if (specifier.startsWith('.') && target.split('/')[0] !== file.split('/')[0])
    return 'services and shared import each other with #services and #shared, not with relative paths';
  if (to === 'test') return isTest(file) ? undefined : 'product code does not import test code';
  if (from === 'services') return undefined;
  if (from.startsWith('services/')) {
    if (to.startsWith('shared/')) return undefined;
    return to === 'services'
      ? 'a service does not import the files that start it'
      : 'no service imports another service';
  }
  if (!from.startsWith('shared/')) return undefined;
  if (!to.startsWith('shared/')) return 'shared does not import services';
  const allowed = SHARED_FOLDERS[from.slice('shared/'.length)];
  if (!allowed) return `${from} has no row in SHARED_FOLDERS`;
  return allowed.includes(to.slice('shared/'.length))
    ? undefined
    : `${from} imports ${allowed.length === 0 ? 'no other folder' : `only ${allowed.join(', ')}`}`;
}

function pdfViolation(file: string, target: string): string | undefined {
  const [, , from = ''] = file.split('/');
  const [, , to = ''] = target.split('/');
  const allowed = PDF_FOLDERS[from];
  if (from === to || !allowed || allowed.includes(to)) return undefined;
  return `services/pdf/${from} imports only ${allowed.map((folder) => `${folder}/`).join(', ')}`;
}

function packageViolation(file: string, from: string, specifier: string): string | undefined {
  if (isTest(file) || from === 'test') return undefined;
  if (from === 'shared/contract' && !/^(zod|leven)$/.test(specifier))
    return 'shared/contract imports no package but zod and leven';
  const restricted = RESTRICTED_PACKAGES.find(([packages]) => packages.test(specifier));
  return restricted && !restricted[1].includes(from)
    ? `only ${restricted[1].join(' and ')} import ${specifier}`
    : undefined;
}

type Graph = ReadonlyMap<string, readonly string[]>;

/** The shortest path from a node back to itself, or undefined. */
function cycleThrough(graph: Graph, start: string): string[] | undefined {
  const paths = (graph.get(start) ?? []).map((next) => [start, next]);
  const visited = new Set<string>();
  for (const path of paths) {
    const last = path.at(-1) ?? '';
    if (last === start) return path;
    if (visited.has(last)) continue;
    visited.add(last);
    for (const next of graph.get(last) ?? []) paths.push([...path, next]);
  }
  return undefined;
}

/** One cycle for each group of nodes that reach each other (strongly connected component), as `a -> b -> a`. */
function cyclesOf(graph: Graph): string[] {
  const reported = new Set<string>();
  const cycles: string[] = [];
  for (const node of [...graph.keys()].sort()) {
    if (reported.has(node)) continue;
    const cycle = cycleThrough(graph, node);
    if (!cycle) continue;
    for (const member of componentOf(graph, node)) reported.add(member);
    cycles.push(cycle.join(' -> '));
  }
  return cycles;
}

/** Nodes that the start reaches and that reach the start. */
function componentOf(graph: Graph, start: string): string[] {
  return [...reachable(graph, start)].filter((node) => reachable(graph, node).has(start));
}

function reachable(graph: Graph, start: string): Set<string> {
  const found = new Set([start]);
  for (const node of found) for (const next of graph.get(node) ?? []) found.add(next);
  return found;
}

const files = new Map<string, Import[]>();
for await (const file of glob('{services,shared,test,fixtures}/**/*.{ts,mjs}', { cwd: ROOT }))
  files.set(file, importsOf(await readFile(join(ROOT, file), 'utf8')));

/** @param kinds the imports that become edges */
function graphOf(...kinds: Import['kind'][]): Graph {
  return new Map(
    [...files].map(([file, imports]) => [
      file,
      imports
        .filter(({ specifier, kind }) => kinds.includes(kind) && !isPackage(specifier))
        .map(({ specifier }) => resolve(file, specifier)),
    ]),
  );
}

test('every import in services and shared follows the import rules', () => {
  const product = [...files].filter(([file]) => /^(services|shared)\/.*\.ts$/.test(file));
  const imports = product.flatMap(([file, list]) => list.map((one) => ({ file, ...one })));
  assert.ok(imports.length > 1_000, `only ${imports.length} imports were found`);
  const violations = imports.flatMap((one) => {
    const rule = violation(one.file, one);
    return rule ? [`${one.file} imports ${one.specifier}: ${rule}`] : [];
  });
  assert.deepEqual(violations, []);
});

test('there are no import cycles', () => {
  assert.ok(files.size > 300, `only ${files.size} files were found`);
  assert.deepEqual(cyclesOf(graphOf('static', 'dynamic', 'type')), []);
});

test('an isolated process loads no logger, metrics, bus, tracing, HTTP server or Kubernetes client', () => {
  const graph = graphOf('static');
  const entries = ['shared/runtime/isolation/child.ts', ...[...files.keys()].filter(isWorker)];
  assert.ok(entries.length >= 8, `only ${entries.length} entry files were found`);
  const loaded = entries.flatMap((entry) =>
    [...reachable(graph, entry)].flatMap((file) =>
      (files.get(file) ?? [])
        .filter(({ specifier, kind }) => kind === 'static' && SERVICE_PACKAGES.test(specifier))
        .map(({ specifier }) => `${entry} loads ${specifier} through ${file}`),
    ),
  );
  assert.deepEqual(loaded, []);
});

function isWorker(file: string): boolean {
  return /^services\/\w+\/worker\.ts$/.test(file);
}

const FORBIDDEN: readonly (readonly [file: string, specifier: string, kind?: Import['kind']])[] = [
  ['services/pdf/worker.ts', '#services/ocr/worker.ts'],
  ['services/pdf/worker.ts', '../ocr/worker.ts'],
  ['services/pdf/layout/columns.ts', '../../start.ts'],
  ['services/pdf/worker.ts', '#services/start.ts'],
  ['services/pdf/worker.ts', '../../shared/document/document.ts'],
  ['services/pdf/worker.ts', 'pino'],
  ['services/gateway/gateway.ts', '@nats-io/nats-core'],
  ['services/gateway/gateway.ts', 'prom-client'],
  ['services/gateway/schema-check.ts', 'ajv/dist/2020.js'],
  ['services/gateway/gateway.ts', '#test/harness/client.ts'],
  ['services/gateway/gateway.ts', '#shared/bus/nats/connection.ts'],
  ['services/gateway/gateway.ts', '#shared/bus/memory/payload-store.ts'],
  ['services/ocr/worker.ts', './tesseract-native.ts'],
  ['services/start.ts', '#services/ocr/tesseract-wasm.ts'],
  ['services/start.ts', '#shared/runtime/traces/otlp.ts', 'dynamic'],
  ['shared/runtime/traces.ts', './traces/otlp.ts'],
  ['shared/contract/options.ts', 'express'],
  ['shared/contract/options.ts', '#shared/bus/bus.ts'],
  ['shared/bus/nats.ts', '#shared/runtime/log.ts'],
  ['shared/readers/zip.ts', '#shared/document/document.ts'],
  ['shared/document/render.ts', '#shared/bus/bus.ts'],
  ['shared/runtime/health.ts', '#services/pdf/worker.ts'],
  ['shared/runtime/health.ts', '#shared/document/document.ts'],
  ['shared/readers/zip.ts', '../contract/errors'],
];
for (const [file, specifier, kind = 'static'] of FORBIDDEN)
  test(`the rules forbid a ${kind} import of ${specifier} in ${file}`, () =>
    assert.notEqual(violation(file, { specifier, kind }), undefined));

const GRAPHS: readonly (readonly [description: string, edges: string, cycles: string[]])[] = [
  ['a chain has no cycle', 'a>b b>c', []],
  ['two paths to the same file are not a cycle', 'a>b a>c b>d c>d', []],
  ['a file that imports itself is a cycle', 'a>a', ['a -> a']],
  ['two files that import each other are a cycle', 'a>b b>a', ['a -> b -> a']],
  ['three files that import each other in turn are a cycle', 'a>b b>c c>a', ['a -> b -> c -> a']],
  ['a file before a cycle is not part of it', 'a>b b>c c>b', ['b -> c -> b']],
  ['a file after a cycle is not part of it', 'b>a a>c b>c a>b', ['a -> b -> a']],
  ['cycles that share a file are reported once', 'a>b b>a b>c c>b', ['a -> b -> a']],
  ['each of two separate cycles is reported', 'a>b b>a b>c c>d d>c', ['a -> b -> a', 'c -> d -> c']],
];
for (const [description, edges, cycles] of GRAPHS)
  test(`cycle check: ${description}`, () => {
    const graph = new Map<string, string[]>();
    for (const [from = '', to = ''] of edges.split(' ').map((edge) => edge.split('>')))
      graph.set(from, [...(graph.get(from) ?? []), to]);
    assert.deepEqual(cyclesOf(graph), cycles);
  });

test('importsOf finds static, dynamic and type imports in every notation', () => {
  const source =
    "import a from 'one';\nimport {\n  b,\n  type C,\n} from \"two\";\nexport * from './three.ts';\nimport 'four';\nconst d = await import('five');\nimport type { E } from 'six';\nexport type { F } from 'seven';\n";
  const kinds = Object.fromEntries(importsOf(source).map(({ specifier, kind }) => [specifier, kind]));
  assert.deepEqual(kinds, {
    one: 'static',
    two: 'static',
    './three.ts': 'static',
    four: 'static',
    five: 'dynamic',
    six: 'type',
    seven: 'type',
  });
});
