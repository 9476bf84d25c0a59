// Runs the scenarios of `npm run observe`, which make a running mesh count at least one event in each counter.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { REQUEST_LIMITS, TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { createLongRequest } from '../chaos/documents.ts';
import { Tally } from '../chaos/load.ts';
import type { Mesh } from '../chaos/mesh.ts';
import { waitForBusyWorker } from '../chaos/phases/kills.ts';
import { PHASES } from '../chaos/phases.ts';
import { type Answer, type ParseRequest, parse, send } from '../harness/client.ts';
import { repeatedScan } from '../harness/documents/scans.ts';
import { csv } from '../harness/documents.ts';

const run = promisify(execFile);
const KEYS = fileURLToPath(new URL('../../services/keys.ts', import.meta.url));
const SMALL = { file: csv(), fileName: 'boats.csv' };
/** Attempts of a scenario that needs a request to overlap with another event. */
const ATTEMPTS = 10;

interface ScenarioContext {
  mesh: Mesh;
  log(line: string): void;
}

function gatewayOf({ mesh }: ScenarioContext): { url: string; key: string } {
  const [gateway] = mesh.running('gateway');
  if (!gateway) throw new Error('no gateway is running');
  return { url: gateway.product.url, key: mesh.key };
}

const post = (context: ScenarioContext, request: ParseRequest): Promise<Answer> =>
  parse(gatewayOf(context), { clientTimeoutMs: 90_000, ...request });

/** @throws Error for another status, because then the scenario did not change its counter */
async function expectStatus(context: ScenarioContext, status: number, request: ParseRequest): Promise<void> {
  const answer = await post(context, request);
  if (answer.status !== status)
    throw new Error(`${request.fileName}: ${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`);
  context.log(`${status} for ${request.fileName} (${(answer.body as { code?: string }).code ?? 'OK'})`);
}

/** Creates a key with these flags and waits until the gateway accepts it. */
async function createKey(context: ScenarioContext, ...flags: string[]): Promise<string> {
  const env = { ...process.env, KEYS_FILE: join(context.mesh.folder, 'keys.json') };
  const create = async (...more: string[]): Promise<string> => {
    const { stdout } = await run(process.execPath, [KEYS, 'create', ...more], { env });
    return stdout.trim().split('\n').at(-1) ?? '';
  };
  const key = await create(...flags);
  // A second key shows when the gateway has read the file, because a request with the first would use its limits.
  const probe = await create();
  while ((await post(context, { ...SMALL, key: probe })).status === 401) await sleep(50);
  return key;
}

async function rejectRequests(context: ScenarioContext): Promise<void> {
  await expectStatus(context, 401, { ...SMALL, key: 'fc-unknown' });
  await expectStatus(context, 400, { file: 'x', fileName: 'a.xyz' });
  const rate = await createKey(context, '--rate', '1', '--team', 'rate');
  await expectStatus(context, 200, { ...SMALL, key: rate });
  await expectStatus(context, 429, { ...SMALL, key: rate });
  const credits = await createKey(context, '--credits', '1', '--team', 'credits');
  await expectStatus(context, 200, { ...SMALL, key: credits });
  await expectStatus(context, 402, { ...SMALL, key: credits });
  await expectStatus(context, 413, {
    file: Buffer.alloc(REQUEST_LIMITS.fileBytes + 1, 'a,b\n'),
    fileName: 'large.csv',
  });
  await expectStatus(context, 422, { file: `${'a,'.repeat(30_000)}b\n1,2\n`, fileName: 'wide.csv' });
  await expectStatus(context, 422, {
    file: await readFile(new URL('../../fixtures/pdf/corrupt-truncated.pdf', import.meta.url)),
    fileName: 'corrupt.pdf',
  });
}

async function exceedConcurrency(context: ScenarioContext): Promise<void> {
  const key = await createKey(context, '--concurrency', '1', '--queue', '0', '--team', 'one');
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    let running = true;
    const request = { ...(await createLongRequest('pdf')), options: { timeout: 60_000 }, key };
    const first = post(context, request).finally(() => {
      running = false;
    });
    // A request with an invalid body does not use a slot.
    let status = 0;
    while (running && status !== 429) {
      status = (await send(gatewayOf(context), { key })).status;
      if (status !== 429) await sleep(20);
    }
    const { status: firstStatus } = await first;
    if (status !== 429) continue;
    context.log(`429 while the only slot is in use; the request in the slot got ${firstStatus}`);
    return;
  }
  throw new Error(`the first request ended before a second one was rejected, ${ATTEMPTS} times`);
}

async function cancelRequests(context: ScenarioContext): Promise<void> {
  let cancelled = false;
  for (let attempt = 0; attempt < ATTEMPTS && !cancelled; attempt += 1) {
    const controller = new AbortController();
    const request = { ...(await createLongRequest('office')), signal: controller.signal };
    const wasCancelled = post(context, request).then(
      () => false,
      () => true,
    );
    await waitForBusyWorker(context.mesh, 'office');
    controller.abort();
    cancelled = await wasCancelled;
  }
  if (!cancelled) throw new Error(`the request ended before the client disconnected, ${ATTEMPTS} times`);
  context.log('a client disconnected while its document was converted');
  await expectStatus(context, 408, { ...(await createLongRequest('html')), options: { timeout: 400 } });
}

/** Sends a scan with more pages than OCR slots, so that pages wait in the queue. */
async function fillOcrQueue(context: ScenarioContext): Promise<void> {
  const file = await repeatedScan(6);
  await expectStatus(context, 200, { file, fileName: 'scan.pdf', options: { timeout: 120_000 } });
}

/** Kills the only worker of a queue: the job waits, and the request gets a 503. */
async function removeWorker(context: ScenarioContext): Promise<void> {
  const [worker] = context.mesh.running('csv');
  if (!worker) throw new Error('no csv worker is running');
  await context.mesh.kill(worker.member);
  await sleep(TRANSPORT_LIMITS.presenceTtlMs + 1_000);
  await expectStatus(context, 503, { ...SMALL, options: { timeout: 8_000 } });
  await context.mesh.launch(worker.member);
}

/** Runs phases of the chaos run that cause a process restart, a dead letter and a redelivery. */
async function killWorkers({ mesh, log }: ScenarioContext): Promise<void> {
  for (const name of ['poison-process', 'poison-worker', 'kill-csv']) {
    const tally = new Tally();
    log(`phase ${name}`);
    await PHASES.find((phase) => phase.name === name)?.run({ mesh, tally, lengthMs: 1_000, log });
    if (tally.requests === 0 || tally.faults.length > 0) throw new Error(`${name}: ${tally} ${tally.faults.join(' ')}`);
  }
}

const SCENARIOS = [rejectRequests, exceedConcurrency, fillOcrQueue, cancelRequests, removeWorker, killWorkers];

/** Runs all scenarios, one after the other. */
export async function runScenarios(context: ScenarioContext): Promise<void> {
  for (const scenario of SCENARIOS) await scenario(context);
}
