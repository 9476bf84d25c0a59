// Checks that alerts and dashboards use existing metrics and labels, because an alert on an unknown series never fires.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parse } from 'yaml';
import { METRICS } from '#shared/runtime/metrics.ts';
import {
  readDashboards,
  readRules,
  ruleTests,
  selectorsOf,
  withoutThresholds,
  withoutVariables,
} from './chart-queries.ts';
import { familyOf } from './metrics-text.ts';

const rules = await readRules();
const dashboards = await readDashboards();
const page = await readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
const described = new Map(METRICS.map((metric) => [metric.name, metric]));
/** Labels that the service discovery of Prometheus adds. */
const TARGET_LABELS = new Set(['namespace', 'pod', 'job', 'instance']);

/** Describes the metrics, labels and values of an expression that do not exist. */
function findUnknown(expr: string): string[] {
  const selectors = selectorsOf(expr);
  if (selectors.length === 0) return [`no metric in ${expr}`];
  return selectors.flatMap(({ name, matchers }) => {
    if (recorded.has(name)) return [];
    const family = page.includes(`\`${name}\``) ? name : familyOf(name);
    if (!page.includes(`\`${family}\``)) return [`${name} is not in docs/metrics.md`];
    const labels = described.get(family)?.labels ?? {};
    return matchers.flatMap(({ label, value }) => {
      if (TARGET_LABELS.has(label)) return [];
      const known = labels[label];
      if (!known) return [`${name} has no label ${label}`];
      // Prometheus anchors regular expressions. A plain value matches itself.
      const matches = new RegExp(`^(?:${value})$`);
      return known.some((one) => matches.test(one)) ? [] : [`${name} never has ${label}="${value}"`];
    });
  });
}

const SEVERITIES = new Set(['critical', 'warning', 'info']);

for (const { alert, record, expr, labels, annotations } of rules)
  test(`rule ${alert ?? record} uses existing metrics and follows the naming conventions`, async () => {
    assert.deepEqual(findUnknown(expr), []);
    if (alert === undefined) return assert.match(record ?? '', /^[a-z_]+:parsemesh_[a-z_]+:[a-z0-9_]+$/);
    assert.match(alert, /^Parsemesh[A-Z][A-Za-z]+$/);
    assert.ok(SEVERITIES.has(labels?.severity ?? ''));
    for (const annotation of ['summary', 'description', 'runbook'])
      assert.ok((annotations?.[annotation] ?? '').length > 20, annotation);
    assert.notEqual(withoutThresholds(expr), expr, 'an alert must compare with a number');
    assert.equal(withoutThresholds(withoutThresholds(expr)), withoutThresholds(expr));
  });

test('every alert has a promtool test in which it fires and one in which it does not', async () => {
  const names = new Set<string>();
  for (const path of await ruleTests())
    for (const { name } of (parse(await readFile(path, 'utf8')) as { tests: { name: string }[] }).tests)
      names.add(name);
  const expected = rules.flatMap(({ alert }) => (alert ? [`${alert} fires`, `${alert} does not fire`] : []));
  assert.deepEqual([...names].sort(), expected.sort());
});

test('every recording rule is used by a rule or a dashboard', () => {
  const used = [
    ...rules.map(({ expr }) => expr),
    ...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))),
  ].flatMap(selectorsOf);
  assert.deepEqual(
    [...recorded].filter((name) => !used.some((selector) => selector.name === name)),
    [],
  );
});

test('every dashboard has a unique uid and title', () => {
  assert.ok(dashboards.length >= 4);
  assert.equal(new Set(dashboards.map(({ uid }) => uid)).size, dashboards.length);
  assert.equal(new Set(dashboards.map(({ title }) => title)).size, dashboards.length);
});

for (const { file, panels, templating } of dashboards) {
  test(`${file} has the variables datasource and namespace`, () => {
    assert.deepEqual(
      templating.list.map(({ name, type }) => [name, type]),
      [
        ['datasource', 'datasource'],
        ['namespace', 'query'],
      ],
    );
  });

  test(`panels of ${file} do not overlap and have unique ids`, () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
    for (const [index, { gridPos: a, title }] of panels.entries()) {
      assert.ok(a.x >= 0 && a.x + a.w <= 24, title);
      for (const { gridPos: b, title: other } of panels.slice(index + 1))
        assert.ok(
          a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y,
          `${title} and ${other} overlap`,
        );
    }
  });

  for (const panel of panels.filter(({ type }) => type !== 'row'))
    test(`panel ${panel.title} of ${file} has a description and a unit and uses existing metrics`, () => {
      assert.ok(panel.description && panel.fieldConfig?.defaults.unit, 'a panel must have a description and a unit');
      assert.ok(panel.targets && panel.targets.length > 0);
      for (const { expr, legendFormat, datasource } of panel.targets) {
        assert.deepEqual(findUnknown(withoutVariables(expr, '5m')), []);
        for (const { name, matchers } of selectorsOf(expr))
          assert.ok(
            matchers.some(({ label, value }) => label === 'namespace' && value === '$namespace'),
            `${name} must be filtered by $namespace`,
          );
        assert.notEqual(legendFormat, '');
        assert.match(datasource.uid, /^\$\{datasource\}$/);
      }
    });
}
