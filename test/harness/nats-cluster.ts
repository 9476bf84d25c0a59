// Starts several nats-server processes that form one cluster, for the tests of replicated streams.
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type NatsServer, startNatsServer } from './nats-server.ts';
import { freePort } from './ports.ts';
import { WAIT_LIMIT_MS } from './processes.ts';

export interface NatsCluster {
  /** The URLs of all servers, separated by commas. */
  url: string;
  servers: readonly NatsServer[];
  stop(): Promise<void>;
}

/** Starts `count` servers and waits until JetStream works on them. */
export async function startNatsCluster(count = 3): Promise<NatsCluster> {
  const routePorts = await Promise.all(Array.from({ length: count }, freePort));
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`).join(',');
  const servers = await Promise.all(
    routePorts.map((port, index) =>
      startNatsServer({
        args: [
          '-n',
          `server-${index}`,
          '--cluster_name',
          'test',
          '--cluster',
          `nats://127.0.0.1:${port}`,
          '--routes',
          routes,
        ],
      }),
    ),
  );
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  };
  try {
    await untilReady(servers.map(({ url }) => url));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: servers.map(({ url }) => url).join(','), servers, stop };
}

/** Waits until a stream can be created on all servers: they have found each other and have a leader. */
async function untilReady(servers: string[]): Promise<void> {
  const connection = await connect({ servers });
  const manager = await jetstreamManager(connection, { checkAPI: false, timeout: 2_000 });
  const limit = Date.now() + WAIT_LIMIT_MS;
  try {
    for (;;)
      try {
        await manager.streams.add({ name: 'PROBE', subjects: ['probe'], num_replicas: servers.length });
        await manager.streams.delete('PROBE');
        return;
      } catch (cause) {
        if (Date.now() > limit) throw new Error('the NATS servers did not form a cluster', { cause });
        await sleep(100);
      }
  } finally {
    await connection.close();
  }
}
