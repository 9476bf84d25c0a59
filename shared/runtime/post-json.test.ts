// Tests posting JSON against a real HTTP server: connections that are reused, closed and reset, and the size limit of a response.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, globalAgent, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type PostRequest, type PostResponse, postJson, ResponseTooLargeError } from './post-json.ts';

let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
/** The connection of each request. */
let sockets: Socket[] = [];

const ok = (_: IncomingMessage, response: ServerResponse): void => {
  response.end('{"ok":true}');
};
const post = (options: Partial<PostRequest> = {}): Promise<PostResponse> =>
  postJson({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    body: { text: 'é' },
    signal: new AbortController().signal,
    responseBytesMax: 100,
    ...options,
  });

before(async () => {
  server = createServer((request, response) => {
    sockets.push(request.socket);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  // Each test starts without an open connection.
  globalAgent.destroy();
  sockets = [];
  answer = ok;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

describe('postJson', () => {
  it('sends the body as JSON and returns status, headers and body', async () => {
    let received = '';
    answer = async (request, response) => {
      for await (const chunk of request) received += String(chunk);
      response.writeHead(201, { 'x-test': 'a' }).end('é');
    };
    const { status, headers, body } = await post({ headers: { authorization: 'Bearer x' } });
    assert.deepEqual([status, headers['x-test'], body], [201, 'a', 'é']);
    assert.equal(received, '{"text":"é"}');
  });

  it('reuses a connection', async () => {
    await post();
    await post();
    assert.equal(new Set(sockets).size, 1);
  });

  it('retries on a new connection when the server resets a reused one', async () => {
    answer = (request, response) => {
      if (sockets.filter((socket) => socket === request.socket).length > 1) request.socket.resetAndDestroy();
      else ok(request, response);
    };
    await post();
    assert.equal((await post()).body, '{"ok":true}');
    assert.equal(sockets.length, 3);
    assert.equal(new Set(sockets).size, 2);
  });

  it('retries when the server ends a reused connection without a response', async () => {
    answer = (request, response) => {
      if (sockets.length === 2) request.socket.end();
      else ok(request, response);
    };
    await post();
    assert.equal((await post()).status, 200);
    assert.equal(sockets.length, 3);
  });

  it('succeeds when the server closes its idle connections between two requests', async () => {
    for (let round = 0; round < 20; round += 1) {
      assert.equal((await post()).status, 200);
      server.closeIdleConnections();
    }
  });

  it('fails when the second connection is reset too', async () => {
    answer = (request) => request.socket.resetAndDestroy();
    await assert.rejects(post(), { name: 'ResetBeforeResponseError' });
    assert.equal(sockets.length, 2);
  });

  for (const begun of ['H', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"a'])
    it(`does not retry when the connection ends after the partial response ${JSON.stringify(begun)}`, async () => {
      answer = (request) => request.socket.end(begun);
      await assert.rejects(post(), { code: /ECONNRESET|HPE_INVALID_EOF_STATE/ });
      assert.equal(sockets.length, 1);
    });

  it('does not retry when no connection can be opened', async () => {
    await assert.rejects(post({ url: 'http://127.0.0.1:1/' }), { code: 'ECONNREFUSED' });
  });

  for (const headers of [{ 'content-length': '101' }, {}])
    it(`rejects a response that is one byte over the limit ${'content-length' in headers ? 'with' : 'without'} a content-length`, async () => {
      answer = (_, response) => response.writeHead(200, headers).end('x'.repeat(101));
      await assert.rejects(post(), ResponseTooLargeError);
    });

  for (const status of [302, 404, 500])
    it(`returns status ${status} without reading or following the response`, async () => {
      answer = (_, response) => response.writeHead(status, { location: '/elsewhere' }).end('x'.repeat(1_000));
      assert.deepEqual(await post().then(({ status, body }) => [status, body]), [status, '']);
      assert.equal(sockets.length, 1);
    });

  it('closes the connection when the signal fires before the response', async () => {
    const controller = new AbortController();
    const closed = new Promise((resolve) => {
      answer = (request) => {
        request.socket.once('close', resolve);
        controller.abort();
      };
    });
    await assert.rejects(post({ signal: controller.signal }), { name: 'AbortError' });
    await closed;
    assert.equal(sockets.length, 1);
  });
});
