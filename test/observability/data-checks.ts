// Runs every query of the chart's rules and dashboards on a Prometheus and reports those without data.

import { readDashboards, readRules, withoutThresholds, withoutVariables } from './chart-queries.ts';
import type { Prometheus, Series } from './prometheus.ts';

/** Range of the panels' rates: longer than a run, so that it includes events of its start. */
const WINDOW = '15m';
/** Conditions that the counters must meet after the scenarios. */
const EXPECTED_COUNTS: readonly string[] = [
  ...['credits', 'rate', 'concurrency', 'upload_size', 'document'].map(
    (reason) => `sum(parsemesh_limit_refusals_total{reason="${reason}"}) > 0`,
  ),
  ...['401', '402', '400', '408', '413', '422', '429', '499', '503'].map(
    (status) => `sum(parsemesh_http_requests_total{route="/v2/parse",status="${status}"}) > 0`,
  ),
  'sum(parsemesh_credits_charged_total) > 0',
  'sum(parsemesh_uploaded_bytes_total) > 0',
  'sum(parsemesh_payload_stored_bytes_total) > 0',
  'sum(parsemesh_ocr_pages_total{outcome="OK"}) > 5',
  'sum(parsemesh_redactions_total{entity="EMAIL"}) > 0',
  // The worker is killed after it has counted this, so the query reads samples of the last 15 minutes.
  'sum(max_over_time(parsemesh_isolated_process_ends_total{queue="csv",reason="crash"}[15m])) > 0',
  'sum(parsemesh_dead_letters_total{queue="csv"}) > 0',
  'sum(max_over_time(parsemesh_redeliveries_total{queue="csv"}[15m])) > 0',
  'sum(parsemesh_cancelled_jobs_total{reason="cancelled"}) > 0',
  'sum(parsemesh_cancelled_jobs_total{reason="deadline"}) > 0',
  'max(max_over_time(parsemesh_queue_waiting_jobs{queue="csv"}[15m])) > 0',
  'max(max_over_time(parsemesh_queue_oldest_job_age_seconds{queue="csv"}[15m])) > 1',
  'min(min_over_time(parsemesh_queue_workers{queue="csv"}[15m])) == 0',
  'max(max_over_time(parsemesh_queue_waiting_jobs{queue="ocr"}[15m])) > 0',
  'min(parsemesh_isolated_process_resident_memory_bytes{queue="pdf"}) > 30e6',
  'min(parsemesh_bus_connected) == 1',
  'count(parsemesh_build_info) == 8',
  'count(ALERTS{alertname="ParsemeshDeadLetters",alertstate="firing"}) > 0',
];

const hasData = (series: readonly Series[]): boolean => series.some(({ value }) => !Number.isNaN(value));

/** Runs queries and collects those without data. */
class QueryChecker {
  readonly faults: string[] = [];
  readonly #prometheus: Prometheus;

  constructor(prometheus: Prometheus) {
    this.#prometheus = prometheus;
  }

  /** @returns 1 if the query has data, else 0 */
  async check(label: string, expr: string): Promise<number> {
    if (hasData(await this.#prometheus.query(expr))) return 1;
    this.faults.push(`${label} has no data: ${expr}`);
    return 0;
  }
}

type Print = (line: string) => void;

async function checkRuleData(checker: QueryChecker, prometheus: Prometheus, print: Print): Promise<void> {
  const rules = await readRules();
  let alerts = 0;
  let recordings = 0;
  for (const { alert, record, expr } of rules)
    if (alert === undefined) recordings += await checker.check(record ?? '', record ?? '');
    else alerts += await checker.check(alert, withoutThresholds(expr));
  for (const { name, health, lastError } of await prometheus.rules())
    if (health !== 'ok') checker.faults.push(`the rule ${name} is ${health}: ${lastError}`);
  const count = (field: 'alert' | 'record') => rules.filter((rule) => rule[field] !== undefined).length;
  print(`${alerts} of ${count('alert')} alerts and ${recordings} of ${count('record')} recording rules have data`);
}

async function checkDashboardData(checker: QueryChecker, prometheus: Prometheus, print: Print): Promise<void> {
  for (const { title, panels, templating } of await readDashboards()) {
    const targets = panels.flatMap((panel) => (panel.targets ?? []).map(({ expr }) => ({ title: panel.title, expr })));
    let withData = 0;
    for (const { title: panel, expr } of targets)
      withData += await checker.check(`${title}, ${panel}`, withoutVariables(expr, WINDOW));
    print(`${title}: ${withData} of ${targets.length} queries have data`);
    for (const { name, type, query } of templating.list) {
      if (type !== 'query') continue;
      const text = typeof query === 'string' ? query : query.query;
      const [, match = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(text) ?? [];
      if ((await prometheus.labelValues(label, match)).length === 0)
        checker.faults.push(`${title}: the variable $${name} has no values`);
    }
  }
}

/** Checks that every alert (without thresholds), recording rule and panel has data. @returns those without data */
export async function checkQueries(prometheus: Prometheus, print: Print): Promise<string[]> {
  const checker = new QueryChecker(prometheus);
  await checkRuleData(checker, prometheus, print);
  await checkDashboardData(checker, prometheus, print);
  return checker.faults;
}

/** Checks that the events of the scenarios were counted. @returns the conditions that are not met */
export async function checkCounts(prometheus: Prometheus, print: Print): Promise<string[]> {
  const checker = new QueryChecker(prometheus);
  let met = 0;
  for (const expr of EXPECTED_COUNTS) met += await checker.check('an expected count', expr);
  print(`${met} of ${EXPECTED_COUNTS.length} expected counts are met`);
  return checker.faults;
}
