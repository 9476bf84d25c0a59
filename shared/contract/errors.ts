// Declares the error type of the product and its codes, from which HTTP status, default message and metric label are derived.

/** HTTP status and default message of every code (docs/api.md, "Errors"). */
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
  DOCUMENT_CORRUPT: { status: 422, message: 'The document is corrupt or has no readable content' },
  DOCUMENT_TOO_COMPLEX: { status: 422, message: 'The document exceeds a limit on its size or complexity' },
  CONVERSION_FAILED: { status: 422, message: 'The converter failed on this document' },
  SCHEMA_INVALID: { status: 422, message: 'Unprocessable Entity: the schema is not a valid JSON Schema' },
  EXTRACTION_FAILED: {
    status: 422,
    message: 'Unprocessable Entity: the model returned no result that conforms to the schema',
  },
  RATE_LIMIT_EXCEEDED: { status: 429, message: 'Rate limit exceeded' },
  CONCURRENCY_LIMIT_REACHED: { status: 429, message: 'Concurrency limit reached' },
  UNKNOWN_ERROR: { status: 500, message: 'Internal Server Error' },
  BAD_GATEWAY: { status: 502, message: 'Bad Gateway' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'Service Unavailable' },
  GATEWAY_TIMEOUT: { status: 504, message: 'Gateway Timeout' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** One invalid field of a request: its path (`parsers[0].maxPages`), a message, and zod's issue code. */
export interface FieldIssue {
  path: string;
  message: string;
  code: string;
}

/** An error as it is sent over the bus. The caller may see it: it contains no cause and no document content. */
export interface ErrorRecord {
  code: ErrorCode;
  message: string;
  details?: FieldIssue[];
  /** Seconds, an integer of at least 1. Sent as the `Retry-After` header. */
  retryAfterSeconds?: number;
}

/** An error whose message is sent to the caller. Its `cause` is only logged. */
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
