// The OpenAPI 3.1 document, made from the very schemas that validate requests and type answers, so that it cannot drift from them.
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from './errors.ts';
import { EXTENSIONS } from './formats.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { parseOptionsSchema } from './options.ts';
import { errorResponseSchema, parseResponseSchema } from './response.ts';

type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
type JsonObject = { [key: string]: JsonValue };

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value with every `$ref` into `$defs` pointed at the document's components. */
function relocate(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(relocate);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string'
        ? [key, inner.replace('#/$defs/', '#/components/schemas/')]
        : [key, relocate(inner)],
    ),
  );
}

/** A zod schema as components: itself under `name`, and every named schema inside it. */
function components(schema: z.ZodType, name: string, io: 'input' | 'output'): JsonObject {
  const json = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, target: 'draft-2020-12' }))) as JsonObject;
  const { $defs, $schema: _schema, id: _id, ...root } = json;
  const inner = isObject($defs) ? $defs : {};
  // A schema that is named itself comes as nothing but a reference to its own name.
  const named = Object.entries('$ref' in root ? inner : { ...inner, [name]: root }).map(
    ([key, value]): [string, JsonValue] => {
      const { id: _inner, $id: _innerId, ...rest } = isObject(value) ? value : {};
      return [key, relocate(rest)];
    },
  );
  return Object.fromEntries(named);
}

/** What each status of SPEC 7 means here, and the codes that come with it, each an example. */
const FAILURES: readonly (readonly [status: number, description: string, codes: readonly ErrorCode[]])[] = [
  [
    400,
    'The request is wrong: its body, its options, the kind of file. `details` lists every wrong field.',
    ['BAD_REQUEST', 'UNSUPPORTED_FILE_TYPE', 'PARSE_UNSUPPORTED_OPTIONS', 'MODEL_NOT_CONFIGURED'],
  ],
  [401, 'The API key is missing, malformed, unknown or revoked.', ['UNAUTHORIZED']],
  [402, 'The key has no credits left.', ['PAYMENT_REQUIRED']],
  [403, 'The key lacks permission for parse or for zero data retention.', ['FORBIDDEN']],
  [404, 'There is nothing at this path.', ['NOT_FOUND']],
  [405, 'The path knows another method; see `Allow`.', ['METHOD_NOT_ALLOWED']],
  [408, 'The document was not done within `timeout`, or the upload stalled. Retry with backoff.', ['REQUEST_TIMEOUT']],
  [409, 'The state of a resource prevents the operation.', ['CONFLICT']],
  [413, `The file is larger than ${REQUEST_LIMITS.fileBytes} bytes.`, ['PAYLOAD_TOO_LARGE']],
  [
    422,
    'The document, or the schema of a json format, cannot be worked with.',
    [
      'DOCUMENT_ENCRYPTED',
      'DOCUMENT_CORRUPT',
      'DOCUMENT_TOO_COMPLEX',
      'CONVERSION_FAILED',
      'SCHEMA_INVALID',
      'EXTRACTION_FAILED',
    ],
  ],
  [
    429,
    'The rate, or the concurrency with its queue, is exhausted; wait `Retry-After` seconds.',
    ['RATE_LIMIT_EXCEEDED', 'CONCURRENCY_LIMIT_REACHED'],
  ],
  [500, 'A fault of the server. Retry with backoff.', ['UNKNOWN_ERROR']],
  [502, 'A service answered with something that is not a record. Retry with backoff.', ['BAD_GATEWAY']],
  [503, 'A service or the bus is away, or the server is shutting down. Retry with backoff.', ['SERVICE_UNAVAILABLE']],
  [504, 'A gateway in between gave up. Retry with backoff.', ['GATEWAY_TIMEOUT']],
];

const MULTIPART_EXAMPLE = 'Bad Request: the multipart form-data request is invalid: its Content-Type names no boundary';

const requestIdHeader: JsonObject = {
  description: 'Names the request in logs; the one that was sent, where it was sane.',
  schema: { type: 'string' },
};
const retryAfterHeader: JsonObject = {
  description: 'Whole seconds, at least 1, after which the request is let in.',
  schema: { type: 'integer', minimum: 1 },
};

function failureResponse(status: number, description: string, codes: readonly ErrorCode[]): JsonObject {
  const examples = codes.map((code): [string, JsonValue] => [
    code,
    { value: { success: false, error: code === 'BAD_REQUEST' ? MULTIPART_EXAMPLE : ERROR_CODES[code].message, code } },
  ]);
  return {
    description,
    headers: {
      'X-Request-Id': requestIdHeader,
      ...(status === 429 || status === 503 ? { 'Retry-After': retryAfterHeader } : {}),
      ...(status === 405 ? { Allow: { description: 'The methods of the path.', schema: { type: 'string' } } } : {}),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ErrorResponse' },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

const failures = (statuses?: readonly number[]): JsonObject =>
  Object.fromEntries(
    FAILURES.filter(([status]) => !statuses || statuses.includes(status)).map(([status, description, codes]) => [
      String(status),
      failureResponse(status, description, codes),
    ]),
  );

const success = (description: string, schema: JsonObject, example: JsonValue): JsonObject => ({
  description,
  headers: { 'X-Request-Id': requestIdHeader },
  content: { 'application/json': { schema, example } },
});

const parseOperation: JsonObject = {
  operationId: 'parse',
  summary: 'Convert one file',
  description: `Takes one file of at most ${REQUEST_LIMITS.fileBytes} bytes (${EXTENSIONS.join(', ')}) and gives back Markdown, HTML, links, images, a summary or JSON. Parts may come in any order; options that come first are checked before the file is read.`,
  parameters: [
    {
      name: 'X-Request-Id',
      in: 'header',
      required: false,
      description: 'Names the request in the answer and in logs.',
      schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
    },
  ],
  requestBody: {
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          required: ['file'],
          properties: {
            file: {
              type: 'string',
              format: 'binary',
              description: 'The file. Its name decides the kind; its content wins where they differ.',
            },
            options: { $ref: '#/components/schemas/ParseOptions' },
          },
        },
        encoding: { options: { contentType: 'application/json' } },
      },
    },
  },
  responses: {
    '200': success(
      'The converted document.',
      { $ref: '#/components/schemas/ParseResponse' },
      {
        success: true,
        data: {
          markdown: '# Quarterly report\n\nRevenue rose.',
          metadata: {
            title: 'Quarterly report',
            sourceURL: 'report.pdf',
            url: 'report.pdf',
            statusCode: 200,
            contentType: 'application/pdf',
            numPages: 1,
            totalPages: 1,
            creditsUsed: 2,
            concurrencyLimited: false,
          },
        },
      },
    ),
    ...failures(),
  },
};

const formatsSchema: JsonObject = {
  type: 'object',
  required: ['success', 'data'],
  properties: {
    success: { type: 'boolean', const: true },
    data: {
      type: 'object',
      required: ['formats'],
      properties: {
        formats: {
          type: 'array',
          items: {
            type: 'object',
            required: ['format', 'kind', 'extensions', 'mimeTypes', 'available'],
            properties: {
              format: { type: 'string' },
              kind: { type: 'string', const: 'document' },
              label: { type: 'string' },
              extensions: { type: 'array', items: { type: 'string' } },
              mimeTypes: { type: 'array', items: { type: 'string' } },
              available: { type: 'boolean' },
            },
          },
        },
      },
    },
  },
};

const probe = (operationId: string, summary: string, contentType: string, mayRefuse: boolean): JsonObject => ({
  get: {
    operationId,
    summary,
    security: [],
    tags: ['operations'],
    responses: {
      '200': {
        description: 'OK',
        content: { [contentType]: { schema: { type: contentType === 'application/json' ? 'object' : 'string' } } },
      },
      ...(mayRefuse ? failures([503]) : {}),
    },
  },
});

/**
 * The whole interface as an OpenAPI 3.1 document.
 * @param options version: the product's
 */
export function openApiDocument(options: { version: string }): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parsemesh',
      version: options.version,
      summary: 'Self-hosted file parsing: one file in, Markdown, HTML, links, images, a summary or JSON out.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: [
      { name: 'parse' },
      { name: 'operations', description: 'Probes and metrics; on a port of their own where OPS_PORT is set.' },
    ],
    paths: {
      '/v2/parse': { post: { tags: ['parse'], ...parseOperation } },
      '/v2/parse/formats': {
        get: {
          operationId: 'listFormats',
          summary: 'The kinds of file that are read',
          tags: ['parse'],
          responses: {
            '200': success('Every kind.', formatsSchema, {
              success: true,
              data: {
                formats: [
                  {
                    format: 'pdf',
                    kind: 'document',
                    label: 'PDF',
                    extensions: ['.pdf'],
                    mimeTypes: ['application/pdf'],
                    available: true,
                  },
                ],
              },
            }),
            ...failures([401, 500]),
          },
        },
      },
      '/livez': probe('live', 'Whether the process answers', 'application/json', false),
      '/readyz': probe('ready', 'Whether work can be taken', 'application/json', true),
      '/metrics': probe('metrics', 'Prometheus metrics', 'text/plain', false),
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer <API_KEY>`.' },
      },
      schemas: {
        ...components(parseOptionsSchema, 'ParseOptions', 'input'),
        ...components(parseResponseSchema, 'ParseResponse', 'output'),
        ...components(errorResponseSchema, 'ErrorResponse', 'output'),
      },
    },
  };
}
