// Holds the import directions of the design by reading every import statement, since a single wrong one ties two rooms together for good.
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What each shared room may import besides itself and packages. */
const SHARED_ROOMS: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  readers: ['contract'],
  document: ['readers', 'contract'],
  bus: ['contract'],
  runtime: ['bus', 'contract'],
};
/** Packages that only these rooms may name. */
const KEPT_PACKAGES: readonly (readonly [pattern: RegExp, rooms: readonly string[]])[] = [
  [/^pino(\/|$)/, ['shared/runtime', 'shared/bus']],
  [/^prom-client(\/|$)/, ['shared/runtime', 'shared/bus']],
  [/^(@nats-io\/|nats(\/|$))/, ['shared/runtime', 'shared/bus']],
  [/^@opentelemetry\//, ['shared/runtime', 'shared/bus']],
];

const isTest = (file: string) => file.endsWith('.test.ts');

/** `shared/bus`, `services/pdf`, `test`, or `services` for the files that compose the services. */
function roomOf(path: string): string {
  const [top = '', second = '', ...rest] = path.split('/');
  if (top === 'test' || top === 'fixtures') return top;
  return second === '' || (top === 'services' && rest.length === 0) ? top : `${top}/${second}`;
}

/** Every module that a source text imports or re-exports, static or dynamic. */
export function importsOf(source: string): string[] {
  const patterns = [
    /^[ \t]*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm,
    /^[ \t]*import\s*['"]([^'"]+)['"]/gm,
    /\bimport\(\s*['"]([^'"]+)['"]/g,
  ];
  return patterns.flatMap((pattern) => [...source.matchAll(pattern)].map((match) => match[1] ?? ''));
}

/** Why a file (path from the root) may not import this, or undefined where it may. */
function faultOf(file: string, specifier: string): string | undefined {
  const from = roomOf(file);
  if (specifier.startsWith('node:')) return undefined;
  if (!/^[.#]/.test(specifier)) return faultOfPackage(file, from, specifier);
  const target = specifier.startsWith('#') ? specifier.slice(1) : normalize(join(dirname(file), specifier));
  const to = roomOf(target);
  if (!target.endsWith('.ts') && !target.endsWith('.json')) return 'a module of ours is named with its ending .ts';
  if (from === to || from === 'test') return undefined;
  if (specifier.startsWith('.') && target.split('/')[0] !== file.split('/')[0])
    return 'services and shared name each other by # names, not by relative paths';
  if (to === 'test') return isTest(file) ? undefined : 'the product imports nothing from test';
  if (from === 'services') return undefined;
  if (from.startsWith('services/')) {
    if (to.startsWith('shared/')) return undefined;
    return to === 'services' ? 'a service does not know who composes it' : 'services meet on the bus, not by import';
  }
  if (!from.startsWith('shared/')) return undefined;
  if (!to.startsWith('shared/')) return 'nothing shared imports a service';
  const allowed = SHARED_ROOMS[from.slice('shared/'.length)];
  if (!allowed) return `${from} is not a room of the design`;
  return allowed.includes(to.slice('shared/'.length))
    ? undefined
    : `${from} may import ${allowed.join(', ') || 'nothing of ours'}`;
}

function faultOfPackage(file: string, from: string, specifier: string): string | undefined {
  if (isTest(file) || from === 'test') return undefined;
  if (from === 'shared/contract' && specifier !== 'zod') return 'shared/contract imports zod only';
  const kept = KEPT_PACKAGES.find(([pattern]) => pattern.test(specifier));
  return kept && !kept[1].includes(from) ? `only ${kept[1].join(' and ')} name ${specifier}` : undefined;
}

test('every import in services and shared goes in a direction the design allows', async () => {
  const faults: string[] = [];
  let imports = 0;
  for await (const file of glob('{services,shared}/**/*.ts', { cwd: ROOT })) {
    for (const specifier of importsOf(await readFile(join(ROOT, file), 'utf8'))) {
      imports++;
      const fault = faultOf(file, specifier);
      if (fault) faults.push(`${file} imports ${specifier}: ${fault}`);
    }
  }
  assert.ok(imports > 20, 'the sources were found');
  assert.deepEqual(faults, []);
});

const REFUSED: readonly (readonly [file: string, specifier: string])[] = [
  ['services/pdf/worker.ts', '#services/ocr/worker.ts'],
  ['services/pdf/worker.ts', '../ocr/worker.ts'],
  ['services/pdf/layout/columns.ts', '../../start.ts'],
  ['services/pdf/worker.ts', '#services/start.ts'],
  ['services/pdf/worker.ts', '../../shared/document/document.ts'],
  ['services/pdf/worker.ts', 'pino'],
  ['services/gateway/gateway.ts', '@nats-io/nats-core'],
  ['services/gateway/gateway.ts', 'prom-client'],
  ['services/gateway/gateway.ts', '#test/harness/client.ts'],
  ['shared/contract/options.ts', 'express'],
  ['shared/contract/options.ts', '#shared/bus/bus.ts'],
  ['shared/bus/nats.ts', '#shared/runtime/log.ts'],
  ['shared/readers/zip.ts', '#shared/document/document.ts'],
  ['shared/document/render.ts', '#shared/bus/bus.ts'],
  ['shared/runtime/health.ts', '#services/pdf/worker.ts'],
  ['shared/runtime/health.ts', '#shared/document/document.ts'],
  ['shared/readers/zip.ts', '../contract/errors'],
];
for (const [file, specifier] of REFUSED)
  test(`${file} may not import ${specifier}`, () => assert.notEqual(faultOf(file, specifier), undefined));

test('imports are found in every form they take', () => {
  const source =
    "import a from 'one';\nimport {\n  b,\n  type C,\n} from \"two\";\nexport * from './three.ts';\nimport 'four';\nconst d = await import('five');\nimport type { E } from 'six';\n";
  assert.deepEqual(importsOf(source).sort(), ['./three.ts', 'five', 'four', 'one', 'six', 'two']);
});
