// Reads the chart's rules and dashboards, so that suites ask what they ask.
import { glob, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const CHART = fileURLToPath(new URL('../../charts/parsemesh/', import.meta.url));
export const RULES = `${CHART}rules/`;

export interface Rule {
  /** Of an alert; undefined for a recording rule. */
  alert?: string;
  record?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface GridPosition {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: GridPosition;
  fieldConfig?: { defaults: { unit: string } };
  targets?: { refId: string; expr: string; legendFormat: string; datasource: { uid: string } }[];
}

export interface Dashboard {
  file: string;
  uid: string;
  title: string;
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
  panels: Panel[];
}

async function paths(folder: string, pattern: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: folder })) found.push(`${folder}${path}`);
  return found.sort();
}

/** Rule files as promtool and the chart take them (not the tests below them). */
export const ruleFiles = (): Promise<string[]> => paths(RULES, '*.yaml');
export const ruleTests = (): Promise<string[]> => paths(`${RULES}tests/`, '*.yaml');

export async function readRules(): Promise<Rule[]> {
  const rules: Rule[] = [];
  for (const path of await ruleFiles()) {
    const file = parse(await readFile(path, 'utf8')) as { groups: { rules: Rule[] }[] };
    rules.push(...file.groups.flatMap((group) => group.rules));
  }
  return rules;
}

export async function readDashboards(): Promise<Dashboard[]> {
  return Promise.all(
    (await paths(`${CHART}dashboards/`, '*.json')).map(async (path) => ({
      ...(JSON.parse(await readFile(path, 'utf8')) as Omit<Dashboard, 'file'>),
      file: basename(path),
    })),
  );
}

/** A panel's query with Grafana's variables filled in. @param window for rates */
export function withoutVariables(expr: string, window: string): string {
  return expr.replaceAll(/\$__(?:rate_interval|range|interval)/g, window).replaceAll('$namespace', '.*');
}

/** An alert's expression without its thresholds: what it looks at, whether or not it is too much. */
export const withoutThresholds = (expr: string): string =>
  expr.replaceAll(/\s(?:[<>]=?|[!=]=)(?:\s+bool)?\s+-?\d+(?:\.\d+)?(?=[\s)]|$)/g, '');

/** Names of the series that an expression selects, each with its label matchers. */
export function selectorsOf(expr: string): { name: string; matchers: { label: string; value: string }[] }[] {
  const bare = expr.replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ');
  // A metric's name has an underscore or a colon; functions and words of the language stand before a bracket or have none.
  const names = bare.matchAll(/(?<![\w:"$])([a-zA-Z_:][\w:]*[_:][\w:]*)(?![\w:])(?!\s*\()(?:\{([^}]*)\})?/g);
  return [...names].map(([, name = '', inside = '']) => ({
    name,
    matchers: [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)].map(([, label = '', value = '']) => ({
      label,
      value,
    })),
  }));
}
