// `npm run observe`: a mesh of real processes under load and faults, scraped by a real Prometheus; every alert, recording rule and dashboard panel must find data, and every fault must be seen in its counter.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoad, Tally } from '../chaos/load.ts';
import { Mesh } from '../chaos/mesh.ts';
import { judge, mustBeSeen } from './judge.ts';
import { checkMetrics, checkRules, type Prometheus, startPrometheus, type Target } from './prometheus.ts';
import { provokeEverything } from './provoke.ts';

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
  faults.push(...(await judge(prometheus, print)));
  faults.push(...(await mustBeSeen(prometheus, print)));
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
