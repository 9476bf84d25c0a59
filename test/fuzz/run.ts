// Sends fuzz cases to a started product and checks its responses, its processes and what it leaves behind.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Extension } from '#shared/contract/formats.ts';
import { isRunning, processFacts } from '../bench/process-tree.ts';
import { type Answer, parse } from '../harness/client.ts';
import { sample, WORDS } from '../harness/documents.ts';
import { startNatsServer } from '../harness/nats-server.ts';
import { freePort } from '../harness/ports.ts';
import { type Product, startProduct, type TransportName } from '../harness/product.ts';
import type { Case } from './cases.ts';
import type { FailureStore } from './failures.ts';
import { LeakMonitor } from './leak-monitor.ts';
import { findFault } from './response-checks.ts';

/** How long after its timeout a request may end. */
const GRACE_MS = 2_000;
const CLIENT_TIMEOUT_MS = 60_000;
/** Cases between two checks of the processes and of a valid document. */
const CHECK_INTERVAL = 40;

interface FuzzRun {
  transport: TransportName;
  /** Requests at the same time. */
  jobs: number;
  /** Returns the next case, or undefined at the end of the run. */
  next(): Case | undefined;
  extensions: readonly Extension[];
}

interface CaseResult {
  /** 0 if there was no response. */
  status: number;
  fault?: string;
  late?: boolean;
}

async function sendCase(product: Product, one: Case): Promise<CaseResult> {
  const start = performance.now();
  let answer: Answer;
  try {
    answer = await parse(product, {
      file: one.bytes,
      fileName: one.fileName,
      options: one.options,
      clientTimeoutMs: CLIENT_TIMEOUT_MS,
    });
  } catch (error) {
    return { fault: `no response: ${error instanceof Error ? error.message : String(error)}`, status: 0 };
  }
  const fault = findFault(answer);
  if (fault !== undefined) return { fault, status: answer.status };
  const ms = performance.now() - start;
  if (ms <= one.timeoutMs + GRACE_MS) return { status: answer.status };
  return {
    fault: `response after ${Math.round(ms)} ms with a timeout of ${one.timeoutMs} ms`,
    late: true,
    status: answer.status,
  };
}

/** Checks that a valid document still gets a 200. */
async function checkValidDocument(product: Product, extension: Extension): Promise<string | undefined> {
  const { bytes, fileName } = await sample(extension);
  const answer = await parse(product, { file: bytes, fileName }).catch((error: unknown) => String(error));
  if (typeof answer === 'string') return `no response for a valid ${extension}: ${answer}`;
  const missing = WORDS.find((words) => !answer.text.includes(words));
  return answer.status === 200 && missing === undefined
    ? undefined
    : `${answer.status} for a valid ${extension}: ${answer.text.slice(0, 200)}`;
}

/** Sends all cases. @returns the number of cases by status, and whether the gateway still runs */
async function sendCases(
  run: FuzzRun,
  product: Product,
  monitor: LeakMonitor,
  failures: FailureStore,
): Promise<{ statuses: Map<number, number>; alive: boolean }> {
  const statuses = new Map<number, number>();
  const gateway = processFacts(product.gatewayPid) ?? { pid: product.gatewayPid, startedAt: 0 };
  let sent = 0;
  let alive = true;
  const client = async () => {
    for (let one = run.next(); one && alive; one = run.next()) {
      const first = await sendCase(product, one);
      statuses.set(first.status, (statuses.get(first.status) ?? 0) + 1);
      // Other load on the machine can delay one response, so a case fails only if its response is late twice.
      const result = first.late ? await sendCase(product, one) : first;
      if (result.fault !== undefined) failures.add(result.fault, one);
      if (first.status === 0 && !isRunning(gateway)) {
        alive = false;
        return;
      }
      if (++sent % CHECK_INTERVAL !== 0) continue;
      for (const message of monitor.measure()) failures.add(message, one);
      const fault = await checkValidDocument(product, one.extension);
      if (fault) failures.add(fault, one);
    }
  };
  await Promise.all(Array.from({ length: run.jobs }, client));
  return { statuses, alive };
}

function printLoggedErrors(product: Product): void {
  const errors = product
    .output()
    .split('\n')
    .filter((line) => /"level":(?:50|60)|"level":"(?:error|fatal)"/.test(line));
  if (errors.length > 0) console.error(`  logged: ${[...new Set(errors)].slice(0, 5).join('\n  ').slice(0, 3_000)}`);
}

/** Starts the product, runs all cases and stops it. Failures are added to `failures`. */
export async function runFuzz(run: FuzzRun, failures: FailureStore): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'parsemesh-fuzz-'));
  const monitoringPort = await freePort();
  const nats = run.transport === 'nats' ? await startNatsServer({ args: ['-m', String(monitoringPort)] }) : undefined;
  const product = await startProduct({
    transport: run.transport,
    ...(nats ? { natsUrl: nats.url } : {}),
    env: { TMPDIR: temporary, LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn' },
  });
  const monitor = new LeakMonitor(product, temporary, nats && `http://127.0.0.1:${monitoringPort}`);
  let statuses = new Map<number, number>();
  try {
    // Starts the converters before the run, so that their start does not delay a case.
    for (const extension of run.extensions) await checkValidDocument(product, extension);
    monitor.measure();
    const sent = await sendCases(run, product, monitor, failures);
    statuses = sent.statuses;
    if (!sent.alive) failures.add(`the gateway exited; the end of its output:\n${product.output().slice(-3_000)}`);
    for (const extension of sent.alive ? run.extensions : []) {
      const fault = await checkValidDocument(product, extension);
      if (fault) failures.add(fault);
    }
    for (const message of [...monitor.measure(), ...(await monitor.findLeakedPayloads())]) failures.add(message);
  } finally {
    for (const { service, code, signal } of await product.stop())
      if (code !== 0) failures.add(`${service} exited with ${code ?? signal}`);
    await nats?.stop();
    for (const message of await monitor.findRemains()) failures.add(message);
    rmSync(temporary, { recursive: true, force: true });
    printLoggedErrors(product);
  }
  const sorted = [...statuses].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  console.log(
    `${run.transport}: ${total} cases (${sorted.map(([status, count]) => `${status}: ${count}`).join(', ')}); gateway ${monitor.gatewayMiB} MiB at the end, all processes at most ${monitor.peakTotalMiB} MiB`,
  );
}
