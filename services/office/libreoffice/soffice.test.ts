// Checks that a LibreOffice that is killed, hangs or uses too much CPU time is replaced, that no document is blamed for it, and that it leaves no files and no processes.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { descendants } from '#test/bench/process-tree.ts';
import { socketPath } from './leftovers.ts';
import { closeLibreOffice, convertLegacy } from './soffice.ts';

const installed = existsSync('/usr/lib/libreoffice/program/soffice.bin');
const skip = installed || process.env.CI === 'true' ? false : 'LibreOffice is not installed';
const DOC = new URL('../../../fixtures/doc/report.doc', import.meta.url);
const XLS = new URL('../../../fixtures/xls/harbour-report.xls', import.meta.url);
const PPT = new URL('../../../fixtures/ppt/harbour-report.ppt', import.meta.url);
const MODULE = new URL('./soffice.ts', import.meta.url).href;

/** The folders of a process, on the disk and in memory. */
const foldersOf = (pid: number): string[] =>
  [tmpdir(), '/dev/shm']
    .filter((base) => existsSync(base))
    .flatMap((base) =>
      readdirSync(base)
        .filter((name) => name.startsWith(`parsemesh-office-${pid}-`))
        .map((name) => join(base, name)),
    );
/** A signal that never aborts: the test runner ends a test that hangs. */
const never = (): AbortSignal => new AbortController().signal;

after(() => closeLibreOffice());

test('the watcher removes the folder and the socket of a process group that is killed', { skip }, async () => {
  const script = `
    import { readFileSync } from 'node:fs';
    import { convertLegacy } from ${JSON.stringify(MODULE)};
    const { signal } = new AbortController();
    await convertLegacy(readFileSync(${JSON.stringify(fileURLToPath(DOC))}), '.doc', 'docx', { signal, volatile: false });
    process.send('converted');
    setInterval(() => undefined, 1_000);
  `;
  const victim = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  const { pid } = victim;
  assert.ok(pid !== undefined);
  await once(victim, 'message');
  const [folder = '', ...others] = foldersOf(pid);
  assert.ok(existsSync(folder), 'a running LibreOffice has a folder');
  assert.deepEqual(others, []);
  const socket = socketPath(folder);
  assert.ok(existsSync(socket), 'a running LibreOffice has a socket');
  const exited = once(victim, 'exit');
  process.kill(-pid, 'SIGKILL');
  await exited;
  while (existsSync(folder) || existsSync(socket)) await sleep(20);
});

/** Nobody's id. Only root can start a process of another user, and that user must be able to read the repository. */
const ORDINARY_USER = { uid: 65_534, gid: 65_534 };
const canRunAsOther =
  process.getuid?.() === 0 &&
  spawnSync('cat', [fileURLToPath(DOC)], { ...ORDINARY_USER, stdio: 'ignore' }).status === 0;

test('an ordinary user can convert', { skip: canRunAsOther ? skip : 'the tests do not run as root' }, async () => {
  const script = `
    import { readFileSync } from 'node:fs';
    import { closeLibreOffice, convertLegacy } from ${JSON.stringify(MODULE)};
    const { signal } = new AbortController();
    const docx = await convertLegacy(readFileSync(${JSON.stringify(fileURLToPath(DOC))}), '.doc', 'docx', { signal, volatile: false });
    await closeLibreOffice();
    process.stdout.write(String(docx.byteLength));
  `;
  const user = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script], {
    ...ORDINARY_USER,
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  user.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const [code] = await once(user, 'close');
  assert.equal(code, 0);
  assert.ok(Number(output) > 1_000, output);
});

test('the next start removes the folder and the socket of a process that no longer runs', { skip }, async () => {
  await closeLibreOffice();
  const ended = spawn('true');
  await once(ended, 'exit');
  const folder = join(tmpdir(), `parsemesh-office-${ended.pid}-left`);
  mkdirSync(join(folder, 'profile'), { recursive: true });
  writeFileSync(socketPath(folder), '');
  await convertLegacy(await readFile(DOC), '.doc', 'docx', { signal: never(), volatile: false });
  assert.equal(existsSync(folder), false);
  assert.equal(existsSync(socketPath(folder)), false);
});

test('each of several concurrent calls gets its own document, and a cancelled call does not stop the others', {
  skip,
}, async () => {
  await closeLibreOffice();
  const [doc, xls, ppt] = await Promise.all([DOC, XLS, PPT].map((url) => readFile(url)));
  assert.ok(doc && xls && ppt);
  const cancelled = new AbortController();
  const calls = [
    convertLegacy(doc, '.doc', 'docx', { signal: never(), volatile: false }),
    convertLegacy(xls, '.xls', 'xlsx', { signal: never(), volatile: true }),
    convertLegacy(doc, '.doc', 'docx', { signal: cancelled.signal, volatile: false }),
    convertLegacy(Buffer.from('no document'), '.ppt', 'pptx', { signal: never(), volatile: false }),
    convertLegacy(ppt, '.ppt', 'pptx', { signal: never(), volatile: false }),
    convertLegacy(xls, '.xls', 'xlsx', { signal: never(), volatile: false }),
  ];
  cancelled.abort();
  const results = await Promise.allSettled(calls);
  const partOf: readonly (string | undefined)[] = ['word/', 'xl/', undefined, undefined, 'ppt/', 'xl/'];
  for (const [index, result] of results.entries()) {
    const part = partOf[index];
    if (part === undefined) {
      assert.equal(result.status, 'rejected');
      continue;
    }
    assert.equal(result.status, 'fulfilled', `call ${index}: ${result.status === 'rejected' ? result.reason : ''}`);
    assert.ok(Buffer.from(result.value).includes(part), `call ${index} got the document of another call`);
  }
  const reason = results[2]?.status === 'rejected' ? results[2].reason : undefined;
  assert.equal((reason as { code?: string } | undefined)?.code, 'REQUEST_TIMEOUT', 'the cancelled call');
  assert.equal(foldersOf(process.pid).length, 1, 'one LibreOffice runs');
  await closeLibreOffice();
  assert.deepEqual(foldersOf(process.pid), []);
});

test('a start goes on after its job has timed out, and the next job uses it', { skip }, async () => {
  await closeLibreOffice();
  const timeout = new AbortController();
  const call = convertLegacy(await readFile(DOC), '.doc', 'docx', { signal: timeout.signal, volatile: false });
  while (foldersOf(process.pid).length === 0) await sleep(5);
  const folders = foldersOf(process.pid);
  timeout.abort();
  await assert.rejects(call, { code: 'REQUEST_TIMEOUT' });
  const docx = await convertLegacy(await readFile(DOC), '.doc', 'docx', { signal: never(), volatile: false });
  assert.ok(Buffer.from(docx).includes('word/'));
  assert.deepEqual(foldersOf(process.pid), folders, 'the same instance');
});

test('a start whose job has timed out ends when LibreOffice is closed', { skip }, async () => {
  await closeLibreOffice();
  const timeout = new AbortController();
  const call = convertLegacy(await readFile(DOC), '.doc', 'docx', { signal: timeout.signal, volatile: false });
  while (foldersOf(process.pid).length === 0) await sleep(5);
  timeout.abort();
  await assert.rejects(call, { code: 'REQUEST_TIMEOUT' });
  await closeLibreOffice();
  assert.deepEqual(foldersOf(process.pid), []);
});

/** When to send a signal to LibreOffice: as soon as it runs, while it starts, or while it converts a document. */
type Moment = 'start' | 'conversion';

const libreOffices = (): number[] =>
  descendants(process.pid)
    .filter(({ command, zombie }) => command === 'soffice.bin' && !zombie)
    .map(({ pid }) => pid);

const isConverting = (): boolean =>
  foldersOf(process.pid).some((folder) => readdirSync(folder).some((name) => name.startsWith('job-')));

/** Whether this instance has a document. The folder of the one before may not be removed yet. */
function convertsNow(pid: number): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const folder = foldersOf(process.pid).find((one) => command.includes(one));
    return folder !== undefined && readdirSync(folder).some((name) => name.startsWith('job-'));
  } catch {
    // It has ended, and its folder is removed.
    return false;
  }
}

/** Sends `signal` to the first `count` instances of LibreOffice, once each. `disturbed` lists them. */
function disturb(signal: NodeJS.Signals, count: number, moment: Moment): { disturbed: Set<number>; stop(): void } {
  const disturbed = new Set<number>();
  const timer = setInterval(() => {
    for (const pid of libreOffices()) {
      if (disturbed.size >= count || disturbed.has(pid) || (moment === 'conversion' && !convertsNow(pid))) continue;
      process.kill(pid, signal);
      disturbed.add(pid);
    }
  }, 1);
  return { disturbed, stop: () => clearInterval(timer) };
}

/** Long enough on a busy machine, and short enough for a test. */
const LIMITS = { cpuMs: 60_000, idleMs: 3_000 };

/** A document that keeps LibreOffice busy for a while, so that a signal arrives during its conversion. */
const BUSY = Buffer.from(`{\\rtf1\\ansi ${'{\\pard harbour lighthouse keeper\\par}\n'.repeat(40_000)}}`);

const convertBusy = (limits = LIMITS) =>
  convertLegacy(BUSY, '.rtf', 'docx', { signal: never(), volatile: false, limits });

for (const moment of ['start', 'conversion'] as const) {
  test(`a document is converted although LibreOffice is killed during its ${moment}`, { skip }, async () => {
    await closeLibreOffice();
    const { disturbed, stop } = disturb('SIGKILL', 1, moment);
    const converted = await convertBusy().finally(stop);
    assert.equal(disturbed.size, 1);
    assert.ok(Buffer.from(converted).includes('word/'));
  });

  test(`two instances that are killed during their ${moment} are a fault of the system`, { skip }, async () => {
    await closeLibreOffice();
    const { disturbed, stop } = disturb('SIGKILL', 2, moment);
    await assert.rejects(convertBusy().finally(stop), { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 });
    assert.equal(disturbed.size, 2);
    assert.deepEqual(libreOffices(), []);
  });
}

test('a document is converted although the first LibreOffice hangs', { skip }, async () => {
  await closeLibreOffice();
  const { disturbed, stop } = disturb('SIGSTOP', 1, 'conversion');
  const converted = await convertBusy().finally(stop);
  assert.ok(Buffer.from(converted).includes('word/'));
  for (const pid of disturbed) assert.ok(!libreOffices().includes(pid), 'the instance that hung is killed');
});

test('a document on which two instances hang is rejected, and neither is left', { skip }, async () => {
  await closeLibreOffice();
  const { disturbed, stop } = disturb('SIGSTOP', 2, 'conversion');
  await assert.rejects(convertBusy().finally(stop), { code: 'CONVERSION_FAILED' });
  assert.equal(disturbed.size, 2);
  assert.deepEqual(libreOffices(), []);
  assert.deepEqual(foldersOf(process.pid), []);
});

test('a document that needs too much CPU time in a new instance is rejected as too complex', { skip }, async () => {
  await closeLibreOffice();
  await assert.rejects(convertBusy({ ...LIMITS, cpuMs: 300 }), { code: 'DOCUMENT_TOO_COMPLEX' });
  assert.deepEqual(libreOffices(), []);
});

test('a document is corrupt only after two instances could not read it', { skip }, async () => {
  await closeLibreOffice();
  const folders = new Set<string>();
  const timer = setInterval(() => {
    if (isConverting()) for (const folder of foldersOf(process.pid)) folders.add(folder);
  }, 1);
  const corrupt = Buffer.concat([(await readFile(PPT)).subarray(0, 4_096), Buffer.alloc(4_096)]);
  const conversion = convertLegacy(corrupt, '.ppt', 'pptx', { signal: never(), volatile: false });
  await assert.rejects(
    conversion.finally(() => clearInterval(timer)),
    { code: 'DOCUMENT_CORRUPT' },
  );
  assert.equal(folders.size, 2, 'each instance has a folder');
});
