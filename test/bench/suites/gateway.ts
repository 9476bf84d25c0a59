// Measures a small request on a baseline server, in the converter only and through the entire product, and a cold start.
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../../harness/client.ts';
import { startProduct } from '../../harness/product.ts';
import { smallInput } from '../inputs.ts';
import { measureCost, type Rounds } from '../measure.ts';
import { baselineSubject, inProcessSubject, productSubject, type Subject, withSubject } from '../subject.ts';
import type { Suite } from '../suite.ts';
import { printTable, targetCell } from '../table.ts';

const OVERHEAD_TARGET_MS = 3;
const REVOCATION_TARGET_MS = 1_000;

/** Milliseconds until the gateway refuses a key that the command line has revoked. */
async function measureRevocation(): Promise<number> {
  const product = await startProduct({ transport: 'memory' });
  try {
    const key = await product.createKey();
    await product.revokeKey(key);
    const revokedAt = performance.now();
    while ((await send(product, { key })).status !== 401) await sleep(5);
    return performance.now() - revokedAt;
  } finally {
    await product.stop();
  }
}

export const gateway: Suite = async ({ rounds }) => {
  const small = await smallInput();
  const many: Rounds = { warm: 150, rounds, repeat: 150 };
  const cost = async (subject: Subject) => (await measureCost(subject, [small], many)).cpuMs;
  const baseline = await withSubject(baselineSubject(), cost);
  const converter = await withSubject(inProcessSubject(), cost);
  const cold = await withSubject(productSubject('memory'), async (subject) => {
    await subject.convert(small);
    return subject.cpuMs();
  });
  const embedded = await withSubject(productSubject('memory'), cost);
  const overhead = embedded - converter;
  printTable(
    'Small request (a CSV of 150 bytes), CPU ms',
    ['subject', 'CPU ms', 'target'],
    [
      ['Express + busboy, no conversion', baseline, undefined],
      ['converter in process', converter, undefined],
      ['embedded, entire request', embedded, undefined],
      ['overhead of gateway, bus and isolation', overhead, targetCell(overhead, OVERHEAD_TARGET_MS)],
      ['cold start to the first parse', cold, undefined],
    ],
  );
  const revocation = await measureRevocation();
  printTable(
    'Time until a revoked key is refused, ms',
    ['what', 'ms', 'target'],
    [['keys file, same machine', revocation, targetCell(revocation, REVOCATION_TARGET_MS)]],
  );
  return { baseline, converter, embedded, overhead, cold, revocation };
};
