// A real nats-server of a test's own, on a free port, so that no suite needs one installed as a service or shares one with another.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './ports.ts';

export interface NatsServer {
  url: string;
  port: number;
  pid: number;
  storeDir: string;
  /** Ends the server and waits for it. Removes the store folder only if the harness made it. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** The binary is not on this machine. */
class NatsServerMissingError extends Error {
  override readonly name = 'NatsServerMissingError';
}

const STARTUP_MS = 10_000;

/**
 * Starts `nats-server -js` and waits until it accepts connections on 127.0.0.1.
 * @param options name `storeDir` and `port` to start again where an earlier server stopped; `args` are added to the command line
 * @throws NatsServerMissingError, or Error with the server's own words when it does not come up
 */
export async function startNatsServer(
  options: { storeDir?: string; port?: number; args?: string[] } = {},
): Promise<NatsServer> {
  const port = options.port ?? (await freePort());
  const storeDir = options.storeDir ?? (await mkdtemp(join(tmpdir(), 'nats-store-')));
  const removeStore = async (): Promise<void> => {
    if (options.storeDir === undefined) await rm(storeDir, { recursive: true, force: true });
  };
  // Debian installs it to /usr/sbin, which an ordinary user's PATH may lack.
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };
  const child = spawn(
    'nats-server',
    ['-js', '-sd', storeDir, '-a', '127.0.0.1', '-p', String(port), ...(options.args ?? [])],
    {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let said = '';
  child.stderr.on('data', (data: Buffer) => {
    said = `${said}${data.toString()}`.slice(-4_000);
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        cause.code === 'ENOENT'
          ? new NatsServerMissingError('nats-server is not installed (Debian: apt-get install nats-server)', { cause })
          : cause,
      ),
    );
    child.once('exit', (code) => reject(new Error(`nats-server ended with ${code}: ${said}`)));
  });
  failed.catch(() => undefined);
  const guard = guardAgainstOrphan(child);
  try {
    await Promise.race([untilAccepting(port), failed]);
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
      await end(child, signal);
      await removeStore();
    },
  };
}

/** A shell that ends the server when this process ends in whatever way: its standard input closes then. */
function guardAgainstOrphan(child: ChildProcess): ChildProcess {
  const guard = spawn('sh', ['-c', `read _; kill -9 ${child.pid ?? ''} 2>/dev/null`], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  return guard;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

async function untilAccepting(port: number): Promise<void> {
  const until = Date.now() + STARTUP_MS;
  for (;;) {
    const accepted = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      // The server greets with INFO once it serves clients.
      socket.once('data', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('close', () => resolve(false));
      socket.setTimeout(1_000, () => socket.destroy());
    }).catch(() => false);
    if (accepted) return;
    if (Date.now() > until) throw new Error(`nats-server did not accept connections on port ${port} in time`);
    await sleep(25);
  }
}
