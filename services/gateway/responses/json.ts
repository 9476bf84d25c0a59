// Sends JSON responses: small ones at once, large ones as a stream at the speed at which the client reads.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { CancelledError } from '#shared/bus/bus.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import { countStreamedBytes } from '#shared/runtime/gc/streamed-bytes.ts';

const CONTENT_TYPE = { 'Content-Type': 'application/json; charset=utf-8' } as const;

/** Writes the status and headers of a JSON response. @returns the text of the body, which the caller writes */
export function startJson(response: ServerResponse, status: number, body: object): string {
  const text = JSON.stringify(body);
  response.writeHead(status, { ...CONTENT_TYPE, 'Content-Length': Buffer.byteLength(text) });
  return text;
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.end(startJson(response, status, body));
}

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
 * Sends a JSON body with status 200.
 * @param signal aborts when the client disconnects
 * @throws CancelledError if the client disconnects or stops reading; any error of the rest of the body
 */
export async function sendBody(response: ServerResponse, body: BufferedBody, signal: AbortSignal): Promise<void> {
  const { start, rest } = body;
  throwIfDisconnected(signal);
  if (rest) {
    response.writeHead(200, CONTENT_TYPE);
    await streamBody(response, start, rest, signal);
  } else {
    const size = start.reduce((sum, chunk) => sum + chunk.byteLength, 0);
    response.writeHead(200, { ...CONTENT_TYPE, 'Content-Length': size });
    for (const chunk of start) response.write(chunk);
  }
  response.end();
}

async function streamBody(
  response: ServerResponse,
  start: Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    yield* start.splice(0);
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  };
  try {
    for await (const chunk of chunks()) {
      throwIfDisconnected(signal);
      countStreamedBytes(chunk.byteLength);
      if (response.write(chunk)) continue;
      const stopWaiting = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMITS.responseStallMs)]);
      await once(response, 'drain', { signal: stopWaiting }).catch((cause: unknown) => {
        throw new CancelledError('the client disconnected or stopped reading', { cause });
      });
    }
  } finally {
    await rest.return?.();
  }
}

function throwIfDisconnected(signal: AbortSignal): void {
  if (signal.aborted) throw new CancelledError('the client disconnected');
}
