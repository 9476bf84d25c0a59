// Reads the rules and dashboards of the chart and the queries in them.
import { glob, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const CHART = fileURLToPath(new URL('../../charts/parsemesh/', import.meta.url));
const RULES = `${CHART}rules/`;

interface Rule {
  /** Name of an alert; undefined for a recording rule. */
  alert?: string;
  record?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

interface GridPosition {
  x: number;
  y: number;
  w: number;
  h: number;
}

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: GridPosition;
  fieldConfig?: { defaults: { unit: string } };
  targets?: { refId: string; expr: string; legendFormat: string; datasource: { uid: string } }[];
}

interface Dashboard {
  file: string;
  uid: string;
  title: string;
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
  panels: Panel[];
}

async function listFiles(folder: string, pattern: string): Promise<string[]> {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: folder })) found.push(`${folder}${path}`);
  return found.sort();
}

/** Paths of the rule files, without the files of their tests. */
export const ruleFiles = (): Promise<string[]> => listFiles(RULES, '*.yaml');
export const ruleTests = (): Promise<string[]> => listFiles(`${RULES}tests/`, '*.yaml');

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
    (await listFiles(`${CHART}dashboards/`, '*.json')).map(async (path) => ({
      ...(JSON.parse(await readFile(path, 'utf8')) as Omit<Dashboard, 'file'>),
      file: basename(path),
    })),
  );
}

/** Replaces Grafana's variables in the query of a panel. @param window range of rates */
export function withoutVariables(expr: string, window: string): string {
  return expr.replaceAll(/\$__(?:rate_interval|range|interval)/g, window).replaceAll('$namespace', '.*');
}

/** Removes the thresholds of an alert's expression, so that it has data even if the alert does not fire. */
export const withoutThresholds = (expr: string): string =>
  expr.replaceAll(/\s(?:[<>]=?|[!=]=)(?:\s+bool)?\s+-?\d+(?:\.\d+)?(?=[\s)]|$)/g, '');

/** The series that an expression selects, with their label matchers. */
export function selectorsOf(expr: string): { name: string; matchers: { label: string; value: string }[] }[] {
  const bare = expr.replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ');
  // A metric name has an underscore or a colon. Names before a bracket are functions.
  const names = bare.matchAll(/(?<![\w:"$])([a-zA-Z_:][\w:]*[_:][\w:]*)(?![\w:])(?!\s*\()(?:\{([^}]*)\})?/g);
  return [...names].map(([, name = '', inside = '']) => ({
    name,
    matchers: [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)].map(([, label = '', value = '']) => ({
      label,
      value,
    })),
  }));
}
