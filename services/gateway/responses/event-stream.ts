// Answers a parse with server-sent events: its progress while it runs, then its result or its error (docs/api.md, "Event stream").
import type { ServerResponse } from 'node:http';
import type { ParseError } from '#shared/contract/errors.ts';
import { REQUEST_LIMITS } from '#shared/contract/limits.ts';
import type { ErrorEvent, ProgressEvent, Timings } from '#shared/contract/progress.ts';
import { type BufferedBody, writeBody } from './body.ts';
import { errorBody } from './error-body.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

const HEADERS = {
  'Content-Type': EVENT_STREAM_TYPE,
  'Cache-Control': 'no-store',
  // nginx collects a response before it passes it on, unless this header forbids it.
  'X-Accel-Buffering': 'no',
} as const;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

export class EventStream {
  readonly #response: ServerResponse;
  readonly #keepAlive: NodeJS.Timeout;
  /** The status that the response would have without the stream. */
  status = 200;
  /** Text of the latest progress event. */
  #latest = '';
  /** The last event has begun. */
  #ending = false;

  /** Sends the headers. After this, an error is an event. */
  constructor(response: ServerResponse) {
    this.#response = response;
    response.writeHead(200, HEADERS);
    this.#keepAlive = setInterval(() => this.#writeUnlessSlow(': keep-alive\n\n'), REQUEST_LIMITS.eventKeepAliveMs);
    response.once('close', () => clearInterval(this.#keepAlive));
  }

  /** Sends the progress if it changed. A client that reads slowly misses it. */
  progress(event: ProgressEvent): void {
    const text = eventText('progress', event);
    if (text === this.#latest) return;
    this.#latest = text;
    this.#writeUnlessSlow(text);
  }

  /**
   * Sends the timings and the result, and ends the stream.
   * @param body one JSON value
   * @throws CancelledError if the client disconnects or stops reading; any error of the rest of the body
   */
  async sendResult(body: BufferedBody, timings: Timings, signal: AbortSignal): Promise<void> {
    this.#beginLastEvent();
    this.#response.write(eventText('timings', timings));
    this.#response.write('event: result\ndata: ');
    await writeBody(this.#response, onOneLine(body), signal);
    this.#response.end('\n\n');
  }

  /** Sends the error and ends the stream. Destroys the connection if the result has already begun. */
  fail(error: ParseError): void {
    this.status = error.status;
    if (this.#ending || this.#response.destroyed) {
      this.#response.destroy();
      return;
    }
    this.#beginLastEvent();
    const data: ErrorEvent = {
      status: error.status,
      ...errorBody(error),
      ...(error.retryAfterSeconds === undefined ? {} : { retryAfter: Math.max(1, Math.ceil(error.retryAfterSeconds)) }),
    };
    this.#response.end(eventText('error', data));
  }

  #beginLastEvent(): void {
    this.#ending = true;
    clearInterval(this.#keepAlive);
  }

  #writeUnlessSlow(text: string): void {
    if (!this.#ending && !this.#response.destroyed && !this.#response.writableNeedDrain) this.#response.write(text);
  }
}

/** JSON.stringify writes no line break, so the data is one line. */
const eventText = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** Replaces line breaks, because one would end the event. JSON has them between its tokens only, where a space means the same. */
function onOneLine({ start, rest }: BufferedBody): BufferedBody {
  return {
    start: start.map(withoutLineBreaks),
    rest: rest && {
      async next() {
        const next = await rest.next();
        return next.done ? next : { value: withoutLineBreaks(next.value) };
      },
      async return() {
        await rest.return?.();
        return { done: true, value: undefined };
      },
    },
  };
}

function withoutLineBreaks(chunk: Uint8Array): Uint8Array {
  if (!chunk.includes(LINE_FEED) && !chunk.includes(CARRIAGE_RETURN)) return chunk;
  return chunk.map((byte) => (byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte));
}
