// Runs the probe of test/isolation in the image with every service: no converter finds a secret, with any user and with or without privileges.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ProbeResult, ProbeTargets } from '#shared/runtime/isolation/testing/probe-worker.ts';
import { attempt, run } from '../cluster/command.ts';
import { buildImage, DOCKER, imageName } from './docker.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The probe and its service. The image does not contain the files of tests. */
const FILES = ['test/isolation/probed-service.ts', 'shared/runtime/isolation/testing/probe-worker.ts'];
const MARKER = 'MARKER-of-every-secret';
const ALLOWED = ['a program', 'its own code', 'its own folder'];
const CONFINED = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];

describe('a converter in a container', () => {
  let folder: string;
  before(async () => {
    await buildImage('all');
    folder = await mkdtemp(join(tmpdir(), 'parsemesh-images-'));
    await writeFile(join(folder, 'keys.json'), MARKER, { mode: 0o644 });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** What the probe finds with these layers, or with all of them over the memory bus. */
  async function probe(kind: string, flags: readonly string[]): Promise<string[]> {
    const targets: ProbeTargets = {
      marker: MARKER,
      files: { 'the keys file': '/data/keys.json', 'the token of the service account': '/run/secrets/token' },
      otherFolder: '/data',
      port: 9,
    };
    const output = await run(DOCKER, [
      ...['run', '--rm', ...flags],
      ...FILES.flatMap((path) => ['--volume', `${ROOT}${path}:/app/${path}:ro`]),
      ...[
        '--volume',
        `${folder}/keys.json:/data/keys.json:ro`,
        '--volume',
        `${folder}/keys.json:/run/secrets/token:ro`,
      ],
      ...['--env', `NATS_URL=nats://parsemesh:${MARKER}@nats:4222`, '--env', `LLM_API_KEY=${MARKER}`],
      ...['--env', 'LOG_LEVEL=error', '--env', `PROBE_TARGETS=${JSON.stringify(targets)}`],
      ...['--entrypoint', '/usr/local/bin/parsemesh', imageName('all')],
      ...['--disable-warning=ExperimentalWarning', FILES[0] ?? '', kind],
    ]);
    const found = JSON.parse(output.trim().split('\n').at(-1) ?? '') as ProbeResult;
    return Object.keys(found)
      .filter((name) => found[name] !== 'refused')
      .sort();
  }

  for (const [name, flags] of [
    ['without privileges', CONFINED],
    ['with the privileges of Docker', []],
    ['as a user that the image does not know', ['--user', '1000650000:0']],
    ['as root', ['--user', '0']],
  ] as const)
    test(`${name}: finds no secret and reaches no other process`, async () => {
      assert.deepEqual(await probe('memory', flags), ALLOWED);
    });

  test('without Landlock and permissions, it still cannot read the environment, memory and descriptors of its service', async () => {
    const found = await probe('none', CONFINED);
    assert.ok(found.includes('the keys file'), 'the other layers are off');
    assert.deepEqual(
      found.filter((name) => /environment|memory|descriptors|tracing|arguments/.test(name)),
      [],
    );
  });

  test('no process of the container shows a secret in its environment, not even to root', async () => {
    const name = `parsemesh-environment-${process.pid}`;
    try {
      await run(DOCKER, [
        'run',
        '--detach',
        '--cap-add',
        'SYS_PTRACE',
        '--name',
        name,
        '--env',
        `API_KEY=${MARKER}`,
        imageName('all'),
      ]);
      for (let left = 100; !(await run(DOCKER, ['logs', name])).includes('listens on'); left -= 1) {
        assert.ok(left > 0, 'the container did not start');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const script =
        'cat /proc/1/environ /proc/1/task/1/children; for pid in $(cat /proc/1/task/1/children); do cat /proc/$pid/environ; done';
      const root = ['exec', '--user', '0', '--env', 'API_KEY=', name];
      const shown = await run(DOCKER, [...root, 'sh', '-c', script]);
      assert.match(shown, /SECRETS_FD=3/);
      assert.ok(!shown.includes(MARKER), shown);
    } finally {
      await attempt(DOCKER, ['rm', '--force', '--volumes', name]);
    }
  });
});
