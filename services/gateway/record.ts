// Writes the answer around the record's JSON text, which may be tens of megabytes and is passed through without being parsed.
import { ParseError } from '#shared/contract/errors.ts';
import type { DocumentMetadata, RecordHead } from '#shared/contract/jobs.ts';

/** What the gateway itself knows of a parse; no name from the document may stand in its place. */
export interface GatewayMetadata {
  fileName: string;
  /** The detected format's MIME type; the worker, which looked inside, may know better. */
  contentType: string;
  creditsUsed: number;
  requestId: string;
  /** Milliseconds in the concurrency queue; undefined where there was no wait. */
  queuedMs: number | undefined;
}

/** `data.metadata` (SPEC 2.8). */
export function assembleMetadata(found: DocumentMetadata, known: GatewayMetadata): DocumentMetadata {
  const { concurrencyQueueDurationMs: _, ...rest } = found;
  return {
    ...rest,
    sourceURL: known.fileName,
    url: known.fileName,
    statusCode: 200,
    contentType: typeof found.contentType === 'string' ? found.contentType : known.contentType,
    creditsUsed: known.creditsUsed,
    concurrencyLimited: known.queuedMs !== undefined,
    ...(known.queuedMs === undefined ? {} : { concurrencyQueueDurationMs: Math.round(known.queuedMs) }),
    requestId: known.requestId,
  };
}

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const broken = (): ParseError =>
  new ParseError('BAD_GATEWAY', 'Bad Gateway: a service answered with something that is not a record');

/**
 * The answer's bytes: `{"success":true,"data":{` fields, warning, metadata `}}`.
 * @param fields JSON text of one object, without blanks around it, in chunks
 * @throws ParseError BAD_GATEWAY where it is none
 */
export async function* writeAnswer(fields: AsyncIterable<Uint8Array>, head: RecordHead): AsyncGenerator<Uint8Array> {
  const warning = head.warnings.length === 0 ? undefined : head.warnings.join(' ');
  // JSON.stringify leaves out what is undefined; the opening brace is the record's own.
  const tail = `${JSON.stringify({ warning, metadata: head.metadata }).slice(1)}}`;
  let opened = false;
  let members = false;
  // The last byte so far: it may be the brace that closes the record, and the tail goes before that.
  let held: Uint8Array | undefined;
  for await (const chunk of fields) {
    let rest = chunk;
    if (!opened && rest.length > 0) {
      if (rest[0] !== OPEN_BRACE) throw broken();
      opened = true;
      yield Buffer.from('{"success":true,"data":{');
      rest = rest.subarray(1);
    }
    if (rest.length === 0) continue;
    if (held) yield held;
    members ||= held !== undefined || rest.length > 1;
    if (rest.length > 1) yield rest.subarray(0, -1);
    held = rest.subarray(-1);
  }
  if (held?.[0] !== CLOSE_BRACE) throw broken();
  yield Buffer.from(members ? `,${tail}` : tail);
}
