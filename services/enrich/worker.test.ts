// Tests the enrich service against a real HTTP endpoint in the OpenAI wire format, which returns scripted responses.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { ParseError } from '#shared/contract/errors.ts';
import type { EnrichJob, JobContext, RecordReport } from '#shared/contract/jobs.ts';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import type { RecordFields } from '#shared/contract/response.ts';
import { handle } from './worker.ts';

interface ReceivedRequest {
  path: string;
  authorization: string | undefined;
  body: { model: string; messages: { role: string; content: string }[]; response_format?: { type: string } };
}
type ScriptedResponse = (received: ReceivedRequest, response: ServerResponse) => void;

let server: Server;
let script: ScriptedResponse[] = [];
let received: ReceivedRequest[] = [];

const completion =
  (content: string): ScriptedResponse =>
  (_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'c1',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      }),
    );
  };
const failure =
  (status: number, headers: Record<string, string> = {}): ScriptedResponse =>
  (_, response) => {
    response
      .writeHead(status, headers)
      .end(JSON.stringify({ error: { message: 'no', type: 'error', key: 'sk-should-never-be-seen' } }));
  };

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const entry: ReceivedRequest = {
    path: request.url ?? '',
    authorization: request.headers.authorization,
    body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
  };
  received.push(entry);
  const next = script.shift();
  if (next) next(entry, response);
  else failure(500)(entry, response);
}

before(async () => {
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  script = [];
  received = [];
});
afterEach(() => {
  delete process.env.LLM_BASE_URL;
  delete process.env.LLM_API_KEY;
  delete process.env.LLM_MODEL;
});

function configure(): void {
  process.env.LLM_BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  process.env.LLM_API_KEY = 'key-of-the-operator';
  process.env.LLM_MODEL = 'small';
}

function contextUntil(deadline: number, signal: AbortSignal = new AbortController().signal): JobContext {
  return {
    requestId: 'request-1',
    signal,
    deadline,
    volatile: true,
    call: () => Promise.reject(new Error('no calls')),
  };
}

async function run(
  fields: RecordFields,
  job: Partial<EnrichJob>,
  context = contextUntil(Date.now() + 600_000),
): Promise<{ fields: RecordFields; report: RecordReport }> {
  const completeJob: EnrichJob = {
    kind: 'enrich',
    requestId: 'r1',
    summary: false,
    drop: [],
    metadata: { title: 'T' },
    warnings: [],
    ...job,
  };
  const output = await handle(completeJob, Buffer.from(JSON.stringify(fields)), context);
  const json = Buffer.concat([...(output.payload as Iterable<Uint8Array>)]).toString('utf8');
  return { fields: JSON.parse(json) as RecordFields, report: output.reply as RecordReport };
}

/** Matches an error with this code whose message contains neither the response nor the address of the endpoint. */
const hasCode = (code: string) => (error: unknown) =>
  error instanceof ParseError &&
  error.code === code &&
  !error.message.includes('sk-should-never-be-seen') &&
  !error.message.includes('127.0.0.1');

const SCHEMA = {
  type: 'object',
  properties: { total: { type: 'number' }, mail: { type: 'string', format: 'email' } },
  required: ['total'],
};
const DOCUMENT = '# Invoice\n\nThe total is 42 euros.';

describe('json', () => {
  it('sends the schema and the document between random tags, and returns the value', async () => {
    configure();
    script = [completion('```json\n{"total": 42}\n```')];
    const { fields, report } = await run(
      { markdown: DOCUMENT },
      { json: { prompt: 'What is the total?', schema: SCHEMA }, drop: ['markdown'] },
    );
    assert.deepEqual(fields, { json: { total: 42 } });
    assert.deepEqual(report, { metadata: { title: 'T' }, warnings: [] });
    const [call] = received;
    assert.equal(call?.path, '/v1/chat/completions');
    assert.equal(call.authorization, 'Bearer key-of-the-operator');
    assert.equal(call.body.model, 'small');
    assert.equal(call.body.response_format?.type, 'json_schema');
    const tag = /<(document-[0-9a-f]{18})>\n# Invoice/.exec(call.body.messages[1]?.content ?? '')?.[1];
    assert.ok(tag && call.body.messages[0]?.content.includes(tag));
  });

  it('sends the faults of the first answer to the model and returns the second answer', async () => {
    configure();
    script = [completion('{"total": "forty-two"}'), completion('{"total": 42}')];
    const { fields } = await run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } });
    assert.deepEqual(fields.json, { total: 42 });
    assert.match(received[1]?.body.messages.at(-1)?.content ?? '', /\/total must be number/);
    assert.equal(received[1]?.body.messages.at(-2)?.content, '{"total": "forty-two"}');
  });

  it('throws EXTRACTION_FAILED when the second answer does not conform either', async () => {
    configure();
    script = [completion('{"total": "x"}'), completion('I cannot do that.')];
    await assert.rejects(run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } }), hasCode('EXTRACTION_FAILED'));
    assert.equal(received.length, 2);
  });

  it('requests a repair when a value does not have its format', async () => {
    configure();
    script = [completion('{"total": 1, "mail": "nobody"}'), completion('{"total": 1, "mail": "a@b.example"}')];
    const { fields } = await run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } });
    assert.deepEqual(fields.json, { total: 1, mail: 'a@b.example' });
  });

  it('tries json_schema, json_object and no format in turn, and repairs with the one that worked', async () => {
    configure();
    script = [failure(400), failure(400), completion('{"total": "x"}'), completion('{"total": 7}')];
    const { fields } = await run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } });
    assert.deepEqual(fields.json, { total: 7 });
    assert.deepEqual(
      received.map((call) => call.body.response_format?.type),
      ['json_schema', 'json_object', undefined, undefined],
    );
  });

  it('extracts JSON without a schema', async () => {
    configure();
    script = [completion('Here you are: ["a", "b"]')];
    const { fields } = await run({ markdown: DOCUMENT }, { json: { prompt: 'List the letters' } });
    assert.deepEqual(fields.json, ['a', 'b']);
    assert.equal(received[0]?.body.response_format?.type, 'json_object');
  });

  it('throws MODEL_NOT_CONFIGURED without a model, but SCHEMA_INVALID if the schema is invalid', async () => {
    await assert.rejects(run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } }), hasCode('MODEL_NOT_CONFIGURED'));
    await assert.rejects(
      run({ markdown: DOCUMENT }, { json: { schema: { type: 'objekt' } } }),
      hasCode('SCHEMA_INVALID'),
    );
    assert.equal(received.length, 0);
  });

  for (const [name, schema] of Object.entries({
    'an unknown type': { type: 'nothing' },
    'properties that are not an object': { type: 'object', properties: 5 },
    'a reference without a target': { $ref: '#/definitions/none' },
    'a remote reference': { $ref: 'https://schemas.example/x.json' },
    'an invalid pattern': { type: 'string', pattern: '(' },
    'an unknown draft': { $schema: 'urn:other' },
  }))
    it(`throws SCHEMA_INVALID for a schema with ${name}`, async () => {
      configure();
      await assert.rejects(run({ markdown: DOCUMENT }, { json: { schema } }), hasCode('SCHEMA_INVALID'));
      assert.equal(received.length, 0);
    });

  it('throws EXTRACTION_FAILED for wrong answers if the schema has $async', async () => {
    configure();
    script = [completion('5'), completion('6')];
    await assert.rejects(
      run({ markdown: DOCUMENT }, { json: { schema: { $async: true, type: 'object' } } }),
      hasCode('EXTRACTION_FAILED'),
    );
  });

  it('validates with a schema of draft 2020-12', async () => {
    configure();
    script = [completion('{"a": [1, "x"]}')];
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { a: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] } },
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
    };
    assert.deepEqual((await run({ markdown: DOCUMENT }, { json: { schema } })).fields.json, { a: [1, 'x'] });
  });
});

describe('errors of the endpoint', () => {
  for (const status of [401, 403, 404, 500, 503, 302])
    it(`throws BAD_GATEWAY for status ${status}, without text of the response`, async () => {
      configure();
      script = [failure(status, status === 302 ? { location: 'http://elsewhere.example/' } : {})];
      await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), hasCode('BAD_GATEWAY'));
      assert.equal(received.length, 1);
    });

  it('throws SERVICE_UNAVAILABLE with the Retry-After of a status 429', async () => {
    configure();
    script = [failure(429, { 'retry-after': '7' })];
    await assert.rejects(
      run({ markdown: DOCUMENT }, { summary: true }),
      (error) => hasCode('SERVICE_UNAVAILABLE')(error) && (error as ParseError).retryAfterSeconds === 7,
    );
  });

  for (const [name, body] of Object.entries({
    'is not JSON': '<html>',
    'has no choice': '{"choices": []}',
    'is empty': '',
  }))
    it(`throws BAD_GATEWAY when the response ${name}`, async () => {
      configure();
      script = [(_, response) => response.end(body)];
      await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), hasCode('BAD_GATEWAY'));
    });

  it('throws BAD_GATEWAY for a response of more than answerBytes', async () => {
    configure();
    script = [completion('x'.repeat(MODEL_LIMITS.answerBytes))];
    await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), hasCode('BAD_GATEWAY'));
  });

  it('retries once when the endpoint resets the connection before it answers', async () => {
    configure();
    script = [(_, response) => response.socket?.resetAndDestroy(), completion('An invoice.')];
    const { fields } = await run({ markdown: DOCUMENT }, { summary: true });
    assert.equal(fields.summary, 'An invoice.');
    assert.equal(received.length, 2);
  });

  it('does not retry when the connection ends in the middle of a response', async () => {
    configure();
    script = [
      (_, response) => response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
      completion('An invoice.'),
    ];
    await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), hasCode('BAD_GATEWAY'));
    assert.equal(received.length, 1);
  });

  it('throws BAD_GATEWAY when no connection can be opened', async () => {
    configure();
    process.env.LLM_BASE_URL = 'http://127.0.0.1:1';
    await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), hasCode('BAD_GATEWAY'));
  });

  it('closes the connection to the model when the caller aborts', async () => {
    configure();
    const controller = new AbortController();
    let closed: () => void = () => undefined;
    const connectionClosed = new Promise<void>((resolve) => (closed = resolve));
    script = [
      (_, response) => {
        response.on('close', closed);
        controller.abort();
      },
    ];
    await assert.rejects(
      run({ markdown: DOCUMENT }, { summary: true }, contextUntil(Date.now() + 600_000, controller.signal)),
      hasCode('REQUEST_TIMEOUT'),
    );
    await connectionClosed;
  });

  it('sends no request after the deadline', async () => {
    configure();
    await assert.rejects(
      run({ markdown: DOCUMENT }, { summary: true }, contextUntil(Date.now() - 1)),
      hasCode('REQUEST_TIMEOUT'),
    );
    assert.equal(received.length, 0);
  });

  it('throws REQUEST_TIMEOUT when the deadline passes before the response', async () => {
    configure();
    script = [() => undefined];
    await assert.rejects(
      run({ markdown: DOCUMENT }, { summary: true }, contextUntil(Date.now() + 50)),
      hasCode('REQUEST_TIMEOUT'),
    );
  });
});

describe('summary', () => {
  it('comes from the model if one is configured', async () => {
    configure();
    script = [completion(' An invoice over 42 euros. ')];
    const { fields, report } = await run({ markdown: DOCUMENT }, { summary: true });
    assert.equal(fields.summary, 'An invoice over 42 euros.');
    assert.equal(fields.markdown, DOCUMENT);
    assert.deepEqual(report.warnings, []);
  });

  it('warns how much of a long document the model read', async () => {
    configure();
    script = [completion('Long.')];
    const markdown = 'A paragraph of words.\n\n'.repeat(MODEL_LIMITS.documentUnits / 20);
    const { report } = await run({ markdown }, { summary: true });
    assert.match(report.warnings[0] ?? '', /read the first \d+ of \d+ characters/);
    const sent = received[0]?.body.messages[1]?.content ?? '';
    assert.ok(sent.length < MODEL_LIMITS.documentUnits + 500);
    assert.match(sent, /words\.\n<\/document-/);
  });

  it('is extractive without a model, with a warning and without a request', async () => {
    const { fields, report } = await run({ markdown: DOCUMENT }, { summary: true, warnings: ['kept'] });
    assert.equal(fields.summary, 'Invoice. The total is 42 euros.');
    assert.equal(report.warnings[0], 'kept');
    assert.match(report.warnings[1] ?? '', /extractive.*LLM_BASE_URL/);
    assert.equal(received.length, 0);
  });

  it('is empty with a warning for a document without text', async () => {
    const { fields, report } = await run({ markdown: ' \n' }, { summary: true });
    assert.equal(fields.summary, '');
    assert.match(report.warnings[0] ?? '', /no text/);
  });
});
