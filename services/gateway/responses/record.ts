// Builds the success response around the JSON text of the record, without parsing the text, because it may have tens of megabytes.
import { ParseError } from '#shared/contract/errors.ts';
import type { DocumentMetadata, RecordReport } from '#shared/contract/jobs.ts';

/** Metadata that only the gateway has. It overrides metadata of the same name from the document. */
interface GatewayMetadata {
  fileName: string;
  /** MIME type of the detected format. A MIME type from the worker takes precedence, because the worker has read the file. */
  contentType: string;
  creditsUsed: number;
  requestId: string;
  /** Milliseconds in the concurrency queue; undefined if the request did not wait. */
  queuedMs: number | undefined;
}

/** Builds `data.metadata` (docs/api.md, "Metadata"). */
export function buildMetadata(fromDocument: DocumentMetadata, own: GatewayMetadata): DocumentMetadata {
  const { concurrencyQueueDurationMs: _, ...rest } = fromDocument;
  return {
    ...rest,
    sourceURL: own.fileName,
    url: own.fileName,
    statusCode: 200,
    contentType: typeof fromDocument.contentType === 'string' ? fromDocument.contentType : own.contentType,
    creditsUsed: own.creditsUsed,
    concurrencyLimited: own.queuedMs !== undefined,
    ...(own.queuedMs === undefined ? {} : { concurrencyQueueDurationMs: Math.round(own.queuedMs) }),
    requestId: own.requestId,
  };
}

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
export const notARecord = (): ParseError =>
  new ParseError('BAD_GATEWAY', 'Bad Gateway: a service returned an invalid record');

/**
 * Writes the body of a success response: `{"success":true,"data":{` fields, warning, metadata `}}`.
 * @param fields JSON text of one object, without whitespace around it, in chunks
 * @throws ParseError BAD_GATEWAY if `fields` does not start and end as an object
 */
export async function* writeRecord(
  fields: AsyncIterable<Uint8Array>,
  report: RecordReport,
): AsyncGenerator<Uint8Array> {
  const warning = report.warnings.length === 0 ? undefined : report.warnings.join(' ');
  // JSON.stringify omits undefined members. The opening brace is cut off, because these members continue the record's object.
  const tail = `${JSON.stringify({ warning, metadata: report.metadata }).slice(1)}}`;
  let hasMembers = false;
  yield Buffer.from('{"success":true,"data":{');
  for await (const text of membersOf(fields)) {
    hasMembers = true;
    yield text;
  }
  yield Buffer.from(hasMembers ? `,${tail}` : tail);
}

/**
 * Yields the text between the braces of a JSON object.
 * @param object JSON text, without whitespace around it, in chunks
 * @throws ParseError BAD_GATEWAY if the text does not start and end as an object
 */
export async function* membersOf(object: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let opened = false;
  // The last byte so far. It may be the closing brace.
  let lastByte: Uint8Array | undefined;
  for await (const chunk of object) {
    let rest = chunk;
    if (!opened && rest.length > 0) {
      if (rest[0] !== OPEN_BRACE) throw notARecord();
      opened = true;
      rest = rest.subarray(1);
    }
    if (rest.length === 0) continue;
    if (lastByte) yield lastByte;
    if (rest.length > 1) yield rest.subarray(0, -1);
    lastByte = rest.subarray(-1);
  }
  if (lastByte?.[0] !== CLOSE_BRACE) throw notARecord();
}
