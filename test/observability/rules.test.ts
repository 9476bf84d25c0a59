// Holds the alerts and dashboards to the metrics that there are: a name or a label that nobody shows would keep an alert still for ever.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parse } from 'yaml';
import { METRICS } from '#shared/runtime/metrics.ts';
import { familyOf } from './exposition.ts';
import { readDashboards, readRules, ruleTests, selectorsOf, withoutThresholds, withoutVariables } from './queries.ts';

const rules = await readRules();
const dashboards = await readDashboards();
const page = await readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
const described = new Map(METRICS.map((metric) => [metric.name, metric]));
/** Labels that Prometheus' discovery adds. */
const TARGET_LABELS = new Set(['namespace', 'pod', 'job', 'instance']);

/** What an expression asks for that is nowhere shown. */
function faultsOf(expr: string): string[] {
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
      // Prometheus anchors its regular expressions; a plain value is one that matches itself.
      const matches = new RegExp(`^(?:${value})$`);
      return known.some((one) => matches.test(one)) ? [] : [`${name} never has ${label}="${value}"`];
    });
  });
}

const SEVERITIES = new Set(['critical', 'warning', 'info']);

for (const { alert, record, expr, labels, annotations } of rules)
  test(`${alert ?? record} asks for what is shown`, async () => {
    assert.deepEqual(faultsOf(expr), []);
    if (alert === undefined) return assert.match(record ?? '', /^[a-z_]+:parsemesh_[a-z_]+:[a-z0-9_]+$/);
    assert.match(alert, /^Parsemesh[A-Z][A-Za-z]+$/);
    assert.ok(SEVERITIES.has(labels?.severity ?? ''));
    for (const annotation of ['summary', 'description', 'runbook'])
      assert.ok((annotations?.[annotation] ?? '').length > 20, annotation);
    assert.notEqual(withoutThresholds(expr), expr, 'an alert compares with a number');
    assert.equal(withoutThresholds(withoutThresholds(expr)), withoutThresholds(expr));
  });

test('every alert has a test in which it fires and one in which it does not fire', async () => {
  const names = new Set<string>();
  for (const path of await ruleTests())
    for (const { name } of (parse(await readFile(path, 'utf8')) as { tests: { name: string }[] }).tests)
      names.add(name);
  const wanted = rules.flatMap(({ alert }) => (alert ? [`${alert} fires`, `${alert} does not fire`] : []));
  assert.deepEqual([...names].sort(), wanted.sort());
});

test('recording rules are all asked for', () => {
  const asked = [
    ...rules.map(({ expr }) => expr),
    ...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))),
  ].flatMap(selectorsOf);
  assert.deepEqual(
    [...recorded].filter((name) => !asked.some((selector) => selector.name === name)),
    [],
  );
});

test('dashboards differ in their uids and titles', () => {
  assert.ok(dashboards.length >= 4);
  assert.equal(new Set(dashboards.map(({ uid }) => uid)).size, dashboards.length);
  assert.equal(new Set(dashboards.map(({ title }) => title)).size, dashboards.length);
});

for (const { file, panels, templating } of dashboards) {
  test(`${file} takes its source and its namespace from variables`, () => {
    assert.deepEqual(
      templating.list.map(({ name, type }) => [name, type]),
      [
        ['datasource', 'datasource'],
        ['namespace', 'query'],
      ],
    );
  });

  test(`${file} has panels that stand apart`, () => {
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
    test(`${file}, ${panel.title}: asks for what is shown`, () => {
      assert.ok(panel.description && panel.fieldConfig?.defaults.unit, 'says what it shows, in a unit');
      assert.ok(panel.targets && panel.targets.length > 0);
      for (const { expr, legendFormat, datasource } of panel.targets) {
        assert.deepEqual(faultsOf(withoutVariables(expr, '5m')), []);
        for (const { name, matchers } of selectorsOf(expr))
          assert.ok(
            matchers.some(({ label, value }) => label === 'namespace' && value === '$namespace'),
            `${name} in the namespace that was chosen`,
          );
        assert.notEqual(legendFormat, '');
        assert.match(datasource.uid, /^\$\{datasource\}$/);
      }
    });
}
