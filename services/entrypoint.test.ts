// Tests that the entrypoint of the images moves secrets out of the environment, and that the service gets them with their values unchanged.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ConfigError, environmentSchema } from '#shared/runtime/config.ts';
import { FILE_VARIABLES, isSecretVariable, takeSecrets } from '#shared/runtime/secrets.ts';

const ENTRYPOINT = fileURLToPath(new URL('./entrypoint.sh', import.meta.url));
const SECRETS = new URL('../shared/runtime/secrets.ts', import.meta.url).href;
const TINI = '/usr/bin/tini -- node';
/** Prints the environment that /proc shows, and the one that the service has. */
const PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { takeSecrets } from '${SECRETS}';
  const shown = readFileSync('/proc/self/environ', 'utf8');
  takeSecrets();
  process.stdout.write(JSON.stringify({ shown, env: process.env }));
`;

interface Started {
  shown: string;
  env: Record<string, string>;
}

/** Runs the entrypoint, with this Node in the place of tini and the Node of the image. */
async function start(env: Record<string, string>): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-entrypoint-'));
  try {
    const source = await readFile(ENTRYPOINT, 'utf8');
    assert.ok(source.includes(TINI));
    const script = join(folder, 'entrypoint.sh');
    await writeFile(script, source.replaceAll(TINI, process.execPath));
    await chmod(script, 0o755);
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', PROGRAM];
    const { stdout, stderr, status } = spawnSync(script, args, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...env },
    });
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout) as Started;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const skip = process.platform === 'linux' ? false : 'the images run Linux';

test('secrets are not in the environment that /proc shows, and the service has them', { skip }, async () => {
  const secrets = {
    NATS_URL: 'nats://user:MARKER@nats:4222',
    LLM_API_KEY: 'MARKER with "quotes", $HOME and `date`',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=MARKER\nNATS_URL=second line',
    // Longer than a pipe's buffer.
    SOME_TOKEN: 'MARKER'.repeat(20_000),
  };
  const { shown, env } = await start({ ...secrets, LOG_LEVEL: 'debug' });
  assert.doesNotMatch(shown, /MARKER/);
  assert.match(shown, /LOG_LEVEL=debug/);
  for (const [name, value] of Object.entries({ ...secrets, LOG_LEVEL: 'debug' })) assert.equal(env[name], value, name);
  assert.equal(env.SECRETS_FD, undefined);
});

test('without a secret, the environment stays as it is', { skip }, async () => {
  const { env } = await start({ LOG_LEVEL: 'debug' });
  assert.equal(env.LOG_LEVEL, 'debug');
  assert.equal(env.SECRETS_FD, undefined);
});

test('the entrypoint and the service know the same names of secrets', async () => {
  const words = /^words='([^']+)'$/m.exec(await readFile(ENTRYPOINT, 'utf8'))?.[1] ?? '';
  const known = new RegExp(`(${words})$`);
  for (const name of [...Object.keys(environmentSchema.shape), ...FILE_VARIABLES, 'X_PASSWORD', 'A_FILE'])
    assert.equal(isSecretVariable(name), known.test(name), name);
  for (const name of ['NATS_URL', 'API_KEY', 'LLM_API_KEY', 'OTEL_EXPORTER_OTLP_HEADERS'])
    assert.ok(isSecretVariable(name), name);
  for (const name of ['KEYS_FILE', 'PATH', 'OCR_LANGUAGES']) assert.ok(!isSecretVariable(name), name);
});

test('a secret comes from a file, without the line break at its end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parsemesh-secrets-'));
  try {
    const file = join(folder, 'key');
    for (const name of FILE_VARIABLES) {
      await writeFile(file, 'MARKER one\n');
      const env: NodeJS.ProcessEnv = { [`${name}_FILE`]: file };
      takeSecrets(env);
      assert.equal(env[name], 'MARKER one');
      assert.throws(() => takeSecrets({ [`${name}_FILE`]: file, [name]: 'x' }), ConfigError);
      await writeFile(file, '\n');
      assert.throws(() => takeSecrets({ [`${name}_FILE`]: file }), /is empty/);
      assert.throws(() => takeSecrets({ [`${name}_FILE`]: `${file}-missing` }), /cannot be read \(ENOENT\)/);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a file descriptor that is not open is a configuration error', () => {
  assert.throws(() => takeSecrets({ SECRETS_FD: '999' }), ConfigError);
});
