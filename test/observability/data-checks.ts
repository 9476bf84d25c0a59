// Asks a Prometheus everything that the chart's rules and dashboards would ask it, and tells what finds nothing.
import type { Prometheus, Series } from './prometheus.ts';
import { readDashboards, readRules, withoutThresholds, withoutVariables } from './queries.ts';

/** Window of the panels' rates: as long as this run, so that what happened at its start is still in it. */
const WINDOW = '15m';
/** What must have been counted by the end, each provoked. */
const SEEN: readonly string[] = [
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
  // The worker that counted it is killed after it.
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

const found = (series: readonly Series[]): boolean => series.some(({ value }) => !Number.isNaN(value));

/** Asks queries and notes which of them find nothing. */
class Asker {
  readonly faults: string[] = [];
  readonly #prometheus: Prometheus;

  constructor(prometheus: Prometheus) {
    this.#prometheus = prometheus;
  }

  /** @returns 1 where something came, else 0 */
  async find(what: string, expr: string): Promise<number> {
    if (found(await this.#prometheus.query(expr))) return 1;
    this.faults.push(`${what} finds nothing: ${expr}`);
    return 0;
  }
}

/** Every alert without its thresholds, every recording rule and every panel must find data. @returns those that do not */
export async function judge(prometheus: Prometheus, print: (line: string) => void): Promise<string[]> {
  const asker = new Asker(prometheus);
  const { faults } = asker;
  const rules = await readRules();
  let alerts = 0;
  let recordings = 0;
  for (const { alert, record, expr } of rules)
    if (alert === undefined) recordings += await asker.find(record ?? '', record ?? '');
    else alerts += await asker.find(alert, withoutThresholds(expr));
  const states = await prometheus.rules();
  for (const { name, health, lastError } of states)
    if (health !== 'ok') faults.push(`the rule ${name} is ${health}: ${lastError}`);
  const count = (of: 'alert' | 'record') => rules.filter((rule) => rule[of] !== undefined).length;
  print(`${alerts} of ${count('alert')} alerts and ${recordings} of ${count('record')} recording rules find data`);

  for (const { title, panels, templating } of await readDashboards()) {
    const targets = panels.flatMap((panel) => (panel.targets ?? []).map(({ expr }) => ({ title: panel.title, expr })));
    let answered = 0;
    for (const { title: panel, expr } of targets)
      answered += await asker.find(`${title}, ${panel}`, withoutVariables(expr, WINDOW));
    print(`${title}: ${answered} of ${targets.length} queries find data`);
    for (const { name, type, query } of templating.list) {
      if (type !== 'query') continue;
      const text = typeof query === 'string' ? query : query.query;
      const [, match = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(text) ?? [];
      if ((await prometheus.labelValues(label, match)).length === 0) faults.push(`${title}: $${name} has no values`);
    }
  }
  return faults;
}

/** What was provoked must be in its counter. @returns what is not */
export async function mustBeSeen(prometheus: Prometheus, print: (line: string) => void): Promise<string[]> {
  const asker = new Asker(prometheus);
  let seen = 0;
  for (const expr of SEEN) seen += await asker.find('what was provoked', expr);
  print(`${seen} of ${SEEN.length} provoked happenings are seen`);
  return asker.faults;
}
