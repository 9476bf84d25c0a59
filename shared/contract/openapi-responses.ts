// Describes the responses of the interface for the OpenAPI document: those with status 200, and the errors with the bodies that the server sends.
import { ERROR_CODES, type ErrorCode, type FieldIssue, ParseError } from './errors.ts';
import { EXTENSIONS } from './formats.ts';
import type { JsonObject, JsonValue } from './json-value.ts';
import { REQUEST_LIMITS } from './limits.ts';
import { readParseOptions } from './options.ts';

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

interface ErrorExample {
  error: string;
  details?: FieldIssue[] | undefined;
}

/** The error that these options get. */
function optionsError(options: unknown): ErrorExample {
  try {
    readParseOptions(options);
  } catch (error) {
    if (error instanceof ParseError) return { error: error.message, details: error.details };
  }
  throw new Error('the options of this example must be invalid');
}

/** Messages that the server sends where the code has no fixed one. */
const EXAMPLES: Partial<Record<ErrorCode, ErrorExample>> = {
  BAD_REQUEST: optionsError({ formats: ['md'] }),
  PARSE_UNSUPPORTED_OPTIONS: optionsError({ formats: ['screenshot'] }),
  UNSUPPORTED_FILE_TYPE: {
    error: `Unsupported file type: \`.exe\` files are not supported. Supported extensions: ${EXTENSIONS.join(', ')}`,
  },
  MODEL_NOT_CONFIGURED: {
    error:
      'The `json` format needs a language model, and this server has none (LLM_BASE_URL, LLM_MODEL); request `markdown` instead',
  },
  FORBIDDEN: {
    error:
      'Forbidden: zero data retention is not enabled for this API key; leave out `zeroDataRetention`, or use a key that allows it',
  },
  METHOD_NOT_ALLOWED: { error: 'Method Not Allowed: send a POST request to /v2/parse' },
  REQUEST_TIMEOUT: {
    error:
      'Request Timeout: the request did not finish within its `timeout`. Set a longer `timeout` (at most 300000 ms) or request fewer pages.',
  },
  DOCUMENT_ENCRYPTED: {
    error:
      'The PDF is encrypted and needs a password: send it as `password` of the pdf parser, for example {"parsers":[{"type":"pdf","password":"..."}]}',
  },
  SCHEMA_INVALID: {
    error:
      'Unprocessable Entity: the schema is not a valid JSON Schema: at `/type`: must be equal to one of the allowed values',
  },
  RATE_LIMIT_EXCEEDED: {
    error:
      'Rate limit exceeded: this API key may send 60 requests per minute. Please wait 2 s and send the request again.',
  },
};

export const requestIdHeader: JsonObject = {
  description: 'Identifies the request in logs: the value from the request if it is valid, else a generated one.',
  schema: { type: 'string' },
};
const retryAfterHeader: JsonObject = {
  description: 'Seconds to wait before the next attempt, an integer of at least 1.',
  schema: { type: 'integer', minimum: 1 },
};

function failureResponse(status: number, description: string, codes: readonly ErrorCode[]): JsonObject {
  const examples = codes.map((code): [string, JsonValue] => {
    const { error = ERROR_CODES[code].message, details } = EXAMPLES[code] ?? {};
    const issues = details?.map((issue): JsonObject => ({ ...issue }));
    return [code, { value: { success: false, error, code, ...(issues ? { details: issues } : {}) } }];
  });
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

export const failures = (statuses?: readonly number[]): JsonObject =>
  Object.fromEntries(
    FAILURES.filter(([status]) => !statuses || statuses.includes(status)).map(([status, description, codes]) => [
      String(status),
      failureResponse(status, description, codes),
    ]),
  );

/** A response with status 200 and a JSON body. */
export const success = (description: string, schema: JsonObject, example: JsonValue): JsonObject => ({
  description,
  headers: { 'X-Request-Id': requestIdHeader },
  content: { 'application/json': { schema, example } },
});
