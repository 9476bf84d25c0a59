// Generates the OpenAPI 3.1 document from the schemas that validate requests and responses, so that both always agree.
import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from './errors.ts';
import { EXTENSIONS } from './formats.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { parseOptionsSchema } from './options-schema.ts';
import { errorResponseSchema, parseResponseSchema } from './response.ts';

type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
type JsonObject = { [key: string]: JsonValue };

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Rewrites every `$ref` to `$defs`, so that it points to the components of the document. */
function relocateReferences(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(relocateReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === '$ref' && typeof inner === 'string'
        ? [key, inner.replace('#/$defs/', '#/components/schemas/')]
        : [key, relocateReferences(inner)],
    ),
  );
}

/** The components of a zod schema: the schema under `name`, and every named schema that it contains. */
function components(schema: z.ZodType, name: string, io: 'input' | 'output'): JsonObject {
  const json = JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io, target: 'draft-2020-12' }))) as JsonObject;
  const { $defs, $schema: _schema, id: _id, ...root } = json;
  const inner = isObject($defs) ? $defs : {};
  // If the schema has a name of its own, zod returns only a reference to it.
  const named = Object.entries('$ref' in root ? inner : { ...inner, [name]: root }).map(
    ([key, value]): [string, JsonValue] => {
      const { id: _inner, $id: _innerId, ...rest } = isObject(value) ? value : {};
      return [key, relocateReferences(rest)];
    },
  );
  return Object.fromEntries(named);
}

/** Each error status with its codes, which become examples (docs/api.md, "Errors"). */
const FAILURES: readonly (readonly [status: number, description: string, codes: readonly ErrorCode[]])[] = [
  [
    400,
    'The body, the options or the file format is invalid. `details` lists every invalid field.',
    ['BAD_REQUEST', 'UNSUPPORTED_FILE_TYPE', 'PARSE_UNSUPPORTED_OPTIONS', 'MODEL_NOT_CONFIGURED'],
  ],
  [401, 'The API key is missing, malformed, unknown or revoked.', ['UNAUTHORIZED']],
  [402, 'The credits of the key are used up.', ['PAYMENT_REQUIRED']],
  [403, 'The key does not permit parsing or zero data retention.', ['FORBIDDEN']],
  [404, 'The path does not exist.', ['NOT_FOUND']],
  [405, 'The path does not support this method. `Allow` lists the supported methods.', ['METHOD_NOT_ALLOWED']],
  [
    408,
    'The conversion did not finish within `timeout`, or the upload stalled. Retry with backoff.',
    ['REQUEST_TIMEOUT'],
  ],
  [409, 'The state of a resource prevents the operation.', ['CONFLICT']],
  [413, `The file is larger than ${REQUEST_LIMITS.fileBytes} bytes.`, ['PAYLOAD_TOO_LARGE']],
  [
    422,
    'The document cannot be converted, or the schema of a `json` format is invalid.',
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
    'The rate limit, or the concurrency limit and its queue, is exhausted. Retry after `Retry-After` seconds.',
    ['RATE_LIMIT_EXCEEDED', 'CONCURRENCY_LIMIT_REACHED'],
  ],
  [500, 'The server failed. Retry with backoff.', ['UNKNOWN_ERROR']],
  [502, 'A service or the language model returned an invalid response. Retry with backoff.', ['BAD_GATEWAY']],
  [
    503,
    'A service or the message bus is unavailable, or the server is shutting down. Retry after `Retry-After` seconds.',
    ['SERVICE_UNAVAILABLE'],
  ],
  [504, 'A proxy between client and server timed out. Retry with backoff.', ['GATEWAY_TIMEOUT']],
];

const MULTIPART_EXAMPLE =
  'Bad Request: the multipart form-data request is invalid: its Content-Type has no boundary; let your HTTP client set the Content-Type header';

const requestIdHeader: JsonObject = {
  description: 'Identifies the request in logs: the value from the request if it is valid, else a generated one.',
  schema: { type: 'string' },
};
const retryAfterHeader: JsonObject = {
  description: 'Seconds to wait before the next attempt, an integer of at least 1.',
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
      ...(status === 405
        ? { Allow: { description: 'Methods that the path supports.', schema: { type: 'string' } } }
        : {}),
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
  description: `Converts one file of at most ${REQUEST_LIMITS.fileBytes} bytes (${EXTENSIONS.join(', ')}) to Markdown, HTML, links, images, a summary or JSON. The parts may be in any order. Options before the file are validated before the file is read.`,
  parameters: [
    {
      name: 'X-Request-Id',
      in: 'header',
      required: false,
      description: 'Identifies the request in the response and in logs.',
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
              description:
                'The file. The extension of its name determines the format, unless the content is in another supported format.',
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

const loadedDocumentSchema: JsonObject = {
  type: 'object',
  required: ['page_content', 'metadata'],
  properties: {
    page_content: { type: 'string', description: 'Markdown of the file or of one page.' },
    metadata: {
      type: 'object',
      required: ['source'],
      properties: {
        source: { type: 'string', description: 'File name of the upload.' },
        page: { type: 'integer', description: 'Number of the page, starting at 0.' },
        page_label: { type: 'string', description: 'Number of the page, starting at 1.' },
        total_pages: { type: 'integer', description: 'Pages in the file.' },
        warning: { type: 'string', description: 'Problems that did not prevent the conversion.' },
      },
      additionalProperties: true,
      description: 'The other keys are those of `metadata` of `/v2/parse`.',
    },
  },
};

const stringHeader = (name: string, description: string): JsonObject => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
});

const processOperation: JsonObject = {
  operationId: 'process',
  summary: 'Convert one file for Open WebUI',
  description:
    'The interface of Open WebUI for an external document loader. The body is the file itself. The response is one document for each page of a format with pages, otherwise one document.',
  parameters: [
    stringHeader('X-Filename', 'File name, percent-encoded. Without it, the Content-Type determines the format.'),
    stringHeader(
      'X-Parse-Options',
      'Options of `/v2/parse` as JSON, without `formats`. `timeout` is 300000 by default.',
    ),
  ],
  requestBody: { required: true, content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
  responses: {
    '200': success(
      'The documents of the file.',
      { oneOf: [loadedDocumentSchema, { type: 'array', items: loadedDocumentSchema }] },
      [
        {
          page_content: '# Quarterly report',
          metadata: { source: 'report.pdf', page: 0, page_label: '1', total_pages: 1 },
        },
      ],
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
              kind: { type: 'string', enum: ['document', 'image'] },
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

const probe = (operationId: string, summary: string, contentType: string, mayFail: boolean): JsonObject => ({
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
      ...(mayFail ? failures([503]) : {}),
    },
  },
});

/** The complete interface as an OpenAPI 3.1 document. */
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
      { name: 'operations', description: 'Probes and metrics. They are on another port if OPS_PORT is set.' },
    ],
    paths: {
      '/v2/parse': { post: { tags: ['parse'], ...parseOperation } },
      '/process': { put: { tags: ['parse'], ...processOperation } },
      '/v2/parse/formats': {
        get: {
          operationId: 'listFormats',
          summary: 'List the supported file formats',
          tags: ['parse'],
          responses: {
            '200': success('All file formats.', formatsSchema, {
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
      '/livez': probe('live', 'Whether the process responds', 'application/json', false),
      '/readyz': probe('ready', 'Whether the service accepts requests', 'application/json', true),
      '/metrics': probe('metrics', 'Metrics for Prometheus', 'text/plain', false),
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
