// Checks that LibreOffice leaves no files when its parent process is killed, and that concurrent calls do not receive each other's documents.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
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
