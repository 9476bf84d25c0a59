// Generates the OpenAPI 3.1 document from the schemas that validate requests and responses, so that both always agree.
import { z } from 'zod';
import { EXTENSIONS } from './formats.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { REQUEST_EXAMPLES, RESPONSE_EXAMPLES } from './openapi-examples.ts';
import { OTHER_PARSE_TYPES, PARSE_HEADERS } from './openapi-response-types.ts';
import { failures, requestIdHeader, success } from './openapi-responses.ts';
import { teamPaths } from './openapi-team.ts';
import { parseOptionsSchema } from './options-schema.ts';
import { errorEventSchema, progressEventSchema, timingsEventSchema } from './progress.ts';
import { errorResponseSchema, parseResponseSchema } from './response.ts';

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

const toJson = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value));

/** The examples with both parts. The file is a placeholder: JSON cannot hold its bytes. */
const requestExamples: JsonObject = Object.fromEntries(
  Object.entries(REQUEST_EXAMPLES).map(([name, { summary, value }]) => [
    name,
    { summary, value: { file: 'the bytes of the file', options: toJson(value) } },
  ]),
);

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
        examples: requestExamples,
      },
    },
  },
  responses: {
    '200': {
      description: 'The converted document.',
      headers: { 'X-Request-Id': requestIdHeader, ...PARSE_HEADERS },
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/ParseResponse' },
          examples: toJson(RESPONSE_EXAMPLES),
        },
        ...OTHER_PARSE_TYPES,
      },
    },
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
    servers: [{ url: '/', description: 'This server' }],
    security: [{ bearer: [] }],
    tags: [
      { name: 'parse', description: 'Convert files.' },
      { name: 'team', description: 'What a key may still use.' },
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
      ...teamPaths(),
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
        ...components(progressEventSchema, 'ProgressEvent', 'output'),
        ...components(timingsEventSchema, 'TimingsEvent', 'output'),
        ...components(errorEventSchema, 'ErrorEvent', 'output'),
      },
    },
  };
}
