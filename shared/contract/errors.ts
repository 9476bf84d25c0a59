// One error type with a closed set of codes, so that HTTP status, message and metric label can never disagree.

/** HTTP status and default wording of every code (SPEC 7, DECISIONS "Errors"). */
export const ERROR_CODES = {
  BAD_REQUEST: { status: 400, message: 'Bad Request' },
  UNSUPPORTED_FILE_TYPE: { status: 400, message: 'Unsupported file type' },
  PARSE_UNSUPPORTED_OPTIONS: { status: 400, message: 'Unsupported options for parse' },
  MODEL_NOT_CONFIGURED: { status: 400, message: 'No language model is configured on this server' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized: Invalid token' },
  PAYMENT_REQUIRED: { status: 402, message: 'Payment Required: Insufficient credits' },
  FORBIDDEN: { status: 403, message: 'Forbidden' },
  NOT_FOUND: { status: 404, message: 'Not Found' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'Method Not Allowed' },
  REQUEST_TIMEOUT: { status: 408, message: 'Request Timeout' },
  CONFLICT: { status: 409, message: 'Conflict' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'Payload Too Large' },
  DOCUMENT_ENCRYPTED: { status: 422, message: 'The document is encrypted' },
  DOCUMENT_CORRUPT: { status: 422, message: 'The document is corrupt or holds nothing that can be read' },
  DOCUMENT_TOO_COMPLEX: { status: 422, message: 'The document passes a limit on what a document may unfold to' },
  CONVERSION_FAILED: { status: 422, message: 'The document made its converter fail' },
  SCHEMA_INVALID: { status: 422, message: 'Unprocessable Entity: the schema is not a valid JSON Schema' },
  EXTRACTION_FAILED: {
    status: 422,
    message: 'Unprocessable Entity: the model gave no result that conforms to the schema',
  },
  RATE_LIMIT_EXCEEDED: { status: 429, message: 'Rate limit exceeded' },
  CONCURRENCY_LIMIT_REACHED: { status: 429, message: 'Concurrency limit reached' },
  UNKNOWN_ERROR: { status: 500, message: 'Internal Server Error' },
  BAD_GATEWAY: { status: 502, message: 'Bad Gateway' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'Service Unavailable' },
  GATEWAY_TIMEOUT: { status: 504, message: 'Gateway Timeout' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** One wrong field of a request: where it is (`parsers[0].maxPages`), what is wrong, and zod's name for it. */
export interface FieldIssue {
  path: string;
  message: string;
  code: string;
}

/** What crosses the bus when a job fails: safe to show to the caller, never a cause or content. */
export interface ErrorRecord {
  code: ErrorCode;
  message: string;
  details?: FieldIssue[];
  /** Whole seconds, at least 1; sent as `Retry-After`. */
  retryAfterSeconds?: number;
}

/**
 * An error whose message is meant for the caller. The logged `cause` stays inside.
 * @throws nothing; construct it where the fault is known.
 */
export class ParseError extends Error {
  override readonly name = 'ParseError';
  readonly code: ErrorCode;
  readonly details: FieldIssue[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message?: string,
    extra: { details?: FieldIssue[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message ?? ERROR_CODES[code].message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.code = code;
    this.details = extra.details;
    this.retryAfterSeconds = extra.retryAfterSeconds;
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  toRecord(): ErrorRecord {
    return {
      code: this.code,
      message: this.message,
      ...(this.details ? { details: this.details } : {}),
      ...(this.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: this.retryAfterSeconds }),
    };
  }

  static fromRecord(record: ErrorRecord): ParseError {
    return new ParseError(record.code, record.message, record);
  }
}
