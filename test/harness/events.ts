// Reads a parse as server-sent events, event by event while it runs, and checks the documented order (docs/api.md, "Event stream").
import assert from 'node:assert/strict';
import {
  type ErrorEvent,
  errorEventSchema,
  type ProgressEvent,
  progressEventSchema,
  type Timings,
  timingsEventSchema,
} from '#shared/contract/progress.ts';
import type { ParseRequest } from './client.ts';
import { LONGEST_TIMEOUT_MS } from './client.ts';
import type { Product } from './product.ts';

export interface StreamEvent {
  /** `comment` for a comment line. */
  name: string;
  /** Text of the data, or of the comment. */
  data: string;
}

interface EventResponse {
  status: number;
  headers: Headers;
  events: AsyncGenerator<StreamEvent>;
}

/** Sends a parse with `Accept: text/event-stream`. Resolves when the response starts. */
export async function openEvents(product: Pick<Product, 'url' | 'key'>, request: ParseRequest): Promise<EventResponse> {
  const form = new FormData();
  const options = typeof request.options === 'string' ? JSON.parse(request.options) : request.options;
  form.append('options', JSON.stringify({ timeout: LONGEST_TIMEOUT_MS, ...options }));
  const bytes = typeof request.file === 'string' ? request.file : new Uint8Array(request.file);
  form.append('file', new File([bytes], request.fileName));
  const response = await fetch(`${product.url}/v2/parse`, {
    method: 'POST',
    headers: { authorization: `Bearer ${request.key ?? product.key}`, accept: 'text/event-stream' },
    body: form,
    signal: request.signal ?? null,
  });
  return { status: response.status, headers: response.headers, events: readEvents(response) };
}

async function* readEvents(response: Response): AsyncGenerator<StreamEvent> {
  let text = '';
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) yield readBlock(block);
  }
  assert.equal(text, '', 'the stream ends with a complete event');
}

function readBlock(block: string): StreamEvent {
  if (block.startsWith(':')) return { name: 'comment', data: block.slice(1).trim() };
  const match = /^event: (\w+)\ndata: (.*)$/.exec(block);
  assert.ok(match, `not an event with one line of data: ${JSON.stringify(block.slice(0, 200))}`);
  const [, name = '', data = ''] = match;
  return { name, data };
}

interface EventsOfParse {
  progress: ProgressEvent[];
  timings: Timings | undefined;
  /** Text of the result; undefined if the parse failed. */
  result: string | undefined;
  error: ErrorEvent | undefined;
}

/** Reads all events, and asserts that progress comes first, and then either timings and the result, or an error, as the last event. */
export async function collectEvents({ status, headers, events }: EventResponse): Promise<EventsOfParse> {
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const all: StreamEvent[] = [];
  for await (const event of events) if (event.name !== 'comment') all.push(event);
  const names = all.map(({ name }) => name).join(' ');
  assert.match(names, /^(?:progress )+(?:timings result|error)$/);
  const dataOf = (name: string) => all.find((event) => event.name === name)?.data;
  const [timings, error] = [dataOf('timings'), dataOf('error')];
  return {
    progress: all.flatMap(({ name, data }) =>
      name === 'progress' ? [progressEventSchema.parse(JSON.parse(data))] : [],
    ),
    timings: timings === undefined ? undefined : timingsEventSchema.parse(JSON.parse(timings)),
    result: dataOf('result'),
    error: error === undefined ? undefined : errorEventSchema.parse(JSON.parse(error)),
  };
}
