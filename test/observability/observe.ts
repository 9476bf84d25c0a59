// `npm run observe`: a mesh of real processes under load and faults, scraped by a real Prometheus; every alert, recording rule and dashboard panel must find data, and every fault must be seen in its counter.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad, Tally } from '../chaos/load.ts';
import { Mesh } from '../chaos/mesh.ts';
import { checkMetrics, checkRules, type Prometheus, type Series, startPrometheus, type Target } from './prometheus.ts';
import { provokeEverything } from './provoke.ts';
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
  'sum(parsemesh_isolated_process_ends_total{reason="crash"}) > 0',
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

const print = (line: string) => process.stdout.write(`${line}\n`);
const faults: string[] = [];

const targetsOf = (mesh: Mesh): Target[] =>
  mesh.members.flatMap(({ name, product }) =>
    product ? [{ opsUrl: product.opsUrl, labels: { namespace: 'parsemesh', pod: name } }] : [],
  );

/** Keeps Prometheus on the processes that are there: one that is started again has another port. */
function follow(mesh: Mesh, prometheus: Prometheus): () => Promise<void> {
  const stopping = new AbortController();
  const following = (async () => {
    let shown = '';
    while (!stopping.signal.aborted) {
      const targets = targetsOf(mesh);
      if (JSON.stringify(targets) !== shown) await prometheus.scrape(targets);
      shown = JSON.stringify(targets);
      await sleep(200);
    }
  })();
  return async () => {
    stopping.abort();
    await following;
  };
}

const found = (series: readonly Series[]): boolean => series.some(({ value }) => !Number.isNaN(value));

/** Asks one query and notes where nothing comes. */
async function mustFind(prometheus: Prometheus, what: string, expr: string): Promise<boolean> {
  const series = await prometheus.query(expr);
  if (found(series)) return true;
  faults.push(`${what} finds nothing: ${expr}`);
  return false;
}

async function judge(prometheus: Prometheus): Promise<void> {
  const rules = await readRules();
  let alerts = 0;
  let recordings = 0;
  for (const { alert, record, expr } of rules)
    if (alert === undefined) recordings += (await mustFind(prometheus, `${record}`, record ?? '')) ? 1 : 0;
    else alerts += (await mustFind(prometheus, alert, withoutThresholds(expr))) ? 1 : 0;
  const states = await prometheus.rules();
  for (const { name, health, lastError } of states)
    if (health !== 'ok') faults.push(`the rule ${name} is ${health}: ${lastError}`);
  const count = (of: 'alert' | 'record') => rules.filter((rule) => rule[of] !== undefined).length;
  print(`${alerts} of ${count('alert')} alerts and ${recordings} of ${count('record')} recording rules find data`);

  for (const { title, panels, templating } of await readDashboards()) {
    const targets = panels.flatMap((panel) => (panel.targets ?? []).map(({ expr }) => ({ title: panel.title, expr })));
    let answered = 0;
    for (const { title: panel, expr } of targets)
      if (await mustFind(prometheus, `${title}, ${panel}`, withoutVariables(expr, WINDOW))) answered += 1;
    print(`${title}: ${answered} of ${targets.length} queries find data`);
    for (const { name, type, query } of templating.list) {
      if (type !== 'query') continue;
      const text = typeof query === 'string' ? query : query.query;
      const [, match = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(text) ?? [];
      if ((await prometheus.labelValues(label, match)).length === 0) faults.push(`${title}: $${name} has no values`);
    }
  }

  let seen = 0;
  for (const expr of SEEN) if (await mustFind(prometheus, 'a provoked fault', expr)) seen += 1;
  print(`${seen} of ${SEEN.length} provoked happenings are seen`);
}

print((await checkRules()).trim());
const mesh = await Mesh.start({ copies: 1, env: { OCR_CONCURRENCY: '2', LOG_LEVEL: 'warn' } });
let prometheus: Prometheus | undefined;
try {
  prometheus = await startPrometheus(join(mesh.folder, 'prometheus'));
  const stopFollowing = follow(mesh, prometheus);
  const tally = new Tally();
  const load = startLoad(mesh, tally, {
    clients: 2,
    pauseMs: 200,
    timeoutMs: 60_000,
    // The csv worker is killed on purpose.
    allowed: new Set(['REQUEST_TIMEOUT', 'SERVICE_UNAVAILABLE']),
  });
  await provokeEverything({ mesh, log: (line) => print(`  ${line}`) });
  await load.stop();
  // Two scrapes and an evaluation after the last of it.
  await sleep(8_000);
  print(`the load: ${tally}`);
  faults.push(...tally.faults);
  await judge(prometheus);
  faults.push(...(await prometheus.scrapeErrors()));
  for (const { opsUrl, labels } of targetsOf(mesh)) {
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    const ours = text.split('\n').filter((line) => line.includes('parsemesh_'));
    for (const complaint of await checkMetrics(`${ours.join('\n')}\n`)) faults.push(`${labels.pod}: ${complaint}`);
  }
  await stopFollowing();
} finally {
  await prometheus?.stop();
  for (const exit of await mesh.stop()) faults.push(`did not drain: ${exit}`);
}
print(faults.length === 0 ? 'everything is seen' : `${faults.length} faults:\n${faults.join('\n')}`);
process.exit(faults.length === 0 ? 0 : 1);
