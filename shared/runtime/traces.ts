// Creates the spans of a trace, from the HTTP request over the bus to the OCR of a page, and loads OpenTelemetry only if tracing is on.
import { ParseError } from '../contract/errors.ts';
import type { TracingConfig } from './config.ts';
import type { Span, SpanOptions, Tracer } from './traces/span.ts';

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
 * Turns tracing on for this process if the configuration enables it.
 * @param service value of `service.name` if no variable sets it
 * @param warn called at most once a minute while spans cannot be sent
 * @returns a function that stops tracing; see `Tracer.end`
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

/** Starts a span. The caller must call its `end`. Does nothing if tracing is off. */
export function startSpan(name: string, options: SpanOptions = {}): Span {
  return tracer?.start(name, options) ?? NO_SPAN;
}

/** Runs `work` in a new span, and ends the span when the work is done or fails. */
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

/** `trace_id` and `span_id` for a log line; empty if no span is active. */
export function traceFields(): object {
  return tracer?.current() ?? NO_FIELDS;
}
