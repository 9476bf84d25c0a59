// Runs the Kubernetes commands of README.md as printed, in the namespace that they name.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parseResponseSchema } from '#shared/contract/response.ts';
import { commandThatStarts, ROOT } from '../harness/documented-commands.ts';
import { attempt, run } from './command.ts';

const NAMESPACE = 'parsemesh';

const command = (start: string): Promise<string> => commandThatStarts('README.md', start);

const shell = (text: string): Promise<string> => run('sh', ['-c', text], { cwd: ROOT });

let forward: ChildProcess | undefined;

before(async () => {
  const { code } = await attempt('kubectl', ['get', 'namespace', NAMESPACE]);
  assert.notEqual(code, 0, `the namespace ${NAMESPACE} exists. Delete it, because this test installs into it`);
});

after(async () => {
  if (forward?.pid !== undefined && forward.exitCode === null) {
    const closed = once(forward, 'close');
    process.kill(-forward.pid, 'SIGTERM');
    await closed;
  }
  await attempt('helm', ['uninstall', 'parsemesh', '--namespace', NAMESPACE, '--wait']);
  // The next test waits for its own namespace, not for the end of this one.
  await attempt('kubectl', ['delete', 'namespace', NAMESPACE, '--wait=false']);
});

test('the chart is installed, the port is forwarded, and the printed key parses the sample', async () => {
  // `npm run images` has run before these tests.
  await command('npm run images');
  await shell(await command('helm install'));
  const key = (await shell(await command('kubectl -n parsemesh get secret'))).trim();
  assert.match(key, /^pm-[A-Za-z0-9]{43}$/);
  forward = spawn('sh', ['-c', await command('kubectl -n parsemesh port-forward')], {
    stdio: 'ignore',
    detached: true,
  });
  while ((await attempt('curl', ['-sf', 'http://127.0.0.1:8080/docs'])).code !== 0) {
    assert.equal(forward.exitCode, null, 'port-forward has ended');
    await pause(200);
  }
  const answer = await shell((await command('curl')).replace('YOUR_KEY', key));
  const { data } = parseResponseSchema.parse(JSON.parse(answer));
  assert.match(data.markdown ?? '', /^# A short guide to tide tables/m);
});
