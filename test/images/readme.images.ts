// Runs the Docker commands of README.md as printed, with a port of this machine that must be free.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { parseResponseSchema } from '#shared/contract/response.ts';
import { run } from '../cluster/command.ts';
import { commandThatStarts, ROOT } from '../harness/documented-commands.ts';
import { buildImage, DOCKER } from './docker.ts';

const command = (start: string): Promise<string> => commandThatStarts('README.md', start);

let container: ChildProcess | undefined;

after(async () => {
  if (container?.exitCode !== null) return;
  const closed = once(container, 'close');
  container.kill('SIGTERM');
  await closed;
});

test('the built image prints a key with which the curl command parses the sample', async () => {
  assert.equal(await command('docker build'), 'docker build --target all -t parsemesh .');
  // The same command, with the base images of this machine.
  await buildImage('all');
  const [, ...args] = (await command('docker run')).split(' ');
  const running = spawn(DOCKER, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  container = running;
  let printed = '';
  running.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  while (!printed.includes('Example:')) {
    assert.equal(running.exitCode, null, `the container has ended:\n${printed}`);
    await once(running.stdout, 'data');
  }
  const key = /^New API key .*: (\S+)$/m.exec(printed)?.[1];
  assert.ok(key, printed);
  const answer = await run('sh', ['-c', (await command('curl')).replace('YOUR_KEY', key)], { cwd: ROOT });
  const { data } = parseResponseSchema.parse(JSON.parse(answer));
  assert.match(data.markdown ?? '', /^# A short guide to tide tables/m);
});
