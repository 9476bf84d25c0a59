// Runs `npm run observe`: puts a mesh under load and faults and checks that a real Prometheus has data for every alert, rule and panel.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad, Tally } from '../chaos/load.ts';
import { Mesh } from '../chaos/mesh.ts';
import { checkCounts, checkQueries } from './data-checks.ts';
import { checkMetrics, checkRules, type Prometheus, startPrometheus, type Target } from './prometheus.ts';
import { runScenarios } from './scenarios.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const faults: string[] = [];

const targetsOf = (mesh: Mesh): Target[] =>
  mesh.members.flatMap(({ name, product }) =>
    product ? [{ opsUrl: product.opsUrl, labels: { namespace: 'parsemesh', pod: name } }] : [],
  );

/** Updates the targets of Prometheus continuously, because a process has another port after a restart. */
function followRestarts(mesh: Mesh, prometheus: Prometheus): () => Promise<void> {
  const stopping = new AbortController();
  const following = (async () => {
    let current = '';
    while (!stopping.signal.aborted) {
      const targets = targetsOf(mesh);
      if (JSON.stringify(targets) !== current) await prometheus.scrape(targets);
      current = JSON.stringify(targets);
      await sleep(200);
    }
  })();
  return async () => {
    stopping.abort();
    await following;
  };
}

print((await checkRules()).trim());
const mesh = await Mesh.start({ copies: 1, env: { OCR_CONCURRENCY: '2', LOG_LEVEL: 'warn' } });
let prometheus: Prometheus | undefined;
try {
  prometheus = await startPrometheus(join(mesh.folder, 'prometheus'));
  const stopFollowing = followRestarts(mesh, prometheus);
  const tally = new Tally();
  const load = startLoad(mesh, tally, {
    clients: 2,
    pauseMs: 200,
    timeoutMs: 60_000,
    // The scenarios kill the csv worker.
    allowed: new Set(['REQUEST_TIMEOUT', 'SERVICE_UNAVAILABLE']),
  });
  await runScenarios({ mesh, log: (line) => print(`  ${line}`) });
  await load.stop();
  // Time for two scrapes and one evaluation of the rules.
  await sleep(8_000);
  print(`load: ${tally}`);
  faults.push(...tally.faults);
  faults.push(...(await checkQueries(prometheus, print)));
  faults.push(...(await checkCounts(prometheus, print)));
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
print(faults.length === 0 ? 'all queries have data' : `${faults.length} faults:\n${faults.join('\n')}`);
process.exit(faults.length === 0 ? 0 : 1);
