// Sends one parse request and reports its progress, from the upload to the last event.
import type { ParseResponse } from '#shared/contract/response.ts';
import type { Options } from './code.ts';
import { EventStreamReader } from './event-stream.ts';

export type ParseData = ParseResponse['data'];

/** What the server does, or `upload` while the file is being sent. */
export interface Progress {
  stage: string;
  /** Units that are done, of `total`: bytes of the upload, or pages. */
  done?: number;
  total?: number;
}

interface StageTime {
  stage: string;
  milliseconds: number;
}

export interface Outcome {
  data: ParseData;
  times: StageTime[];
  totalMs: number;
}

export interface ApiFailure {
  /** HTTP status; 0 if no response arrived. */
  status: number;
  error: string;
  code?: string;
  details?: readonly { path: string; message: string }[];
  requestId?: string;
  retryAfterSeconds?: number;
}

/** A request that failed, in the words of the API. */
export class RequestError extends Error {
  readonly failure: ApiFailure;
  constructor(failure: ApiFailure) {
    super(failure.error);
    this.failure = failure;
  }
}

/** All stages in their order. `ocr` is a part of `convert`. */
const STAGES = ['upload', 'queue', 'convert', 'ocr', 'redact', 'enrich'];

interface ParseCall {
  key: string;
  file: File;
  options: Options;
  onProgress: (progress: Progress) => void;
  signal: AbortSignal;
}

/** Attributes the time between two progress reports to the stage of the first one. */
class StageClock {
  readonly #times = new Map<string, number>();
  readonly #startedAt = performance.now();
  #stage: string;
  #since = this.#startedAt;

  constructor(stage: string) {
    this.#stage = stage;
  }

  enter(stage: string): void {
    const now = performance.now();
    this.#times.set(this.#stage, (this.#times.get(this.#stage) ?? 0) + now - this.#since);
    this.#stage = stage;
    this.#since = now;
  }

  /** @param server the milliseconds by stage that the server measured. Its conversion includes OCR. */
  finish(server: Readonly<Record<string, number>>): Pick<Outcome, 'times' | 'totalMs'> {
    this.enter('');
    const seen = Object.fromEntries(this.#times);
    const { receive: _, convert, ...later } = server;
    const ocr = seen.ocr === undefined ? {} : { ocr: seen.ocr };
    // The upload ends for the browser when it has sent the last byte.
    const times = new Map(Object.entries(convert === undefined ? seen : { ...later, ...ocr, convert }));
    times.set('upload', seen.upload ?? 0);
    return {
      times: STAGES.flatMap((stage) => {
        const milliseconds = times.get(stage);
        return milliseconds === undefined ? [] : [{ stage, milliseconds }];
      }),
      totalMs: performance.now() - this.#startedAt,
    };
  }
}

/**
 * Sends the file and the options, as docs/api.md describes it.
 * XMLHttpRequest, because fetch does not report the progress of an upload.
 * @throws RequestError; AbortError if `signal` is aborted
 */
export function sendParse({ key, file, options, onProgress, signal }: ParseCall): Promise<Outcome> {
  const body = new FormData();
  if (Object.keys(options).length > 0) body.append('options', JSON.stringify(options));
  body.append('file', file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const clock = new StageClock('upload');
    const report = (progress: Progress): void => {
      clock.enter(progress.stage);
      onProgress(progress);
    };
    const events = new EventStreamReader();
    let readLength = 0;
    let ended = false;
    let timings: Readonly<Record<string, number>> = {};
    const settle = (status: number, text: string): void => {
      ended = true;
      const answer = readAnswer(status, text, request);
      if (answer instanceof RequestError) reject(answer);
      else resolve({ data: answer, ...clock.finish({ ...serverTiming(request), ...timings }) });
    };
    const readEvents = (): void => {
      if (ended || request.readyState < XMLHttpRequest.LOADING || !isEventStream(request)) return;
      const text = request.responseText;
      for (const { event, data } of events.read(text.slice(readLength))) {
        if (event === 'progress') report(readProgress(data));
        else if (event === 'timings') timings = JSON.parse(data) as Record<string, number>;
        else if (event === 'result') settle(200, data);
        else if (event === 'error') settle(statusOf(data), data);
      }
      readLength = text.length;
    };
    request.open('POST', '/v2/parse');
    request.setRequestHeader('Authorization', `Bearer ${key}`);
    request.setRequestHeader('Accept', 'text/event-stream, application/json');
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      report({ stage: 'upload', done: loaded, total }),
    );
    request.upload.addEventListener('load', () => report({ stage: 'convert' }));
    request.addEventListener('progress', readEvents);
    request.addEventListener('load', () => {
      readEvents();
      if (ended) return;
      if (isEventStream(request)) reject(noAnswer('The connection ended before the result was complete.'));
      else settle(request.status, request.responseText);
    });
    request.addEventListener('error', () =>
      reject(noAnswer('No response arrived. The server may be down, or it closed the connection during the upload.')),
    );
    const abort = (): void => request.abort();
    request.addEventListener('abort', () => reject(new DOMException('The request was cancelled', 'AbortError')));
    request.addEventListener('loadend', () => signal.removeEventListener('abort', abort));
    signal.addEventListener('abort', abort);
    request.send(body);
  });
}

const isEventStream = (request: XMLHttpRequest): boolean =>
  (request.getResponseHeader('Content-Type') ?? '').startsWith('text/event-stream');

/** Milliseconds by stage of the header `Server-Timing` (W3C), which an answer without events has. */
function serverTiming(request: XMLHttpRequest): Record<string, number> {
  const header = request.getResponseHeader('Server-Timing') ?? '';
  return Object.fromEntries(
    [...header.matchAll(/(\w+);dur=([\d.]+)/g)].map(([, stage = '', value]) => [stage, Number(value)]),
  );
}

const noAnswer = (error: string): RequestError => new RequestError({ status: 0, error });

function readProgress(data: string): Progress {
  const { stage, pagesDone, pages } = JSON.parse(data) as { stage: string; pagesDone?: number; pages?: number };
  return { stage, done: pagesDone, total: pages };
}

function statusOf(data: string): number {
  const { status } = JSON.parse(data) as { status?: number };
  return status ?? 500;
}

/** The record, or the error of a JSON body. */
function readAnswer(status: number, text: string, request: XMLHttpRequest): ParseData | RequestError {
  const requestId = request.getResponseHeader('X-Request-Id') ?? undefined;
  let body: Partial<ApiFailure> & { success?: boolean; data?: ParseData; retryAfter?: number } = {};
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    return new RequestError({ status, error: `The response with status ${status} is not JSON.`, requestId });
  }
  if (body.success === true && body.data) return body.data;
  // An event has it in its data, because the headers are sent before.
  const retryAfter = body.retryAfter ?? Number(request.getResponseHeader('Retry-After'));
  return new RequestError({
    status,
    error: body.error ?? `The request failed with status ${status}.`,
    code: body.code,
    details: body.details,
    requestId,
    retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
  });
}
