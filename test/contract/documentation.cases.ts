// Checks that the examples of the OpenAPI document are requests that work and bodies that the server sends (docs/api.md, "Endpoints").
import assert from 'node:assert/strict';
import { ERROR_CODES, type ErrorCode } from '#shared/contract/errors.ts';
import { type Answer, errorBody, parse, send, successData } from '../harness/client.ts';
import type { Product } from '../harness/product.ts';
import { type ContractCase, htmlPage, SMALL_CSV } from './contract-case.ts';
import { readPdfFixture, THREE_PAGE_PDF } from './pdf-documents.ts';

interface Examples {
  requests: Record<string, { value: { options: Record<string, unknown> } }>;
  /** The example of a code. */
  error(code: ErrorCode): { error: string };
}

async function readExamples(product: Product): Promise<Examples> {
  const { text, status } = await send(product, { method: 'GET', path: '/openapi.json', key: null });
  assert.equal(status, 200);
  const { requestBody, responses } = JSON.parse(text).paths['/v2/parse'].post;
  return {
    requests: requestBody.content['multipart/form-data'].examples,
    error: (code) => responses[String(ERROR_CODES[code].status)].content['application/json'].examples[code].value,
  };
}

/** Requests that get the error of a code, as the OpenAPI document shows it. */
const FAILURES: readonly (readonly [code: ErrorCode, request: (product: Product) => Promise<Answer>])[] = [
  ['BAD_REQUEST', (product) => parse(product, { ...SMALL_CSV, options: { formats: ['md'] } })],
  ['PARSE_UNSUPPORTED_OPTIONS', (product) => parse(product, { ...SMALL_CSV, options: { formats: ['screenshot'] } })],
  ['UNSUPPORTED_FILE_TYPE', (product) => parse(product, { file: 'MZ', fileName: 'setup.exe' })],
  [
    'MODEL_NOT_CONFIGURED',
    (product) => parse(product, { ...SMALL_CSV, options: { formats: [{ type: 'json', prompt: 'x' }] } }),
  ],
  ['UNAUTHORIZED', (product) => parse(product, { ...SMALL_CSV, key: 'fc-unknown' })],
  ['NOT_FOUND', (product) => send(product, { method: 'GET', path: '/v2/nothing' })],
  ['METHOD_NOT_ALLOWED', (product) => send(product, { method: 'GET' })],
  [
    'SCHEMA_INVALID',
    (product) =>
      parse(product, { ...SMALL_CSV, options: { formats: [{ type: 'json', schema: { type: 'nothing' } }] } }),
  ],
  [
    'DOCUMENT_ENCRYPTED',
    async (product) =>
      parse(product, { file: await readPdfFixture('encrypted-password-heron.pdf'), fileName: 'a.pdf' }),
  ],
  [
    'FORBIDDEN',
    async (product) =>
      parse(product, {
        ...SMALL_CSV,
        options: { zeroDataRetention: true },
        key: await product.createKey('--allow', 'parse'),
      }),
  ],
];

export const cases: ContractCase[] = [
  {
    name: 'every request example of /openapi.json works',
    run: async (product) => {
      const { requests, error } = await readExamples(product);
      const page = htmlPage('<h1>Log</h1><p>Write to ana@example.com</p>');
      for (const [name, { value }] of Object.entries(requests))
        for (const file of [page, { file: await THREE_PAGE_PDF, fileName: 'log.pdf' }]) {
          const answer = await parse(product, { ...file, options: value.options });
          // The product of the tests has no language model.
          if (name === 'json') assert.deepEqual(errorBody(answer, 400), error('MODEL_NOT_CONFIGURED'));
          else assert.match(successData(answer).markdown ?? '', /\w/, name);
        }
    },
  },
  ...FAILURES.map(
    ([code, request]): ContractCase => ({
      name: `sends the body of the example ${code} of /openapi.json`,
      run: async (product) => {
        const { error } = await readExamples(product);
        assert.deepEqual(errorBody(await request(product), ERROR_CODES[code].status, code), error(code));
      },
    }),
  ),
];
