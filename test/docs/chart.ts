// Generates the README of the chart from values.yaml, so that it lists every value with its description.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isMap, isScalar, parseDocument, type YAMLMap } from 'yaml';
import { WORKER_NAMES } from '#shared/contract/services.ts';

const CHART = new URL('../../charts/parsemesh/', import.meta.url);

interface DocumentedValue {
  /** `nats.jetstream.memoryStorage` */
  path: string;
  description: string;
  default: unknown;
}

/** The comment above a line of YAML that begins with `# -- `, or undefined. */
function descriptionAbove(lines: readonly string[], line: number): string | undefined {
  return /^\s*# -- (.*)$/.exec(lines[line - 1] ?? '')?.[1];
}

/** Every value that a comment describes, and the paths of those that none describes, in the order of the file. */
export function documentedValues(source: string): { values: DocumentedValue[]; bare: string[] } {
  const lines = source.split('\n');
  const values: DocumentedValue[] = [];
  const bare: string[] = [];
  const walk = (map: YAMLMap, prefix: string): void => {
    for (const { key, value } of map.items) {
      if (!isScalar(key) || typeof key.value !== 'string' || !key.range) continue;
      const path = prefix + key.value;
      const line = source.slice(0, key.range[0]).split('\n').length - 1;
      const description = descriptionAbove(lines, line);
      if (description !== undefined) values.push({ path, description, default: map.toJSON()[key.value] });
      if (isMap(value) && value.items.length > 0 && !(description !== undefined && path !== 'defaults'))
        walk(value, `${path}.`);
      else if (description === undefined) bare.push(path);
    }
  };
  const document = parseDocument(source);
  if (document.errors[0]) throw document.errors[0];
  if (isMap(document.contents)) walk(document.contents, '');
  return { values, bare };
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The default of a value as Markdown. Values that are too long for the table are left out. */
function shown(value: DocumentedValue): string {
  if (value.path === 'defaults') return '';
  if (value.path === 'services') return 'see values.yaml';
  const text = JSON.stringify(value.default);
  return `\`${text}\``;
}

/** The README's text. */
export async function chartReadme(): Promise<string> {
  const at = (name: string): string => fileURLToPath(new URL(name, CHART));
  const chart = parseDocument(await readFile(at('Chart.yaml'), 'utf8')).toJS() as Record<string, string>;
  const { values } = documentedValues(await readFile(at('values.yaml'), 'utf8'));
  const head = await readFile(at('README.head.md'), 'utf8');
  return `${head
    .replaceAll('{{ name }}', chart.name ?? '')
    .replaceAll('{{ description }}', chart.description ?? '')
    .replaceAll('{{ workers }}', WORKER_NAMES.map((name) => `\`parsemesh-${name}\``).join(', '))
    .replaceAll('{{ version }}', chart.version ?? '')
    .replaceAll('{{ kubeVersion }}', chart.kubeVersion ?? '')
    .trimEnd()}

## Values

The settings of a service are \`services.NAME.…\`. They override \`defaults.…\`.

| value | default | what it does |
| --- | --- | --- |
${values.map((value) => `| \`${value.path}\` | ${cell(shown(value))} | ${cell(value.description)} |`).join('\n')}
`;
}
