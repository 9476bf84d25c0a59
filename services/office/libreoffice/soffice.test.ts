// Holds that a LibreOffice whose process group was killed, as at a deadline, leaves nothing once the next one starts, and that calls at the same time do not meet in one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { closeLibreOffice, convertLegacy } from './soffice.ts';

const installed = existsSync('/usr/lib/libreoffice/program/soffice.bin');
const skip = installed || process.env.CI === 'true' ? false : 'LibreOffice is not installed';
const DOC = new URL('../../../fixtures/doc/report.doc', import.meta.url);
const XLS = new URL('../../../fixtures/xls/harbour-report.xls', import.meta.url);
const PPT = new URL('../../../fixtures/ppt/harbour-report.ppt', import.meta.url);
const MODULE = new URL('./soffice.ts', import.meta.url).href;

/** Where a LibreOffice of the process lives: on the disk, or in memory since a volatile document came. */
const foldersOf = (pid: number): string[] =>
  [tmpdir(), '/dev/shm']
    .filter((base) => existsSync(base))
    .flatMap((base) => readdirSync(base).filter((name) => name.startsWith(`parsemesh-office-${pid}-`)));
const pipes = (): Set<string> => new Set(readdirSync('/tmp').filter((name) => name.startsWith('OSL_PIPE_')));

after(() => closeLibreOffice());

test('the folder and the pipe of a killed one go when the next one starts', { skip }, async () => {
  const before = pipes();
  const script = `
    import { readFileSync } from 'node:fs';
    import { convertLegacy } from ${JSON.stringify(MODULE)};
    await convertLegacy(readFileSync(${JSON.stringify(fileURLToPath(DOC))}), '.doc', 'docx', { signal: AbortSignal.timeout(60_000), volatile: false });
    process.send('converted');
    setInterval(() => undefined, 1_000);
  `;
  const victim = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  assert.ok(victim.pid !== undefined);
  const { pid } = victim;
  await once(victim, 'message');
  const left = [...pipes()].filter((name) => !before.has(name));
  const gone = once(victim, 'exit');
  process.kill(-pid, 'SIGKILL');
  await gone;
  assert.equal(foldersOf(pid).length, 1, 'a killed process cannot clean up');
  assert.ok(left.length >= 1);

  const bytes = await readFile(DOC);
  await convertLegacy(bytes, '.doc', 'docx', { signal: AbortSignal.timeout(60_000), volatile: false });
  assert.deepEqual(foldersOf(pid), []);
  assert.ok(
    left.some((name) => !pipes().has(name)),
    'its pipe is still there',
  );
});

test('calls at the same time take turns: each gets its own document, and one that is cancelled leaves the others alone', {
  skip,
}, async () => {
  await closeLibreOffice();
  const patience = () => AbortSignal.timeout(120_000);
  const [doc, xls, ppt] = await Promise.all([DOC, XLS, PPT].map((url) => readFile(url)));
  assert.ok(doc && xls && ppt);
  const cancelled = new AbortController();
  const calls = [
    convertLegacy(doc, '.doc', 'docx', { signal: patience(), volatile: false }),
    convertLegacy(xls, '.xls', 'xlsx', { signal: patience(), volatile: true }),
    convertLegacy(doc, '.doc', 'docx', { signal: cancelled.signal, volatile: false }),
    convertLegacy(Buffer.from('no document'), '.ppt', 'pptx', { signal: patience(), volatile: false }),
    convertLegacy(ppt, '.ppt', 'pptx', { signal: patience(), volatile: false }),
    convertLegacy(xls, '.xls', 'xlsx', { signal: patience(), volatile: false }),
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
    assert.ok(Buffer.from(result.value).includes(part), `call ${index} got another's document`);
  }
  assert.equal(
    results[2]?.status === 'rejected' && (results[2].reason as { code?: string }).code,
    'REQUEST_TIMEOUT',
    'the one that was cancelled',
  );
  assert.equal(foldersOf(process.pid).length, 1, 'one LibreOffice runs');
  await closeLibreOffice();
  assert.deepEqual(foldersOf(process.pid), []);
});
