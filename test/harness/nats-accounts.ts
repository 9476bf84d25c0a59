// Starts a nats-server with the accounts of the chart: each service has its own user.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { natsUsers, renderAccounts } from '../cluster/nats-accounts.ts';
import { type NatsServer, startNatsServer } from './nats-server.ts';

export interface AccountServer extends NatsServer {
  /** The URL with the credentials of a user: a service, or `operator`. */
  urlOf(user: string): string;
}

/** @param change changes the configuration before the start, so that a test can show that it fails with another one */
export async function startAccountServer(
  change: (config: string) => string = (config) => config,
): Promise<AccountServer> {
  const folder = await mkdtemp(join(tmpdir(), 'nats-accounts-'));
  const config = join(folder, 'nats.conf');
  await writeFile(config, change(renderAccounts()));
  // The server reads a value that begins with a digit as a number.
  const passwords = new Map([...natsUsers.keys()].map((user) => [user, `p${randomUUID()}`]));
  const env = Object.fromEntries([...natsUsers].map(([user, variable]) => [variable, passwords.get(user) ?? '']));
  const server = await startNatsServer({ args: ['-c', config], env });
  return {
    ...server,
    urlOf: (user) => server.url.replace('://', `://${user}:${passwords.get(user)}@`),
    async stop(signal) {
      await server.stop(signal);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
