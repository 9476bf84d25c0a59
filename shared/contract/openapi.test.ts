// Tests the OpenAPI document: references resolve, examples are valid, and its schemas accept and reject the same bodies as the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
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

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(document, 'doc');

/** Compiles the schema at a JSON Pointer (RFC 6901) of the document. */
const schemaAt = (pointer: string) => ajv.getSchema(`doc#${pointer}`);

const validator = (name: string) => schemaAt(`/components/schemas/${name}`);

/** Every example of the document with the pointer of its schema: of media types, of parameters, and of schemas. */
function* examplesIn(value: unknown, pointer: string): Generator<{ schema: string; at: string; example: unknown }> {
  if (typeof value !== 'object' || value === null) return;
  const node = value as Record<string, unknown>;
  const isSchema = /\/(schema|schemas\/\w+|properties\/\w+|items|anyOf\/\d+|oneOf\/\d+)$/.test(pointer);
  const schema = isSchema ? pointer : `${pointer}/schema`;
  if (isSchema || 'schema' in node) {
    if ('example' in node) yield { schema, at: `${pointer}/example`, example: node.example };
    for (const [name, one] of Object.entries(node.examples ?? {}))
      yield { schema, at: `${pointer}/examples/${name}`, example: isSchema ? one : (one as { value: unknown }).value };
  }
  for (const [key, inner] of Object.entries(node))
    if (key !== 'examples' && key !== 'example')
      yield* examplesIn(inner, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

test('the document is valid OpenAPI 3.1', async () => {
  const openApi = new Validator();
  const { valid, errors } = await openApi.validate(structuredClone(document));
  assert.equal(valid, true, JSON.stringify(errors));
  assert.equal(openApi.version, '3.1');
});

test('every example is valid for its schema', () => {
  const examples = [...examplesIn(document, '')];
  assert.ok(examples.length > 60, `only ${examples.length} examples were found`);
  for (const { schema, at, example } of examples) {
    const validate = schemaAt(encodeURI(schema));
    assert.ok(validate, schema);
    assert.equal(validate(example), true, `${at}: ${JSON.stringify(validate.errors)}`);
  }
});

test('each request example has a response example, and the first one asks for Markdown alone', () => {
  const operation = document.paths['/v2/parse'].post;
  const requests = operation.requestBody.content['multipart/form-data'].examples;
  assert.deepEqual(Object.keys(operation.responses['200'].content['application/json'].examples), Object.keys(requests));
  // Swagger UI fills in the first example of the schema of the part.
  assert.deepEqual(document.components.schemas.ParseOptions.examples[0], { formats: ['markdown'] });
});

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
