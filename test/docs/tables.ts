// Generates the reference pages of docs/ from the code (`npm run docs`), so that they list exactly the variables, limits and metrics that exist.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { z } from 'zod';
import { ERROR_CODES } from '#shared/contract/errors.ts';
import { FORMATS } from '#shared/contract/formats.ts';
import * as limits from '#shared/contract/limits.ts';
import { QUEUE_NAMES, QUEUES } from '#shared/contract/services.ts';
import { environmentSchema } from '#shared/runtime/config.ts';
import { METRICS } from '#shared/runtime/metrics.ts';
import { auditPage } from './audit.ts';
import { chartReadme } from './chart.ts';
import { table } from './markdown-table.ts';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

function configurationPage(): string {
  const schema = z.toJSONSchema(environmentSchema, { io: 'input', unrepresentable: 'any' });
  const descriptions = new Map<string, string>();
  const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { description = '', default: fallback } = typeof property === 'object' ? property : {};
    descriptions.set(name, description);
    return [`\`${name}\``, fallback === undefined ? '' : `\`${String(fallback)}\``, description];
  });
  distinct('variable', descriptions);
  return `# Configuration

Every environment variable. Generated from \`shared/runtime/config.ts\` by \`npm run docs\`. An empty variable counts as unset. If a variable is invalid, the process names it and exits.

${table(['variable', 'default', 'description'], rows)}
`;
}

/** Units that the end of a limit's name stands for; its description must name the unit too. */
const UNITS: readonly (readonly [name: RegExp, unit: RegExp])[] = [
  [/Bytes$/, /\bbytes\b/i],
  [/Ms$/, /\bmilliseconds\b/i],
  [/Seconds$/, /\bseconds\b/i],
  [/Pixels$/, /\bpixels\b/i],
  [/Units$/, /\bUTF-16 code units\b/],
  [/Length$/, /\b(UTF-16 code units|characters)\b/i],
  [/Depth$/, /\blevels\b/i],
];

/**
 * The description of each limit: the comment above it.
 * @param source of shared/contract/limits.ts
 * @throws Error for a limit without a one-line comment of its own, and for one whose comment does not name the unit
 */
export function limitDescriptions(source: string): Map<string, string> {
  const descriptions = new Map<string, string>();
  const lines = source.split('\n');
  for (const [index, line] of lines.entries()) {
    const name = /^ {2}(\w+):/.exec(line)?.[1];
    if (name === undefined) continue;
    const description = /^ {2}\/\*\* (.+) \*\/$/.exec(lines[index - 1] ?? '')?.[1] ?? '';
    const unit = UNITS.find(([ending]) => ending.test(name))?.[1];
    if (description !== '' && unit?.test(description) === false)
      throw new Error(`the description of the limit \`${name}\` does not name its unit`);
    descriptions.set(name, description);
  }
  return distinct('limit', descriptions);
}

/** @throws Error naming an entry that has no description, or the same one as another entry */
export function distinct(kind: string, descriptions: Map<string, string>): Map<string, string> {
  const names = new Map<string, string>();
  for (const [name, description] of descriptions) {
    if (description === '') throw new Error(`the ${kind} \`${name}\` has no description`);
    const other = names.get(description);
    if (other !== undefined) throw new Error(`the ${kind}s \`${other}\` and \`${name}\` have the same description`);
    names.set(description, name);
  }
  return descriptions;
}

function shown(name: string, value: number): string {
  const bytes = /Bytes$/.test(name) && value >= 1024 && value % 1024 === 0;
  if (!bytes) return value.toLocaleString('en');
  return value >= 1024 ** 2 ? `${value / 1024 ** 2} MiB` : `${value / 1024} KiB`;
}

async function limitsPage(): Promise<string> {
  const descriptions = limitDescriptions(await readFile(at('shared/contract/limits.ts'), 'utf8'));
  const section = (title: string, values: Readonly<Record<string, number>>): string =>
    `## ${title}\n\n${table(
      ['limit', 'value', 'description'],
      Object.entries(values).map(([name, value]) => [`\`${name}\``, shown(name, value), descriptions.get(name) ?? '']),
    )}`;
  const queues = QUEUE_NAMES.map((queue) => {
    const { service, memoryMiB, description } = QUEUES[queue];
    return [`\`${queue}\``, `\`${service}\``, `${memoryMiB.toLocaleString('en')} MiB`, description];
  });
  return `# Limits

Generated from \`shared/contract/limits.ts\` and \`shared/contract/services.ts\` by \`npm run docs\`. A request that exceeds a limit is answered with a 4xx error that names the limit. A document that exceeds a limit on its content is answered with 422 \`DOCUMENT_TOO_COMPLEX\`, unless the description states otherwise.

${section('Requests', limits.REQUEST_LIMITS)}

${section('Documents', limits.DOCUMENT_LIMITS)}

${section('Transport between services', limits.TRANSPORT_LIMITS)}

${section('API keys', limits.KEYS_LIMITS)}

${section('Audit events', limits.AUDIT_LIMITS)}

${section('Language model', limits.MODEL_LIMITS)}

${section('PII redaction', limits.PII_LIMITS)}

## Memory of one conversion

Each job runs in an isolated process. The process is killed when it and its child processes use more resident memory than this.

${table(['queue', 'service', 'memory', 'jobs'], queues)}
`;
}

function referencePage(): string {
  distinct('error code', new Map(Object.entries(ERROR_CODES).map(([code, { message }]) => [code, message])));
  return `# Formats and errors

Generated from \`shared/contract/formats.ts\` and \`shared/contract/errors.ts\` by \`npm run docs\`.

## Formats

${table(
  ['extension', 'format', 'kind', 'service', 'queue', 'content types'],
  FORMATS.map((format) => [
    `\`${format.extension}\``,
    format.label,
    format.kind,
    QUEUES[format.queue].service,
    format.queue,
    format.mimeTypes.map((type) => `\`${type}\``).join(', '),
  ]),
)}

## Errors

Each response that is not 2xx is \`{"success": false, "error": "...", "code": "..."}\`, with \`details\` for invalid options. The error message starts with the text of this table, or is more specific. The \`X-Request-Id\` header contains the request id.

${table(
  ['code', 'status', 'message'],
  Object.entries(ERROR_CODES).map(([code, { status, message }]) => [`\`${code}\``, String(status), message]),
)}
`;
}

/** Metrics of prom-client that exist on every system and that the dashboards show. */
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
  return PROCESS_METRICS.map((metric) => {
    const found = shown.find(({ name }) => name === metric);
    if (!found) throw new Error(`prom-client has no metric ${metric}`);
    return [`\`${metric}\``, String(found.type), found.help];
  });
}

async function metricsPage(): Promise<string> {
  distinct('metric', new Map(METRICS.map(({ name, help }) => [name, help])));
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

Every metric at \`/metrics\`. Generated from \`shared/runtime/metrics.ts\` by \`npm run docs\`. Units are seconds and bytes. The buckets of the histograms range from 0.05 to 300 s. A label has only the values that this page lists, so no request can create new time series. Alerts and recording rules are in \`charts/parsemesh/rules\`, dashboards in \`charts/parsemesh/dashboards\`.

${table(['metric', 'type', 'labels', 'description'], rows)}

## Labels with many values

${table(['label', 'values'], values)}

## Metrics of the process

Each process also exports the default metrics of prom-client, for example:

${table(['metric', 'type', 'description'], await processMetrics())}
`;
}

/** Path and text of every generated page. */
export async function pages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/audit.md', auditPage()],
    ['docs/configuration.md', configurationPage()],
    ['docs/limits.md', await limitsPage()],
    ['docs/formats-and-errors.md', referencePage()],
    ['charts/parsemesh/README.md', await chartReadme()],
    ['docs/metrics.md', await metricsPage()],
  ]);
}

/** The committed text of a page. */
export const committed = (path: string): Promise<string> => readFile(at(path), 'utf8');

if (process.argv.includes('--write')) for (const [path, text] of await pages()) await writeFile(at(path), text);
