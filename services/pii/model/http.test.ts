// Holds the HTTP model to its wire format and its faults, against a real endpoint.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { httpModel } from './http.ts';

let server: Server;
let answer: { status: number; body: string };
let asked = '';
const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/tag`;
const signal = new AbortController().signal;

before(async () => {
  server = createServer(async (request, response) => {
    asked = '';
    for await (const chunk of request) asked += String(chunk);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => {
  server.closeAllConnections();
  server.close();
});

describe('http model', () => {
  it('sends the text and takes spans that lie inside it', async () => {
    answer = {
      status: 200,
      body: JSON.stringify({
        spans: [
          { start: 0, end: 4, entity: 'PERSON', score: 0.9 },
          { start: 2, end: 99, entity: 'PERSON' },
        ],
      }),
    };
    assert.deepEqual(await httpModel(url()).find('Jane waits', signal), [
      { start: 0, end: 4, entity: 'PERSON', score: 0.9 },
    ]);
    assert.deepEqual(JSON.parse(asked), { text: 'Jane waits' });
  });
  for (const [name, fault] of Object.entries({
    'a status': { status: 500, body: '{}' },
    'no JSON': { status: 200, body: 'x' },
    'another shape': { status: 200, body: '{"spans":[{"start":"a"}]}' },
  }))
    it(`${name} is a bad gateway`, async () => {
      answer = fault;
      await assert.rejects(httpModel(url()).find('Jane', signal), { code: 'BAD_GATEWAY' });
    });
});
