// Everything that a counter counts, made to happen once to a running mesh: refusals of every limit, faulty files, deaths inside jobs, jobs that nobody takes.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { REQUEST_LIMITS, TRANSPORT_LIMITS } from '#shared/contract/limits.ts';
import { longQuestion } from '../chaos/documents.ts';
import { atWork, PHASES } from '../chaos/faults.ts';
import { Tally } from '../chaos/load.ts';
import type { Mesh } from '../chaos/mesh.ts';
import { type Answer, type ParseRequest, parse, send } from '../harness/client.ts';
import { csv, imagePdf } from '../harness/documents.ts';

const run = promisify(execFile);
const KEYS = fileURLToPath(new URL('../../services/keys.ts', import.meta.url));
const SMALL = { file: csv(), fileName: 'boats.csv' };

interface Desk {
  mesh: Mesh;
  log(line: string): void;
}

function edgeOf({ mesh }: Desk): { url: string; key: string } {
  const [gateway] = mesh.of('gateway');
  if (!gateway) throw new Error('no gateway is there');
  return { url: gateway.product.url, key: mesh.key };
}

const ask = (desk: Desk, request: ParseRequest): Promise<Answer> =>
  parse(edgeOf(desk), { patienceMs: 90_000, ...request });

/** @throws Error where the answer is another one: then the counter that is to be looked at was not touched. */
async function expect(desk: Desk, status: number, request: ParseRequest): Promise<void> {
  const answer = await ask(desk, request);
  if (answer.status !== status)
    throw new Error(`${request.fileName}: ${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`);
  desk.log(`${status} for ${request.fileName} (${(answer.body as { code?: string }).code ?? 'OK'})`);
}

/** A key with a plan of its own, once the gateway knows it. */
async function makeKey(desk: Desk, ...flags: string[]): Promise<string> {
  const env = { ...process.env, KEYS_FILE: join(desk.mesh.folder, 'keys.json') };
  const make = async (...more: string[]): Promise<string> => {
    const { stdout } = await run(process.execPath, [KEYS, 'create', ...more], { env });
    return stdout.trim().split('\n').at(-1) ?? '';
  };
  const key = await make(...flags);
  // A second key, made later, tells when the file was read: asking with the first would spend its plan.
  const probe = await make();
  while ((await ask(desk, { ...SMALL, key: probe })).status === 401) await sleep(50);
  return key;
}

async function refusals(desk: Desk): Promise<void> {
  await expect(desk, 401, { ...SMALL, key: 'fc-nobody' });
  await expect(desk, 400, { file: 'x', fileName: 'a.xyz' });
  const rate = await makeKey(desk, '--rate', '1', '--team', 'rate');
  await expect(desk, 200, { ...SMALL, key: rate });
  await expect(desk, 429, { ...SMALL, key: rate });
  const credits = await makeKey(desk, '--credits', '1', '--team', 'credits');
  await expect(desk, 200, { ...SMALL, key: credits });
  await expect(desk, 402, { ...SMALL, key: credits });
  await expect(desk, 413, { file: Buffer.alloc(REQUEST_LIMITS.fileBytes + 1, 'a,b\n'), fileName: 'large.csv' });
  await expect(desk, 422, { file: `${'a,'.repeat(30_000)}b\n1,2\n`, fileName: 'wide.csv' });
  await expect(desk, 422, {
    file: await readFile(new URL('../../fixtures/pdf/corrupt-truncated.pdf', import.meta.url)),
    fileName: 'corrupt.pdf',
  });
  const one = await makeKey(desk, '--concurrency', '1', '--queue', '0', '--team', 'one');
  // A document may be done before anybody looked, so another holds the place then.
  let refused = false;
  let holder = 0;
  for (let tries = 0; tries < 10 && !refused; tries += 1) {
    let held = true;
    const holding = ask(desk, { ...(await longQuestion('pdf')), options: { timeout: 60_000 }, key: one }).finally(
      () => {
        held = false;
      },
    );
    // A body that is refused takes no place from the work it waits for.
    while (held && !refused) {
      refused = (await send(edgeOf(desk), { key: one })).status === 429;
      if (!refused) await sleep(20);
    }
    holder = (await holding).status;
  }
  if (!refused) throw new Error('the place was given back before it was seen to be taken, each time');
  desk.log(`429 while the place is taken; its holder got ${holder}`);
}

async function cancelled(desk: Desk): Promise<void> {
  // It leaves once its document is seen at work; one that was done in that moment is asked for again.
  let outcome = '';
  for (let tries = 0; tries < 10 && outcome !== 'left'; tries += 1) {
    const leaving = new AbortController();
    const left = ask(desk, { ...(await longQuestion('office')), signal: leaving.signal }).then(
      () => 'answered',
      () => 'left',
    );
    await atWork(desk.mesh, 'office');
    leaving.abort();
    outcome = await left;
  }
  if (outcome !== 'left') throw new Error('the document was done before its client left, each time');
  desk.log('a client left while its document was read');
  await expect(desk, 408, { ...(await longQuestion('html')), options: { timeout: 400 } });
}

/** OCR with more pages than places, so that pages wait. */
async function scans({ mesh, log }: Desk): Promise<void> {
  const png = await readFile(new URL('../../fixtures/pdf/scanned-page.png', import.meta.url));
  const file = await imagePdf(Array.from({ length: 6 }, () => png));
  const answer = await ask({ mesh, log }, { file, fileName: 'scan.pdf', options: { timeout: 120_000 } });
  if (answer.status !== 200) throw new Error(`the scan was answered ${answer.status}`);
  log('a scan of 6 pages was read');
}

/** A queue whose only worker is gone: the job waits, and the request ends in a 5xx. */
async function withoutWorker(desk: Desk): Promise<void> {
  const [worker] = desk.mesh.of('csv');
  if (!worker) throw new Error('no csv worker is there');
  await desk.mesh.kill(worker.member);
  await sleep(TRANSPORT_LIMITS.presenceTtlMs + 1_000);
  await expect(desk, 503, { ...SMALL, options: { timeout: 8_000 } });
  await desk.mesh.launch(worker.member);
}

/** A file that ends its process, one that ends each worker that takes it, and a worker that dies of something else: a restart, a dead letter, and a job given again. */
async function poison({ mesh, log }: Desk): Promise<void> {
  for (const name of ['poison-process', 'poison-worker', 'kill-csv']) {
    const tally = new Tally();
    log(`phase ${name}`);
    await PHASES.find((phase) => phase.name === name)?.run({ mesh, tally, lengthMs: 1_000, log });
    if (tally.requests === 0 || tally.faults.length > 0) throw new Error(`${name}: ${tally} ${tally.faults.join(' ')}`);
  }
}

/** Makes everything happen, one after the other. */
export async function provokeEverything(desk: Desk): Promise<void> {
  for (const happening of [refusals, scans, cancelled, withoutWorker, poison]) await happening(desk);
}
