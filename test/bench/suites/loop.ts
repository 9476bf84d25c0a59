// Measures how long hostile requests keep the event loop of a gateway busy, and so delay the requests of everybody else.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parse } from '../../harness/client.ts';
import type { GatewayCommand, GatewayReady, LoopFigures } from '../gateway-process.ts';
import { HOSTILE_REQUESTS } from '../hostile-requests.ts';
import type { Suite } from '../suite.ts';
import { printTable } from '../table.ts';

/** Milliseconds that one request may hold the loop. On a busy machine, other processes cause longer delays. */
const TARGET_MS = 50;

/** Prints the longest delay of the event loop, and the CPU time, of each hostile request. */
export const loop: Suite = async ({ rounds, only }) => {
  const child = fork(new URL('../gateway-process.ts', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [gateway] = (await once(child, 'message')) as [GatewayReady];
  const command = async (name: Exclude<GatewayCommand, 'stop'>): Promise<LoopFigures> => {
    child.send(name);
    const [figures] = (await once(child, 'message')) as [LoopFigures];
    return figures;
  };
  const control = (product: GatewayReady) => parse(product, { file: '<p>text', fileName: 'a.html' });
  const requests = { 'control: a small request': control, ...HOSTILE_REQUESTS };
  const figures: Record<string, LoopFigures & { first: LoopFigures }> = {};
  try {
    for (let warm = 0; warm < 50; warm++) await control(gateway);
    for (const [name, request] of Object.entries(requests)) {
      if (!name.includes(only)) continue;
      const measured: LoopFigures[] = [];
      for (let round = 0; round <= rounds; round++) {
        await command('start');
        await request(gateway).catch(() => undefined);
        measured.push(await command('read'));
      }
      const [first, ...warm] = measured as [LoopFigures, ...LoopFigures[]];
      const least = (key: keyof LoopFigures): number => Math.min(...warm.map((one) => one[key]));
      figures[name] = { longestDelay: least('longestDelay'), cpuMs: least('cpuMs'), first };
    }
  } finally {
    child.send('stop' satisfies GatewayCommand);
    await once(child, 'exit');
  }
  printTable(
    'Event loop of a gateway: longest delay and CPU time by one request, ms (least of the rounds, and the first). A request holds the loop for the smaller one at most.',
    ['request', 'delay', 'CPU', 'first delay', 'first CPU', ''],
    Object.entries(figures)
      .sort(([, a], [, b]) => b.longestDelay - a.longestDelay)
      .map(([name, { longestDelay, cpuMs, first }]) => [
        name,
        longestDelay,
        cpuMs,
        first.longestDelay,
        first.cpuMs,
        Math.min(longestDelay, cpuMs) <= TARGET_MS ? '' : `OVER ${TARGET_MS}`,
      ]),
  );
  return figures;
};
