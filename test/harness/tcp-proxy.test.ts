// Tests that the proxy of the outage tests does to connections what it says.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

/** Long enough for a byte to go to the server and back, if anything forwards it. */
const ROUND_TRIP_MS = 200;

describe('the TCP proxy', () => {
  let echo: Server;
  let proxy: TcpProxy;
  const clients: Socket[] = [];
  const open = async (): Promise<Socket> => {
    const client = connect(proxy.port, '127.0.0.1');
    clients.push(client);
    await once(client, 'connect');
    return client;
  };
  const answerTo = async (client: Socket, text: string): Promise<string> => {
    client.write(text);
    const [data] = (await once(client, 'data')) as [Buffer];
    return data.toString();
  };

  before(async () => {
    echo = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.pipe(socket);
    });
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    proxy = await startTcpProxy((echo.address() as AddressInfo).port);
  });
  after(async () => {
    for (const client of clients) client.destroy();
    await proxy.close();
    echo.close();
  });

  it('forwards in both directions', async () => {
    assert.equal(await answerTo(await open(), 'one'), 'one');
  });

  it('closes connections and refuses new ones while it is cut', async () => {
    const client = await open();
    assert.equal(await answerTo(client, 'one'), 'one');
    const closed = once(client, 'close');
    await proxy.cut();
    await closed;
    await assert.rejects(open(), { code: 'ECONNREFUSED' });
    await proxy.resume();
    assert.equal(await answerTo(await open(), 'two'), 'two');
  });

  it('keeps connections open and forwards nothing while it is stalled, and then what was held', async () => {
    const [old, silent] = [await open(), await open()];
    assert.equal(await answerTo(old, 'one'), 'one');
    proxy.stall();
    let received = '';
    for (const client of [old, silent, await open()]) {
      client.on('data', (data: Buffer) => {
        received += data.toString();
      });
      client.write('held ');
    }
    await sleep(ROUND_TRIP_MS);
    assert.equal(received, '');
    assert.equal(old.destroyed, false);
    await proxy.resume();
    while (received.length < 'held '.length * 3) await sleep(10);
    assert.equal(received, 'held held held ');
  });

  it('stalls only the open connections with `open`', async () => {
    const old = await open();
    assert.equal(await answerTo(old, 'one'), 'one');
    proxy.stall('open');
    old.write('held');
    const later = await open();
    assert.equal(await answerTo(later, 'new'), 'new');
    const [held] = await Promise.all([once(old, 'data'), proxy.resume()]);
    assert.equal(String(held[0]), 'held');
    assert.equal(await answerTo(later, 'once'), 'once', 'a connection that was not stalled forwards each byte once');
  });
});
