// Tests that the metrics of a process contain the delay of its event loop.
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { collectProcessMetrics, registry } from './metrics.ts';

/** Seconds that computations of this test hold the event loop. More than the machine delays an idle process. */
const BLOCKED_SECONDS = 0.6;

/** The observations of the delay that are longer than 0.5 s. */
async function longDelays(): Promise<number> {
  const text = await registry.getSingleMetricAsString('parsemesh_event_loop_delay_seconds');
  const value = (suffix: string) => Number(new RegExp(`_${suffix} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
  return value('count') - value('bucket\\{le="0\\.5"\\}');
}

test('a computation that holds the event loop is one long delay in the metric', async () => {
  collectProcessMetrics();
  await pause(100);
  const before = await longDelays();
  const end = process.cpuUsage().user + BLOCKED_SECONDS * 1e6;
  while (process.cpuUsage().user < end) Math.sqrt(end);
  // The test ends only if the delay is counted.
  while ((await longDelays()) === before) await pause(100);
});
