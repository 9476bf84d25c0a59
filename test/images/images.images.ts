// Builds every image, holds its layers to its limit, and runs the contract against one container and against compose.yaml (`npm run test:images`).
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { IMAGE_TARGETS } from '#services/image-files.ts';
import { SERVICE_NAMES } from '#shared/contract/services.ts';
import { attempt, run } from '../cluster/command.ts';
import { freePort } from '../harness/ports.ts';
import { buildImage, DOCKER, IMAGE_LIMIT_MB, imageName, layerBytes } from './docker.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The command of Docker Compose. */
const COMPOSE = (process.env.COMPOSE ?? `${DOCKER} compose`).split(' ');
const NAME = `parsemesh-test-${process.pid}`;
const SAMPLE = `${ROOT}fixtures/pdf/sample.pdf`;
const CONTRACT_MS = 1_800_000;

const docker = (...args: string[]): Promise<string> => run(DOCKER, args);
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** Waits for the answer of a server that starts. @returns milliseconds until then */
async function untilReady(url: string): Promise<number> {
  const started = performance.now();
  for (let left = 1_200; left > 0; left--) {
    const ok = await fetch(`${url}/docs`).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return performance.now() - started;
    await pause(50);
  }
  throw new Error(`${url} did not answer`);
}

/** Runs the rows of the contract against a server. @param keys the command that creates and revokes its keys */
async function runContract(url: string, key: string, keys: readonly string[]): Promise<string> {
  const env = { PRODUCT_URL: url, PRODUCT_KEY: key, PRODUCT_KEYS: keys.join(' ') };
  // The test runner refuses to run inside of another one, which it detects by this variable.
  const command = ['-u', 'NODE_TEST_CONTEXT', process.execPath, `${ROOT}test/harness/run.ts`];
  const { code, stdout, stderr } = await attempt('env', [...command, 'test/contract/contract.test.ts'], {
    env,
    cwd: ROOT,
    timeoutMs: CONTRACT_MS,
  });
  assert.equal(code, 0, `${stdout}\n${stderr}`.slice(-8_000));
  return stdout.trim().split('\n').at(-1) ?? '';
}

describe('images', () => {
  for (const target of IMAGE_TARGETS)
    test(`the layers of the image ${target} are at most ${IMAGE_LIMIT_MB[target]} MB`, async (context) => {
      await buildImage(target);
      const layers = await layerBytes(imageName(target));
      const total = layers.reduce((sum, size) => sum + size, 0);
      context.diagnostic(`${imageName(target)}: ${megabytes(total)} MB = ${layers.map(megabytes).join(' + ')}`);
      assert.ok(total <= IMAGE_LIMIT_MB[target] * 1e6, `${total} bytes`);
    });
});

/** The flags of docs/docker.md for a container without privileges. */
const CONFINED = ['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];

describe('one container with every service', () => {
  let port: number;
  const start = (...flags: string[]): Promise<string> =>
    docker('run', '--detach', '--name', NAME, '--publish', `${port}:8080`, ...CONFINED, ...flags, imageName('all'));
  const remove = (): Promise<unknown> => attempt(DOCKER, ['rm', '--force', '--volumes', NAME]);
  /** The key that the first start prints. */
  async function printedKey(): Promise<string> {
    const key = /^New API key \(it is shown only once\): (\S+)$/m.exec(await docker('logs', NAME))?.[1];
    assert.ok(key, await docker('logs', NAME));
    return key;
  }
  async function parseSample(key: string): Promise<string> {
    const curl = ['-sS', '--fail-with-body', `http://localhost:${port}/v2/parse`, '-F', `file=@${SAMPLE}`];
    return run('curl', [...curl, '-H', `Authorization: Bearer ${key}`]);
  }
  before(async () => {
    port = await freePort();
  });
  after(async () => {
    await remove();
    await attempt(DOCKER, ['volume', 'rm', NAME]);
  });

  test('it prints a key that works, becomes healthy, keeps the key over a restart, and stops with SIGTERM', async (context) => {
    await remove();
    await start('--volume', `${NAME}:/data`);
    context.diagnostic(`ready after ${(await untilReady(`http://localhost:${port}`)).toFixed(0)} ms`);
    const key = await printedKey();
    assert.match(await docker('logs', NAME), /^Parsemesh listens on http:\/\/localhost:8080 /m);
    assert.match(await parseSample(key), /"success":true/);
    for (
      let left = 60;
      (await docker('inspect', '-f', '{{.State.Health.Status}}', NAME)).trim() !== 'healthy';
      left--
    ) {
      assert.ok(left > 0, 'the container did not become healthy');
      await pause(1_000);
    }
    await docker('stop', '--time', '60', NAME);
    assert.equal((await docker('inspect', '-f', '{{.State.ExitCode}}', NAME)).trim(), '0');
    await remove();
    await start('--volume', `${NAME}:/data`);
    await untilReady(`http://localhost:${port}`);
    assert.doesNotMatch(await docker('logs', NAME), /New API key/);
    assert.match(await parseSample(key), /"success":true/);
  });

  test('it runs with a user id that the image does not know, as on OpenShift', async () => {
    await remove();
    await start('--user', '1000650000:0');
    await untilReady(`http://localhost:${port}`);
    assert.match(await parseSample(await printedKey()), /"success":true/);
  });

  test('it passes the contract', async (context) => {
    await remove();
    await start('--env', 'API_KEY=fc-test-one-container');
    const url = `http://localhost:${port}`;
    await untilReady(url);
    const keys = [DOCKER, 'exec', NAME, 'node', 'services/keys.ts'];
    context.diagnostic(await runContract(url, 'fc-test-one-container', keys));
  });
});

describe('compose.yaml', () => {
  const [program = '', ...first] = COMPOSE;
  const args = [...first, '--project-name', NAME, '--file', `${ROOT}compose.yaml`];
  const key = 'fc-test-compose';
  let port: number;
  const compose = (...command: string[]): Promise<string> =>
    run(program, [...args, ...command], { env: { PORT: String(port), API_KEY: key } });
  before(async () => {
    port = await freePort();
    await compose('up', '--detach', '--no-build', '--scale', 'ocr=2');
    await untilReady(`http://localhost:${port}`);
  });
  after(() => compose('down', '--volumes', '--timeout', '60'));

  test('every container becomes healthy', async () => {
    const ids = (await compose('ps', '--quiet')).trim().split('\n');
    assert.equal(ids.length, SERVICE_NAMES.length + 2, 'all services, NATS, and a second ocr');
    for (const id of ids)
      for (
        let left = 90;
        (await docker('inspect', '-f', '{{.State.Health.Status}}', id)).trim() !== 'healthy';
        left--
      ) {
        assert.ok(left > 0, await docker('inspect', '-f', '{{.Name}} {{json .State.Health}}', id));
        await pause(1_000);
      }
  });

  test('a worker reaches the internal network, and no other', async () => {
    const connect = (host: string): Promise<string> => {
      const socket = `require('node:net').connect({ host: '${host}', port: 8080 })`;
      const end = '(result) => () => { console.log(result); process.exit(); }';
      const script = `const end = ${end}; ${socket}.on('connect', end('connected')).on('error', end('refused')); setTimeout(end('silence'), 5000)`;
      return compose('exec', '-T', 'pdf', 'node', '-e', script);
    };
    const gateway = (await compose('ps', '--quiet', 'gateway')).trim();
    const address = (network: string): Promise<string> =>
      docker('inspect', '-f', `{{(index .NetworkSettings.Networks "${NAME}_${network}").IPAddress}}`, gateway);
    assert.equal((await connect((await address('mesh')).trim())).trim(), 'connected');
    assert.match((await connect((await address('edge')).trim())).trim(), /^(refused|silence)$/);
  });

  test('it passes the contract', async (context) => {
    const keys = [...COMPOSE, '--project-name', NAME, '--file', `${ROOT}compose.yaml`];
    context.diagnostic(
      await runContract(`http://localhost:${port}`, key, [
        ...keys,
        'exec',
        '-T',
        'gateway',
        'node',
        'services/keys.ts',
      ]),
    );
  });
});
