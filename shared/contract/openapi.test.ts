// Tests the OpenAPI document: references resolve, examples are valid, and its schemas accept and reject the same bodies as the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ERROR_CODES } from './errors.ts';
import { openApiDocument } from './openapi.ts';

const document = JSON.parse(JSON.stringify(openApiDocument({ version: '1.2.3' })));

function* walk(value: unknown): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield [key, inner];
    yield* walk(inner);
  }
}

function validator(name: string) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.addSchema(document, 'doc').getSchema(`doc#/components/schemas/${name}`);
}

test('every reference resolves', () => {
  const refs = [...walk(document)].flatMap(([key, value]) => (key === '$ref' ? [String(value)] : []));
  assert.ok(refs.length > 20);
  for (const ref of new Set(refs)) {
    const found = ref
      .slice(2)
      .split('/')
      .reduce((at, step) => at?.[step], document);
    assert.ok(found, ref);
  }
});

test('the schemas accept valid options and responses and reject invalid ones', () => {
  const options = validator('ParseOptions');
  assert.ok(options);
  for (const good of [
    {},
    {
      formats: ['markdown', { type: 'json', prompt: 'p' }],
      timeout: 5,
      parsers: ['pdf', { type: 'pdf', maxPages: 2 }],
    },
    { redactPII: { mode: 'fast' } },
  ])
    assert.equal(options(good), true, JSON.stringify(options.errors));
  for (const bad of [
    { nope: 1 },
    { timeout: 0 },
    { timeout: 300_001 },
    { formats: ['gif'] },
    { parsers: [{ type: 'pdf', maxPages: 0 }] },
    { auditMetadata: {} },
  ])
    assert.equal(options(bad), false, JSON.stringify(bad));
  const answer = validator('ParseResponse');
  assert.ok(answer);
  const operation = document.paths['/v2/parse'].post;
  const example = operation.responses['200'].content['application/json'].example;
  assert.equal(answer(example), true, JSON.stringify(answer.errors));
  assert.equal(answer({ success: true, data: {} }), false, 'metadata is required');
  const part = operation.requestBody.content['multipart/form-data'];
  assert.equal(part.encoding.options.contentType, 'application/json');
  assert.deepEqual(part.schema.required, ['file']);
});

test('every error code is an example of its status and matches the error schema', () => {
  const error = validator('ErrorResponse');
  assert.ok(error);
  for (const { responses } of [document.paths['/v2/parse'].post, document.paths['/process'].put])
    for (const [code, { status }] of Object.entries(ERROR_CODES)) {
      const example = responses[String(status)]?.content['application/json'].examples[code]?.value;
      assert.ok(example, `${status} ${code}`);
      assert.equal(error(example), true, JSON.stringify(error.errors));
      assert.equal(example.code, code);
    }
  assert.ok(document.paths['/process'].put.responses['429'].headers['Retry-After']);
});
