// Sends the body of a parse response: a small one at once, a large one as a stream at the speed at which the client reads.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { CancelledError } from '#shared/bus/bus.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { countStreamedBytes } from '#shared/runtime/gc/streamed-bytes.ts';
import { startBody } from './compression.ts';

/** A response body whose first chunks have been read. */
export interface BufferedBody {
  start: Uint8Array[];
  /** Undefined if `start` is the entire body. */
  rest: AsyncIterator<Uint8Array> | undefined;
}

/**
 * Reads the first `responseBufferBytes` of a body, which is usually all of it. An error in this part can still become an error response,
 * because no byte has been sent.
 * @throws any error of `chunks`
 */
export async function bufferBody(chunks: AsyncIterable<Uint8Array>): Promise<BufferedBody> {
  const rest = chunks[Symbol.asyncIterator]();
  const start: Uint8Array[] = [];
  for (let size = 0; size <= REQUEST_LIMITS.responseBufferBytes; ) {
    const next = await rest.next();
    if (next.done) return { start, rest: undefined };
    start.push(next.value);
    size += next.value.byteLength;
  }
  return { start, rest };
}

/**
 * Sends a body with status 200.
 * @param signal aborts when the client disconnects
 * @throws CancelledError if the client disconnects or stops reading; any error of the rest of the body
 */
export async function sendBody(
  request: IncomingMessage,
  response: ServerResponse,
  contentType: string,
  body: BufferedBody,
  signal: AbortSignal,
): Promise<void> {
  throwIfDisconnected(signal);
  const size = body.start.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const output = startBody(request, response, contentType, body.rest ? undefined : size);
  await writeBody(output, body, signal);
  output.end();
}

/** Writes a body at the speed at which the client reads. @throws as `sendBody` */
export async function writeBody(output: Writable, { start, rest }: BufferedBody, signal: AbortSignal): Promise<void> {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    yield* start.splice(0);
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  };
  try {
    for await (const chunk of chunks()) {
      throwIfDisconnected(signal);
      countStreamedBytes(chunk.byteLength);
      if (output.write(chunk)) continue;
      const stopWaiting = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMITS.responseStallMs)]);
      await once(output, 'drain', { signal: stopWaiting }).catch((cause: unknown) => {
        throw new CancelledError('the client disconnected or stopped reading', { cause });
      });
    }
  } finally {
    await rest?.return?.();
  }
}

function throwIfDisconnected(signal: AbortSignal): void {
  if (signal.aborted) throw new CancelledError('the client disconnected');
}
