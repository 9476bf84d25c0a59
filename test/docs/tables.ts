// Writes the tables of docs/ from the code that they describe (`npm run docs`), so that a page can never name a variable or a limit that is not there.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { z } from 'zod';
import { ERROR_CODES } from '#shared/contract/errors.ts';
import { FORMATS } from '#shared/contract/formats.ts';
import * as limits from '#shared/contract/limits.ts';
import { environmentSchema } from '#shared/runtime/config.ts';
import { METRICS } from '#shared/runtime/metrics.ts';
import { chartReadme } from './chart.ts';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly string[][]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');

function configurationPage(): string {
  const schema = z.toJSONSchema(environmentSchema, { io: 'input', unrepresentable: 'any' });
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { description = '', default: fallback } = typeof property === 'object' ? property : {};
    return [`\`${name}\``, fallback === undefined ? '' : `\`${String(fallback)}\``, description];
  });
  return `# Configuration

Every environment variable, from \`shared/runtime/config.ts\`. An empty variable counts as unset; a wrong one stops the start with its name.

${table(['variable', 'default', 'what it does'], rows)}
`;
}

/** The comment above each member of an exported `..._LIMITS...` object, in the order of the source. */
function memberComments(source: string): Map<string, string> {
  const comments = new Map<string, string>();
  let comment = '';
  for (const line of source.split('\n')) {
    const said = /^\s*(?:\/\*\*|\*)\s?(.*?)\s*(?:\*\/)?$/.exec(line)?.[1];
    const member = /^ {2}(\w+):/.exec(line)?.[1];
    if (line.includes('/**')) comment = said ?? '';
    else if (said !== undefined && /^\s*\*/.test(line)) comment = `${comment} ${said}`.trim();
    else if (member !== undefined) comments.set(member, comment);
  }
  return comments;
}

function shown(name: string, value: number): string {
  const bytes = /Bytes$/.test(name) && value >= 1024 && value % 1024 === 0;
  if (!bytes) return value.toLocaleString('en');
  return value >= 1024 ** 2 ? `${value / 1024 ** 2} MiB` : `${value / 1024} KiB`;
}

async function limitsPage(): Promise<string> {
  const comments = memberComments(await readFile(at('shared/contract/limits.ts'), 'utf8'));
  const section = (title: string, values: Readonly<Record<string, number>>): string =>
    `## ${title}\n\n${table(
      ['limit', 'value', 'what it bounds'],
      Object.entries(values).map(([name, value]) => [`\`${name}\``, shown(name, value), comments.get(name) ?? '']),
    )}`;
  return `# Limits

From \`shared/contract/limits.ts\`. Past a limit of a request the answer is a 4xx that names it; past a limit on what a document may unfold to it is 422 \`DOCUMENT_TOO_COMPLEX\`.

${section('Of a request', limits.REQUEST_LIMITS)}

${section('Of a document', limits.DOCUMENT_LIMITS)}

${section('Of the insides', limits.TRANSPORT_LIMITS)}

${section('Of API keys in Secrets', limits.KEYS_LIMITS)}

${section('Memory of one conversion, in MiB', limits.MEMORY_LIMITS_MIB)}
`;
}

function referencePage(): string {
  return `# Formats and errors

From \`shared/contract/formats.ts\` and \`shared/contract/errors.ts\`.

## Formats

${table(
  ['extension', 'format', 'service', 'content types'],
  FORMATS.map((format) => [
    `\`${format.extension}\``,
    format.label,
    format.service,
    format.mimeTypes.map((type) => `\`${type}\``).join(', '),
  ]),
)}

## Errors

Every answer that is not 2xx is \`{"success": false, "error", "code", "details"?}\`; the request id is the \`X-Request-Id\` header.

${table(
  ['code', 'status', 'message begins'],
  Object.entries(ERROR_CODES).map(([code, { status, message }]) => [`\`${code}\``, String(status), message]),
)}
`;
}

/** Of the metrics that prom-client adds, those that dashboards show and every system has. */
const PROCESS_METRICS = [
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'nodejs_eventloop_lag_p99_seconds',
];

async function processMetrics(): Promise<string[][]> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const shown = await registry.getMetricsAsJSON();
  return PROCESS_METRICS.map((wanted) => {
    const found = shown.find(({ name }) => name === wanted);
    if (!found) throw new Error(`no process metric ${wanted}`);
    return [`\`${wanted}\``, String(found.type), found.help];
  });
}

async function metricsPage(): Promise<string> {
  const sets = new Map<string, readonly string[]>();
  const labelled = (label: string, values: readonly string[] | undefined): string => {
    if (!values) return `\`${label}\``;
    if (values.length > 8) sets.set(label, [...new Set([...(sets.get(label) ?? []), ...values])]);
    return values.length > 8
      ? `\`${label}\` (below)`
      : `\`${label}\`: ${values.map((value) => `\`${value}\``).join(' ')}`;
  };
  const rows = METRICS.map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    Object.entries(labels)
      .map(([label, values]) => labelled(label, values))
      .join('; '),
    help,
  ]);
  const values = [...sets].map(([label, known]) => [`\`${label}\``, known.map((value) => `\`${value}\``).join(' ')]);
  return `# Metrics

Every metric at \`/metrics\`, from \`shared/runtime/metrics.ts\`. Units are seconds and bytes; a histogram's buckets run from 0.05 to 300 s. A label takes the values that are named here and no others, whatever is sent: no request can make a series. Alerts and recording rules are in \`charts/parsemesh/rules\`, dashboards in \`charts/parsemesh/dashboards\`.

${table(['metric', 'type', 'labels', 'what it tells'], rows)}

## Labels with many values

${table(['label', 'values'], values)}

## Of the process

Each process also shows what Node.js and the system know of it, among it:

${table(['metric', 'type', 'what it tells'], await processMetrics())}
`;
}

/** Path and text of every generated page. */
export async function pages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/configuration.md', configurationPage()],
    ['docs/limits.md', await limitsPage()],
    ['docs/formats-and-errors.md', referencePage()],
    ['charts/parsemesh/README.md', await chartReadme()],
    ['docs/metrics.md', await metricsPage()],
  ]);
}

/** A page as it lies in the checkout. */
export const committed = (path: string): Promise<string> => readFile(at(path), 'utf8');

if (process.argv.includes('--write')) for (const [path, text] of await pages()) await writeFile(at(path), text);
