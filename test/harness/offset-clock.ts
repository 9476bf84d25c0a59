// Shifts the time of day of a Node process and of the Node processes that it starts. Timers keep their speed, as with a real clock that is wrong.
import childProcess, { type SpawnOptions } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { CLOCK_OFFSET_VARIABLE } from './clock-offset.ts';

/** Uses nothing from outside, because its text also runs in other processes. */
function shiftDate(offsetMs: number): void {
  const TrueDate = Date;
  const now = (): number => TrueDate.now() + offsetMs;
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new TrueDate(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
}

const offsetMs = Number(process.env[CLOCK_OFFSET_VARIABLE]);
shiftDate(offsetMs);

// The product passes only a few variables to its isolated processes, which run on the same node and so with the same clock.
// They may not read this file, so they get its code in the variable.
const { spawn } = childProcess;
const code = encodeURIComponent(`(${shiftDate.toString()})(${offsetMs})`);
const inherited = { NODE_OPTIONS: `--import=data:text/javascript,${code}` };
childProcess.spawn = ((command: string, args: readonly string[], options: SpawnOptions) =>
  spawn(command, args, options?.env ? { ...options, env: { ...options.env, ...inherited } } : options)) as typeof spawn;
syncBuiltinESMExports();
