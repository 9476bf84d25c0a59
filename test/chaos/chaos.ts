// Runs `npm run chaos`: kills each process of a running mesh under load and checks that each request gets a correct response or a documented error in time.
import { parseArgs } from 'node:util';
import { startLoad, Tally } from './load.ts';
import { Mesh } from './mesh.ts';
import { PHASES } from './phases.ts';

const { values } = parseArgs({
  options: { 'seconds-per-phase': { type: 'string' }, phases: { type: 'string' }, log: { type: 'boolean' } },
});
const seconds = Number(values['seconds-per-phase'] ?? 10);
const selected = values.phases?.split(',');
const phases = PHASES.filter(({ name }) => selected === undefined || selected.includes(name));
if (!(seconds > 0) || phases.length === 0) {
  process.stderr.write(
    `usage: npm run chaos -- [--seconds-per-phase 10] [--phases ${PHASES.map(({ name }) => name).join(',')}] [--log]\n  --log  print the output of all processes at the end\n`,
  );
  process.exit(2);
}

const print = (line: string) => process.stdout.write(`${line}\n`);
const mesh = await Mesh.start({ copies: 2 });
print(`${mesh.members.length} processes and one nats-server are ready; ${phases.length} phases of ${seconds} s`);
const tallies: Tally[] = [];
const faults: string[] = [];
/** How long the slowest request takes without a fault on this machine, in milliseconds. */
const usualMs = { running: 0, starting: 0 };
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
    if (phase.measures) usualMs[phase.measures] = tally.slowestMs;
    tally.checkWaits(Math.max(usualMs.running, phase.startsEngines ? usualMs.starting : 0));
    print(`${phase.name}: ${tally}`);
    for (const fault of tally.faults) print(`  FAULT ${fault}`);
    tallies.push(tally);
    faults.push(...tally.faults.map((fault) => `${phase.name}: ${fault}`));
  }
} finally {
  if (values.log) print(mesh.output());
  for (const exit of await mesh.stop()) faults.push(`did not drain: ${exit}`);
}
print(`all phases: ${Tally.sum(tallies)}`);
print(faults.length === 0 ? 'no faults' : `${faults.length} faults:\n${faults.join('\n')}`);
process.exit(faults.length === 0 ? 0 : 1);
