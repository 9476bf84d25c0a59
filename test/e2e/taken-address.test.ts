// Tests that `npm start` and `npm run service` say which variable to change if they may not use their port or address.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type NatsServer, startNatsServer } from '../harness/nats-server.ts';
import { freePort } from '../harness/ports.ts';
import { skipReason } from '../harness/product.ts';

const program = (name: 'start' | 'service'): string =>
  fileURLToPath(new URL(`../../services/${name}.ts`, import.meta.url));

/** An address for documentation (RFC 5737), which no machine has. */
const NO_ADDRESS = '192.0.2.1';
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** The first port that every user may use, where the system has such a rule. */
function firstUserPort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
  } catch {
    return 0;
  }
}

describe('an address that cannot be used', () => {
  const taken = createServer();
  let folder: string;
  let port: string;
  let nats: NatsServer | undefined;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parsemesh-address-'));
    await chmod(folder, 0o777);
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    assert.ok(typeof address === 'object' && address);
    port = String(address.port);
    if (!skipReason('nats')) nats = await startNatsServer();
  });
  after(async () => {
    taken.close();
    await nats?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  let starts = 0;
  const keysFile = (): string => join(folder, `keys-${starts++}.json`);

  /** Runs a program until it exits. @returns what it wrote to standard error */
  async function fail(name: 'start' | 'service', args: string[], variables: Record<string, string>): Promise<string> {
    const user = isRoot && variables.PORT === '1' ? { uid: NOBODY, gid: NOBODY } : {};
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program(name), ...args], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: '0',
        LOG_LEVEL: 'error',
        KEYS_FILE: keysFile(),
        ...(nats ? { NATS_URL: nats.url } : {}),
        ...variables,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...user,
    });
    let written = '';
    child.stderr.on('data', (chunk: Buffer) => {
      written += chunk.toString();
    });
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 1, written);
    return written;
  }

  const programs: readonly (readonly ['start' | 'service', string[]])[] = [
    ['start', []],
    ['service', ['gateway']],
  ];
  for (const [name, args] of programs) {
    const command = ['npm', name === 'start' ? 'start' : 'run service --', ...args].join(' ');
    const skip = name === 'service' && skipReason('nats');

    test(`${command}: a port in use`, { skip }, async () => {
      const next = Number(port) + 1;
      assert.equal(
        await fail(name, args, { PORT: port }),
        `parsemesh: the port is in use: another program listens on port ${port} of 127.0.0.1. Set PORT to another port, for example: PORT=${next}\n`,
      );
      assert.match(await fail(name, args, { OPS_PORT: port }), /Set OPS_PORT to another port/);
    });

    test(`${command}: the same port for the API and for the probes`, { skip }, async () => {
      const own = String(await freePort());
      assert.match(await fail(name, args, { PORT: own, OPS_PORT: own }), /Set OPS_PORT to another port/);
    });

    test(`${command}: an address that this machine does not have`, { skip }, async () => {
      for (const host of [NO_ADDRESS, 'no-such-host.invalid'])
        assert.match(
          await fail(name, args, { HOST: host }),
          new RegExp(`^parsemesh: this machine has no address ${host}\\. Set HOST to one of its addresses`),
        );
      assert.match(await fail(name, args, { OPS_PORT: '0', OPS_HOST: NO_ADDRESS }), /Set OPS_HOST to one/);
    });

    test(`${command}: a port that is reserved for root`, {
      skip: skip || (firstUserPort() <= 1 ? 'this system reserves no ports' : false),
    }, async () => {
      assert.match(
        await fail(name, args, { PORT: '1' }),
        /^parsemesh: this user may not listen on port 1 of 127\.0\.0\.1\. Set PORT to a port from 1024 on/,
      );
    });
  }

  test('a start that fails creates no key, which nobody would see', async () => {
    assert.deepEqual(await readdir(folder), []);
  });

  test('npm run service -- csv: a port in use', { skip: skipReason('nats') }, async () => {
    assert.match(
      await fail('service', ['csv'], { OPS_PORT: port }),
      /^parsemesh: the port is in use: .* Set OPS_PORT to another port/,
    );
  });
});
