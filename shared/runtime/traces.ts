// Spans of one trace from the HTTP request over the bus to the page that OCR reads; OpenTelemetry is loaded only where its standard variables turn it on.
import { ParseError } from '../contract/errors.ts';
import type { TracingConfig } from './config.ts';

/** Short facts that are no content: names of queues and formats, codes, numbers. Never a file's name, a text, a key. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** W3C Trace Context, as it travels in headers. */
export interface TraceCarrier {
  traceparent?: string;
  tracestate?: string;
}

export interface SpanOptions {
  kind?: 'server' | 'producer' | 'consumer';
  attributes?: SpanAttributes;
  /** Where the trace comes from, for a span whose parent is another process's; without one the span that is being worked on. */
  from?: TraceCarrier;
}

export interface Span {
  /** Runs work as a part of this span: spans begun in it are its children, log lines carry its ids. */
  run<T>(work: () => T): T;
  /** What goes with a message, so that who takes it makes children of this span. */
  carrier(): TraceCarrier | undefined;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** @param fault code of the error that it ended in */
  end(fault?: string): void;
}

/** What makes spans, where tracing is on. */
export interface Tracer {
  start(name: string, options: SpanOptions): Span;
  /** Ids of the span that is being worked on. */
  current(): { trace_id: string; span_id: string } | undefined;
  /** Sends what is left, for a moment at most. */
  end(): Promise<void>;
}

const NO_SPAN: Span = {
  run: (work) => work(),
  carrier: () => undefined,
  rename: () => undefined,
  set: () => undefined,
  end: () => undefined,
};
const NO_FIELDS = {};

let tracer: Tracer | undefined;

/**
 * Turns tracing on where the configuration asks for it, for the whole process.
 * @param service name of the service, for `service.name` where no variable names one
 * @returns ends it: sends what is left, for a moment at most, and never throws
 */
export async function startTracing(
  config: TracingConfig | undefined,
  service: string,
  warn: (problem: string) => void,
): Promise<() => Promise<void>> {
  if (!config) return async () => undefined;
  const { createTracer } = await import('./traces/otlp.ts');
  const started = createTracer(config, service, warn);
  tracer = started;
  return async () => {
    if (tracer === started) tracer = undefined;
    await started.end();
  };
}

/** Begins a span; its `end` must be called. Costs nothing where tracing is off. */
export function startSpan(name: string, options: SpanOptions = {}): Span {
  return tracer?.start(name, options) ?? NO_SPAN;
}

/** Runs work as a span of its own, ended with the work. */
export async function inSpan<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  if (!tracer) return work(NO_SPAN);
  const span = startSpan(name, options);
  try {
    const result = await span.run(() => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error instanceof ParseError ? error.code : error instanceof Error ? error.name : 'unknown');
    throw error;
  }
}

/** `trace_id` and `span_id` for a log line; empty where tracing is off or nothing is being worked on. */
export function traceFields(): object {
  return tracer?.current() ?? NO_FIELDS;
}
