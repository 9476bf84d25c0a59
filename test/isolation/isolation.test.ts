// Runs a probe in an isolated process of a real service, and checks that it finds no secret; without each layer, it finds what the layer hides.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ProbeResult, ProbeTargets } from '#shared/runtime/isolation/testing/probe-worker.ts';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';

const SERVICE = fileURLToPath(new URL('./probed-service.ts', import.meta.url));
const LAUNCHER = fileURLToPath(new URL('../../shared/runtime/isolation/landlock.pl', import.meta.url));
const MARKER = 'MARKER-of-every-secret';
const REFUSED = 'refused';
const NOBODY = 65_534;
/** What shows that the probe itself works. */
const ALLOWED = ['its own code', 'its own folder', 'a program'];

const launcher = spawnSync('perl', [LAUNCHER, process.arch], { encoding: 'utf8' });
const landlock = Number(launcher.stdout ?? 0);
/** TCP and signals: Linux 6.12. */
const skip = landlock >= 6 ? false : `Landlock has version ${landlock}, not 6`;

let folder: string;
let nats: NatsServer;
let targets: ProbeTargets;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parsemesh-isolation-'));
  await chmod(folder, 0o755);
  // Not as arguments, which every process can read.
  const config = join(folder, 'nats.conf');
  await writeFile(config, `authorization { user: parsemesh, password: "${MARKER}" }\n`);
  nats = await startNatsServer({ args: ['--config', config] });
  const file = async (name: string) => {
    await writeFile(join(folder, name), MARKER);
    await chmod(join(folder, name), 0o644);
    return join(folder, name);
  };
  const files = {
    'the keys file': await file('keys.json'),
    'the file of NATS_URL_FILE': await file('nats-url'),
    'the key of the TLS certificate': await file('tls.key'),
    'the token of the service account': await file('token'),
  };
  const otherFolder = await mkdtemp(join(folder, 'other-'));
  await chmod(otherFolder, 0o777);
  targets = { marker: MARKER, files, otherFolder, port: nats.port };
});
after(async () => {
  await nats?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Run {
  /** A program to use instead of this Node. */
  node?: string;
  user?: number;
}

/** Starts the service with secrets in its environment, and returns what the probe found. Refused attempts are left out. */
async function probe(kind: string, { node = process.execPath, user }: Run = {}): Promise<ProbeResult> {
  const child = spawn(node, [SERVICE, kind], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user === undefined ? {} : { uid: user, gid: user }),
    cwd: '/',
    env: {
      PATH: process.env.PATH,
      TMPDIR: process.env.TMPDIR,
      NATS_URL: `nats://parsemesh:${MARKER}@127.0.0.1:${nats.port}`,
      LLM_API_KEY: MARKER,
      KEYS_FILE: targets.files['the keys file'],
      LOG_LEVEL: 'error',
      PROBE_TARGETS: JSON.stringify(targets),
    },
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 0, errors);
  const found = JSON.parse(output.trim().split('\n').at(-1) ?? '') as ProbeResult;
  for (const name of await readdir(targets.otherFolder)) await rm(join(targets.otherFolder, name));
  return Object.fromEntries(Object.entries(found).filter(([, result]) => result !== REFUSED));
}

const found = (result: ProbeResult): string[] => Object.keys(result).filter((name) => !ALLOWED.includes(name));

for (const bus of ['memory', 'nats'] as const)
  test(`a converter of a service over ${bus} finds no secret and reaches no other process`, { skip }, async () => {
    const result = await probe(bus);
    assert.deepEqual(Object.keys(result).sort(), [...ALLOWED].sort());
  });

describe('one layer alone', () => {
  const FILES = [
    'the keys file',
    'the file of NATS_URL_FILE',
    'the key of the TLS certificate',
    'the token of the service account',
  ];

  test('Landlock refuses everything, without the permissions of Node', { skip }, async () => {
    assert.deepEqual(found(await probe('landlock')), []);
  });

  test('the permissions of Node refuse files to JavaScript, but not to programs, and not signals or connections', async () => {
    const names = found(await probe('permissions'));
    for (const name of FILES) {
      assert.ok(!names.includes(name), name);
      assert.ok(names.includes(`${name}, by a program`), name);
    }
    assert.ok(!names.includes('a list of the folder of another process'));
    assert.ok(!names.includes('a new file in the folder of another process'));
    for (const name of ['signal to the service', 'a connection to the bus']) assert.ok(names.includes(name), name);
  });

  test('without any layer, the probe finds every secret except in arguments', async () => {
    const names = found(await probe('none'));
    for (const name of FILES) assert.ok(names.includes(name) && names.includes(`${name}, by a program`), name);
    for (const name of [
      'environment of the service',
      'environment of any process',
      'memory of the service',
      'descriptors of the service',
      'signal to the service',
      'a list of the folder of another process',
      'a new file in the folder of another process',
      'a connection to the bus',
      'environment of the service, by a program',
      'descriptors of the service, by a program',
      'signal to the service, by a program',
      'tracing of the service, by a program',
    ])
      assert.ok(names.includes(name), name);
    assert.ok(!names.includes('arguments of any process'), 'a secret is in an argument');
  });
});

describe('a program that its user may execute but not read, as in the images', () => {
  const HIDDEN = [
    'environment of the service',
    'environment of any process',
    'memory of the service',
    'descriptors of the service',
    'environment of the service, by a program',
    'descriptors of the service, by a program',
    'tracing of the service, by a program',
  ];
  let node: string;
  before(async () => {
    node = join(folder, 'node');
    await copyFile(process.execPath, node);
  });

  /** As the user of the images. The repository may be in a folder that only its owner can enter. */
  const canRun = (): boolean =>
    process.getuid?.() === 0 && spawnSync('cat', [SERVICE], { uid: NOBODY, gid: NOBODY }).status === 0;
  const skipUser = canRun() ? false : 'only root can start a process of another user';

  test('hides environment, memory and descriptors, without the other layers', { skip: skipUser }, async () => {
    await chmod(node, 0o111);
    const names = found(await probe('none', { node, user: NOBODY }));
    for (const name of HIDDEN) assert.ok(!names.includes(name), name);
    assert.ok(names.includes('the keys file'), 'the other layers are off');
  });

  test('hides nothing if its user may read it', { skip: skipUser }, async () => {
    await chmod(node, 0o755);
    const names = found(await probe('none', { node, user: NOBODY }));
    for (const name of HIDDEN) assert.ok(names.includes(name), name);
  });

  test('runs converters with all layers, as an ordinary user', { skip: skip || skipUser }, async () => {
    await chmod(node, 0o111);
    assert.deepEqual(found(await probe('memory', { node, user: NOBODY })), []);
  });
});
