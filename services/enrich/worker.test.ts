// Holds the enrich service to its promises against a real endpoint that speaks the OpenAI wire format and answers by script.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { ParseError } from '#shared/contract/errors.ts';
import type { EnrichJob, JobContext, RecordHead } from '#shared/contract/jobs.ts';
import { MODEL_LIMITS } from '#shared/contract/limits.ts';
import type { RecordFields } from '#shared/contract/response.ts';
import { handle } from './worker.ts';

interface Received {
  path: string;
  authorization: string | undefined;
  body: { model: string; messages: { role: string; content: string }[]; response_format?: { type: string } };
}
type Script = (received: Received, response: ServerResponse) => void;

let server: Server;
let script: Script[] = [];
let received: Received[] = [];

const say =
  (content: string): Script =>
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
const fail =
  (status: number, headers: Record<string, string> = {}): Script =>
  (_, response) => {
    response
      .writeHead(status, headers)
      .end(JSON.stringify({ error: { message: 'no', type: 'error', key: 'sk-should-never-be-seen' } }));
  };

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const entry: Received = {
    path: request.url ?? '',
    authorization: request.headers.authorization,
    body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
  };
  received.push(entry);
  const next = script.shift();
  if (next) next(entry, response);
  else fail(500)(entry, response);
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
  context = contextUntil(Date.now() + 60_000),
): Promise<{ fields: RecordFields; head: RecordHead }> {
  const whole: EnrichJob = {
    kind: 'enrich',
    requestId: 'r1',
    summary: false,
    drop: [],
    metadata: { title: 'T' },
    warnings: [],
    ...job,
  };
  const output = await handle(whole, Buffer.from(JSON.stringify(fields)), context);
  return { fields: JSON.parse(String(output.payload)) as RecordFields, head: output.reply as RecordHead };
}

const refused = (code: string) => (error: unknown) =>
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
  it('asks with the schema, the document fenced as data, and gives the value', async () => {
    configure();
    script = [say('```json\n{"total": 42}\n```')];
    const { fields, head } = await run(
      { markdown: DOCUMENT },
      { json: { prompt: 'What is the total?', schema: SCHEMA }, drop: ['markdown'] },
    );
    assert.deepEqual(fields, { json: { total: 42 } });
    assert.deepEqual(head, { metadata: { title: 'T' }, warnings: [] });
    const [call] = received;
    assert.equal(call?.path, '/v1/chat/completions');
    assert.equal(call.authorization, 'Bearer key-of-the-operator');
    assert.equal(call.body.model, 'small');
    assert.equal(call.body.response_format?.type, 'json_schema');
    const border = /<(document-[0-9a-f]{18})>\n# Invoice/.exec(call.body.messages[1]?.content ?? '')?.[1];
    assert.ok(border && call.body.messages[0]?.content.includes(border));
  });

  it('asks again with the faults, and takes the repaired answer', async () => {
    configure();
    script = [say('{"total": "forty-two"}'), say('{"total": 42}')];
    const { fields } = await run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } });
    assert.deepEqual(fields.json, { total: 42 });
    assert.match(received[1]?.body.messages.at(-1)?.content ?? '', /\/total must be number/);
    assert.equal(received[1]?.body.messages.at(-2)?.content, '{"total": "forty-two"}');
  });

  it('refuses a second answer that does not conform', async () => {
    configure();
    script = [say('{"total": "x"}'), say('I cannot do that.')];
    await assert.rejects(run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } }), refused('EXTRACTION_FAILED'));
    assert.equal(received.length, 2);
  });

  it('checks formats', async () => {
    configure();
    script = [say('{"total": 1, "mail": "nobody"}'), say('{"total": 1, "mail": "a@b.example"}')];
    const { fields } = await run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } });
    assert.deepEqual(fields.json, { total: 1, mail: 'a@b.example' });
  });

  it('goes from json_schema to json_object to none where the endpoint refuses them, and remembers it', async () => {
    configure();
    script = [fail(400), fail(400), say('{"total": "x"}'), say('{"total": 7}')];
    const { fields } = await run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } });
    assert.deepEqual(fields.json, { total: 7 });
    assert.deepEqual(
      received.map((call) => call.body.response_format?.type),
      ['json_schema', 'json_object', undefined, undefined],
    );
  });

  it('needs no schema', async () => {
    configure();
    script = [say('Here you are: ["a", "b"]')];
    const { fields } = await run({ markdown: DOCUMENT }, { json: { prompt: 'List the letters' } });
    assert.deepEqual(fields.json, ['a', 'b']);
    assert.equal(received[0]?.body.response_format?.type, 'json_object');
  });

  it('without a model says so, and judges the schema first', async () => {
    await assert.rejects(run({ markdown: DOCUMENT }, { json: { schema: SCHEMA } }), refused('MODEL_NOT_CONFIGURED'));
    await assert.rejects(
      run({ markdown: DOCUMENT }, { json: { schema: { type: 'objekt' } } }),
      refused('SCHEMA_INVALID'),
    );
    assert.equal(received.length, 0);
  });

  for (const [name, schema] of Object.entries({
    'an unknown type': { type: 'nothing' },
    'properties that are no object': { type: 'object', properties: 5 },
    'a reference to nowhere': { $ref: '#/definitions/none' },
    'a remote reference': { $ref: 'https://schemas.example/x.json' },
    'a pattern that is none': { type: 'string', pattern: '(' },
    'a pattern that backtracks without end': { type: 'string', pattern: '^(a+)+$' },
    'such a pattern for names': { type: 'object', patternProperties: { '^(a|b*)*$': {} } },
  }))
    it(`refuses a schema with ${name}`, async () => {
      configure();
      await assert.rejects(run({ markdown: DOCUMENT }, { json: { schema } }), refused('SCHEMA_INVALID'));
      assert.equal(received.length, 0);
    });

  it('is not fooled by $async', async () => {
    configure();
    script = [say('5'), say('6')];
    await assert.rejects(
      run({ markdown: DOCUMENT }, { json: { schema: { $async: true, type: 'object' } } }),
      refused('EXTRACTION_FAILED'),
    );
  });

  it('reads draft 2020-12', async () => {
    configure();
    script = [say('{"a": [1, "x"]}')];
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { a: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] } },
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
    };
    assert.deepEqual((await run({ markdown: DOCUMENT }, { json: { schema } })).fields.json, { a: [1, 'x'] });
  });
});

describe('endpoint faults', () => {
  for (const status of [401, 403, 404, 500, 503, 302])
    it(`${status} is a bad gateway, and nothing of it reaches the caller`, async () => {
      configure();
      script = [fail(status, status === 302 ? { location: 'http://elsewhere.example/' } : {})];
      await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), refused('BAD_GATEWAY'));
      assert.equal(received.length, 1);
    });

  it('429 is passed on as unavailable, with the time to wait', async () => {
    configure();
    script = [fail(429, { 'retry-after': '7' })];
    await assert.rejects(
      run({ markdown: DOCUMENT }, { summary: true }),
      (error) => refused('SERVICE_UNAVAILABLE')(error) && (error as ParseError).retryAfterSeconds === 7,
    );
  });

  for (const [name, body] of Object.entries({ 'no JSON': '<html>', 'no completion': '{"choices": []}', nothing: '' }))
    it(`${name} is a bad gateway`, async () => {
      configure();
      script = [(_, response) => response.end(body)];
      await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), refused('BAD_GATEWAY'));
    });

  it('an answer past the bound is a bad gateway', async () => {
    configure();
    script = [say('x'.repeat(MODEL_LIMITS.answerBytes))];
    await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), refused('BAD_GATEWAY'));
  });

  it('retries once when the endpoint resets the connection before it answers', async () => {
    configure();
    script = [(_, response) => response.socket?.resetAndDestroy(), say('An invoice.')];
    const { fields } = await run({ markdown: DOCUMENT }, { summary: true });
    assert.equal(fields.summary, 'An invoice.');
    assert.equal(received.length, 2);
  });

  it('does not retry when the connection ends in the middle of a response', async () => {
    configure();
    script = [
      (_, response) => response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
      say('An invoice.'),
    ];
    await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), refused('BAD_GATEWAY'));
    assert.equal(received.length, 1);
  });

  it('nobody listening is a bad gateway', async () => {
    configure();
    process.env.LLM_BASE_URL = 'http://127.0.0.1:1';
    await assert.rejects(run({ markdown: DOCUMENT }, { summary: true }), refused('BAD_GATEWAY'));
  });

  it('a caller that leaves stops the request', async () => {
    configure();
    const controller = new AbortController();
    let closed: () => void = () => undefined;
    const hungUp = new Promise<void>((resolve) => (closed = resolve));
    script = [
      (_, response) => {
        response.on('close', closed);
        controller.abort();
      },
    ];
    await assert.rejects(
      run({ markdown: DOCUMENT }, { summary: true }, contextUntil(Date.now() + 60_000, controller.signal)),
      refused('REQUEST_TIMEOUT'),
    );
    await hungUp;
  });

  it('a deadline that is over asks nothing', async () => {
    configure();
    await assert.rejects(
      run({ markdown: DOCUMENT }, { summary: true }, contextUntil(Date.now() - 1)),
      refused('REQUEST_TIMEOUT'),
    );
    assert.equal(received.length, 0);
  });

  it('a deadline that passes while the model thinks is a timeout', async () => {
    configure();
    script = [() => undefined];
    await assert.rejects(
      run({ markdown: DOCUMENT }, { summary: true }, contextUntil(Date.now() + 50)),
      refused('REQUEST_TIMEOUT'),
    );
  });
});

describe('summary', () => {
  it('comes from the model where there is one', async () => {
    configure();
    script = [say(' An invoice over 42 euros. ')];
    const { fields, head } = await run({ markdown: DOCUMENT }, { summary: true });
    assert.equal(fields.summary, 'An invoice over 42 euros.');
    assert.equal(fields.markdown, DOCUMENT);
    assert.deepEqual(head.warnings, []);
  });

  it('of a long document says how much was read', async () => {
    configure();
    script = [say('Long.')];
    const markdown = 'A paragraph of words.\n\n'.repeat(MODEL_LIMITS.documentUnits / 20);
    const { head } = await run({ markdown }, { summary: true });
    assert.match(head.warnings[0] ?? '', /read the first \d+ of \d+ characters/);
    const sent = received[0]?.body.messages[1]?.content ?? '';
    assert.ok(sent.length < MODEL_LIMITS.documentUnits + 500);
    assert.match(sent, /words\.\n<\/document-/);
  });

  it('without a model is extractive, says so, and asks nobody', async () => {
    const { fields, head } = await run({ markdown: DOCUMENT }, { summary: true, warnings: ['kept'] });
    assert.equal(fields.summary, 'Invoice. The total is 42 euros.');
    assert.equal(head.warnings[0], 'kept');
    assert.match(head.warnings[1] ?? '', /extractive.*LLM_BASE_URL/);
    assert.equal(received.length, 0);
  });

  it('of nothing is empty', async () => {
    const { fields, head } = await run({ markdown: ' \n' }, { summary: true });
    assert.equal(fields.summary, '');
    assert.match(head.warnings[0] ?? '', /no text/);
  });
});
