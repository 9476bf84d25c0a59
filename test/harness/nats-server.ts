// Starts a real nats-server for one test, on a free port and with its own folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.ts';
import { WAIT_LIMIT_MS } from './processes.ts';

export interface NatsServer {
  url: string;
  port: number;
  pid: number;
  storeDir: string;
  /** Stops the server and waits until it has exited. Removes the store folder only if the harness created it. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts `nats-server -js` and waits until it accepts connections on 127.0.0.1.
 * @param options `storeDir` and `port` of a stopped server start it again; `args` are added to the command line,
 *   `env` to the environment
 * @throws Error with the output of the server if it does not start
 */
export async function startNatsServer(
  options: { storeDir?: string; port?: number; args?: string[]; env?: Record<string, string> } = {},
): Promise<NatsServer> {
  const port = options.port ?? (await freePort());
  const storeDir = options.storeDir ?? (await mkdtemp(join(tmpdir(), 'nats-store-')));
  const removeStore = async (): Promise<void> => {
    if (options.storeDir === undefined) await rm(storeDir, { recursive: true, force: true });
  };
  // Debian installs it to /usr/sbin, which an ordinary user's PATH may lack.
  const env = { ...process.env, ...options.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };
  const child = spawn(
    'nats-server',
    ['-js', '-sd', storeDir, '-a', '127.0.0.1', '-p', String(port), ...(options.args ?? [])],
    {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let output = '';
  child.stderr.on('data', (data: Buffer) => {
    output = `${output}${data.toString()}`.slice(-4_000);
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        cause.code === 'ENOENT'
          ? new Error('nats-server is not installed (Debian: apt-get install nats-server)', { cause })
          : cause,
      ),
    );
    child.once('exit', (code) => reject(new Error(`nats-server exited with ${code}: ${output}`)));
  });
  let hasFailed = false;
  failed.catch(() => {
    hasFailed = true;
  });
  const guard = startGuard(child);
  try {
    await Promise.race([untilAccepting(port, () => hasFailed), failed]);
  } catch (error) {
    guard.kill('SIGKILL');
    child.kill('SIGKILL');
    await removeStore();
    throw error;
  }
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: child.pid ?? 0,
    storeDir,
    async stop(signal = 'SIGTERM') {
      guard.kill('SIGKILL');
      await stopServer(child, signal);
      await removeStore();
    },
  };
}

/** Starts a shell that kills the server when this process exits, even after SIGKILL: its standard input closes then. */
function startGuard(child: ChildProcess): ChildProcess {
  const guard = spawn('sh', ['-c', `read _; kill -9 ${child.pid ?? ''} 2>/dev/null`], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  return guard;
}

async function stopServer(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** Waits until the server accepts connections or `hasFailed`. */
async function untilAccepting(port: number, hasFailed: () => boolean): Promise<void> {
  const limit = Date.now() + WAIT_LIMIT_MS;
  for (;;) {
    const accepted = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      // The server sends INFO once it accepts clients.
      socket.once('data', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
      socket.setTimeout(30_000, () => socket.destroy());
    }).catch(() => false);
    if (accepted || hasFailed()) return;
    if (Date.now() > limit)
      throw new Error(`nats-server did not accept connections on port ${port} within ${WAIT_LIMIT_MS} ms`);
    await sleep(25);
  }
}
