// Tests the HTTP model's wire format and error handling against a real endpoint.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { httpModel } from './http.ts';

let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let received: string[] = [];
const signal = new AbortController().signal;
const find = (text: string) =>
  httpModel(`http://127.0.0.1:${(server.address() as AddressInfo).port}/tag`).find(text, signal);

const respond =
  (status: number, body: unknown) =>
  (_: IncomingMessage, response: ServerResponse): void => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  };

before(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    received.push(body);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  received = [];
});
after(() => {
  server.closeAllConnections();
  server.close();
});

describe('http model', () => {
  it('sends the text and returns the spans that lie inside it', async () => {
    answer = respond(200, {
      spans: [
        { start: 0, end: 4, entity: 'PERSON', score: 0.9 },
        { start: 2, end: 99, entity: 'PERSON' },
      ],
    });
    assert.deepEqual(await find('Jane waits'), [{ start: 0, end: 4, entity: 'PERSON', score: 0.9 }]);
    assert.deepEqual(
      received.map((body) => JSON.parse(body)),
      [{ text: 'Jane waits' }],
    );
  });

  it('retries once when the endpoint resets the connection before it answers', async () => {
    answer = (request, response) => {
      if (received.length === 1) request.socket.resetAndDestroy();
      else respond(200, { spans: [] })(request, response);
    };
    assert.deepEqual(await find('Jane'), []);
    assert.deepEqual(received, ['{"text":"Jane"}', '{"text":"Jane"}']);
  });

  for (const [name, fault] of Object.entries({
    'has status 500': respond(500, {}),
    'is not JSON': respond(200, 'x'),
    'has another shape': respond(200, { spans: [{ start: 'a' }] }),
    'ends early': (_: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 99 }).write('{"spans":[]}', () => response.destroy());
    },
  }))
    it(`throws BAD_GATEWAY when the response ${name}`, async () => {
      answer = fault;
      await assert.rejects(find('Jane'), { code: 'BAD_GATEWAY' });
      assert.equal(received.length, 1);
    });
});
