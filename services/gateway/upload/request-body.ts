// Streams a request body into a parser and enforces the size limit, the stall timeout and the total timeout.
import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { CancelledError } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { countStreamedBytes } from '#shared/runtime/gc/streamed-bytes.ts';

export interface UploadLimits {
  /** Bytes of the entire body. */
  maxBytes: number;
  /** Milliseconds without a byte. Time spent waiting for the parser does not count. */
  stallMs: number;
  /** Milliseconds for the entire body. */
  maxMs: number;
}

interface BodyOptions {
  limits: UploadLimits;
  /** File size limit in bytes, for the error message only. */
  maxFileBytes: number;
  /** Stops the transfer when the parser has failed. The returned promise then never settles. */
  stop: AbortSignal;
  /** Sees each chunk before the parser does. */
  onChunk: (chunk: Buffer) => void;
}

export function fileTooLarge(maxFileBytes: number): ParseError {
  return new ParseError(
    'PAYLOAD_TOO_LARGE',
    `Payload Too Large: a file may have at most ${maxFileBytes} bytes (${Math.floor(maxFileBytes / 1024 / 1024)} MiB). Send a smaller file, or split it.`,
  );
}

/** The stall timer and the total timer of one upload. */
class UploadTimers {
  /** True while the parser applies back-pressure. */
  waitingForParser = false;
  readonly #stall: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;

  constructor(limits: UploadLimits, onTimeout: (error: ParseError) => void) {
    const expire = (reason: string): void =>
      onTimeout(new ParseError('REQUEST_TIMEOUT', `Request Timeout: ${reason}. Send the request again.`));
    this.#stall = setTimeout(() => {
      // The stall timer keeps running during back-pressure, because a cleared timer cannot be refreshed.
      if (this.waitingForParser) this.received();
      else expire(`no byte of the upload arrived for ${limits.stallMs / 1_000} s`);
    }, limits.stallMs);
    this.#total = setTimeout(() => expire(`the upload took longer than ${limits.maxMs / 1_000} s`), limits.maxMs);
  }

  /** Restarts the stall timer. */
  received(): void {
    this.#stall.refresh();
  }

  clear(): void {
    clearTimeout(this.#stall);
    clearTimeout(this.#total);
  }
}

/**
 * Writes the request body to `parser` and ends it.
 * @throws ParseError PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT; CancelledError if the client disconnects
 */
export function streamRequestBody(request: IncomingMessage, parser: Writable, options: BodyOptions): Promise<void> {
  const { limits, stop } = options;
  return new Promise((resolve, reject) => {
    let total = 0;
    const finish = (settle?: () => void): void => {
      timers.clear();
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      parser.off('drain', onDrain);
      stop.removeEventListener('abort', onStop);
      if (!request.complete) request.pause();
      settle?.();
    };
    const fail = (error: Error): void => finish(() => reject(error));
    const timers = new UploadTimers(limits, fail);

    const onData = (chunk: Buffer): void => {
      total += chunk.length;
      countStreamedBytes(chunk.length);
      if (total > limits.maxBytes) {
        fail(fileTooLarge(options.maxFileBytes));
        return;
      }
      options.onChunk(chunk);
      if (stop.aborted) return;
      if (parser.write(chunk)) timers.received();
      else {
        timers.waitingForParser = true;
        request.pause();
      }
    };
    const onDrain = (): void => {
      if (!timers.waitingForParser) return;
      timers.waitingForParser = false;
      timers.received();
      request.resume();
    };
    const onEnd = (): void => {
      finish(resolve);
      parser.end();
    };
    const onClose = (): void => fail(new CancelledError('the client disconnected'));
    const onStop = (): void => finish();

    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    parser.on('drain', onDrain);
    stop.addEventListener('abort', onStop);
    if (request.destroyed) onClose();
  });
}
