// Measures a small request on a baseline server, in the converter only and through the entire product, and a cold start.
import { smallInput } from '../inputs.ts';
import { measureCost, type Rounds } from '../measure.ts';
import { baselineSubject, inProcessSubject, productSubject, type Subject, withSubject } from '../subject.ts';
import type { Suite } from '../suite.ts';
import { printTable, targetCell } from '../table.ts';

const OVERHEAD_TARGET_MS = 3;

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
    ['what', 'CPU ms', 'target'],
    [
      ['Express + busboy, no conversion', baseline, undefined],
      ['converter in process', converter, undefined],
      ['embedded, entire request', embedded, undefined],
      ['overhead of gateway, bus and isolation', overhead, targetCell(overhead, OVERHEAD_TARGET_MS)],
      ['cold start to the first parse', cold, undefined],
    ],
  );
  return { baseline, converter, embedded, overhead, cold };
};
