// Holds that a LibreOffice whose process group was killed, as at a deadline, leaves nothing once the next one starts.
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
const MODULE = new URL('./soffice.ts', import.meta.url).href;

const foldersOf = (pid: number): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`parsemesh-office-${pid}-`));
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
