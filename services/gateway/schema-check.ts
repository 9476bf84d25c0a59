// Checks the JSON Schema of a `json` format before its file is converted. The enrich service compiles it in an isolated process.
import { createHash } from 'node:crypto';
import type { Transport } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import type { SchemaJob } from '#shared/contract/jobs.ts';
import { checkSchemaSize, invalidSchema } from '#shared/contract/json-schema.ts';
import { QUEUES } from '#shared/contract/services.ts';
import { dispatch } from '#shared/runtime/dispatch.ts';
import { deletePayload, storeBytes } from '#shared/runtime/payload.ts';

/** Valid schemas that a gateway remembers by their hash, because a client sends the same schema with every file. */
const REMEMBERED = 1_000;

interface SchemaRequest {
  requestId: string;
  /** Epoch milliseconds. */
  deadline: number;
  /** Teams take turns in the queue of the enrich service. */
  team: string;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  /** Keep the schema in memory only (zero data retention). */
  volatile: boolean;
}

export class SchemaChecker {
  readonly #transport: Transport;
  /** Hashes of valid schemas, the latest last. */
  readonly #valid = new Set<string>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Checks the size of the schema at once, and the rest in the enrich service.
   * @throws ParseError SCHEMA_INVALID with the position of the fault, or the limit that the schema exceeds; the errors of `dispatch`
   */
  async check(schema: Record<string, unknown>, request: SchemaRequest): Promise<void> {
    checkSchemaSize(schema);
    const text = JSON.stringify(schema);
    const hash = createHash('sha256').update(text).digest('base64url');
    if (!this.#valid.delete(hash)) await this.#compile(text, request);
    this.#valid.add(hash);
    for (const oldest of this.#valid) {
      if (this.#valid.size <= REMEMBERED) break;
      this.#valid.delete(oldest);
    }
  }

  async #compile(text: string, { requestId, ...options }: SchemaRequest): Promise<void> {
    const job: SchemaJob = { kind: 'check-schema', requestId };
    const { payloads } = this.#transport;
    const payload = await storeBytes(payloads, Buffer.from(text), { volatile: options.volatile, reader: 'enrich' });
    try {
      await dispatch(this.#transport, 'enrich', job, payload, options);
    } catch (error) {
      throw asSchemaError(error);
    } finally {
      void deletePayload(payloads, payload);
    }
  }
}

/** The isolated process reports its end as one that a document has caused. */
function asSchemaError(error: unknown): unknown {
  if (!(error instanceof ParseError)) return error;
  if (error.code === 'DOCUMENT_TOO_COMPLEX')
    return invalidSchema(
      `is too complex: its compilation needs more than ${QUEUES.enrich.memoryMiB} MiB of memory. Send a simpler schema`,
      error,
    );
  if (error.code === 'CONVERSION_FAILED')
    return invalidSchema('is too complex: its compilation failed. Send a simpler schema', error);
  return error;
}
