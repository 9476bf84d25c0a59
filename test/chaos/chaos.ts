// `npm run chaos`: kills every part of a running mesh in turn under load, and tells whether each request still got its right answer or a documented error in time.
import { parseArgs } from 'node:util';
import { PHASES } from './faults.ts';
import { startLoad, Tally } from './load.ts';
import { Mesh } from './mesh.ts';

const { values } = parseArgs({
  options: { 'seconds-per-phase': { type: 'string' }, phases: { type: 'string' }, log: { type: 'boolean' } },
});
const seconds = Number(values['seconds-per-phase'] ?? 10);
const wanted = values.phases?.split(',');
const phases = PHASES.filter(({ name }) => wanted === undefined || wanted.includes(name));
if (!(seconds > 0) || phases.length === 0) {
  process.stderr.write(
    `usage: npm run chaos -- [--seconds-per-phase 10] [--phases ${PHASES.map(({ name }) => name).join(',')}] [--log]\n`,
  );
  process.exit(2);
}

const print = (line: string) => process.stdout.write(`${line}\n`);
const mesh = await Mesh.start({ copies: 2 });
print(`${mesh.members.length} processes on one nats-server are ready; ${phases.length} phases of ${seconds} s`);
const faults: string[] = [];
try {
  for (const phase of phases) {
    const tally = new Tally();
    const log = (line: string) => print(`  ${phase.name}: ${line}`);
    const load = startLoad(mesh, tally, { clients: 3, pauseMs: 100, timeoutMs: 20_000, allowed: phase.allowed });
    try {
      await phase.run({ mesh, tally, lengthMs: seconds * 1_000, log });
    } finally {
      await load.stop();
    }
    print(`${phase.name}: ${tally}`);
    for (const fault of tally.faults) print(`  FAULT ${fault}`);
    faults.push(...tally.faults);
  }
} finally {
  if (values.log) print(mesh.output());
  const bad = await mesh.stop();
  for (const exit of bad) faults.push(`did not drain: ${exit}`);
  if (values.log && bad.length > 0) print(bad.join('\n'));
}
print(faults.length === 0 ? 'every request ended as it should' : `${faults.length} faults:\n${faults.join('\n')}`);
process.exit(faults.length === 0 ? 0 : 1);
