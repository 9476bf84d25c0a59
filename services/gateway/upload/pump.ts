// Moves a request's body into a parser under three watches: how much, how long in all, and how long without a byte.
import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { CancelledError } from '#shared/bus/bus.ts';
import { ParseError } from '#shared/contract/errors.ts';
import { countStreamedBytes } from '#shared/runtime/gc/streamed-bytes.ts';

export interface PumpLimits {
  /** Bytes of the whole body. */
  maxBytes: number;
  /** Milliseconds without a byte; time in which the parser is the slow one does not count. */
  stallMs: number;
  maxMs: number;
}

export function tooLarge(limit: number): ParseError {
  return new ParseError(
    'PAYLOAD_TOO_LARGE',
    `Payload Too Large: a file may be at most ${limit} bytes (${Math.floor(limit / 1024 / 1024)} MiB). Send a smaller file, or split it.`,
  );
}

/**
 * Feeds the body to `sink` and ends it.
 * @param stop ends the feeding early (the parser has failed); the promise then stays as it is
 * @param onChunk sees each chunk before the parser does
 * @throws ParseError PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT; CancelledError where the client went away
 */
export function pumpBody(
  request: IncomingMessage,
  sink: Writable,
  options: { limits: PumpLimits; fileBytes: number; stop: AbortSignal; onChunk: (chunk: Buffer) => void },
): Promise<void> {
  const { limits, stop } = options;
  return new Promise((resolve, reject) => {
    let total = 0;
    const finish = (settle?: () => void): void => {
      clearTimeout(stall);
      clearTimeout(whole);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      sink.off('drain', onDrain);
      stop.removeEventListener('abort', onStop);
      if (!request.complete) request.pause();
      settle?.();
    };
    const late = (what: string): void =>
      finish(() => reject(new ParseError('REQUEST_TIMEOUT', `Request Timeout: the upload ${what}. Send it again.`)));
    let waits = false;
    const stall = setTimeout(() => {
      // A timer that was cleared cannot be refreshed, so this one runs on while the parser is the slow one.
      if (waits) stall.refresh();
      else late(`sent nothing for ${limits.stallMs / 1_000} s`);
    }, limits.stallMs);
    const whole = setTimeout(() => late(`took longer than ${limits.maxMs / 1_000} s`), limits.maxMs);
    const onData = (chunk: Buffer): void => {
      total += chunk.length;
      countStreamedBytes(chunk.length);
      if (total > limits.maxBytes) {
        finish(() => reject(tooLarge(options.fileBytes)));
        return;
      }
      options.onChunk(chunk);
      if (stop.aborted) return;
      if (sink.write(chunk)) stall.refresh();
      else {
        waits = true;
        request.pause();
      }
    };
    const onDrain = (): void => {
      if (!waits) return;
      waits = false;
      stall.refresh();
      request.resume();
    };
    const onEnd = (): void => {
      finish(resolve);
      sink.end();
    };
    const onClose = (): void => finish(() => reject(new CancelledError('the client went away')));
    const onStop = (): void => finish();
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    sink.on('drain', onDrain);
    stop.addEventListener('abort', onStop);
    if (request.destroyed) onClose();
  });
}
