// Declares spans and tracers, so that code can be traced without loading OpenTelemetry.

/** Short values without document content: names of queues and formats, codes, numbers. Never a file name, text or key. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** W3C Trace Context headers. */
export interface TraceCarrier {
  traceparent?: string;
  tracestate?: string;
}

export interface SpanOptions {
  kind?: 'server' | 'producer' | 'consumer';
  attributes?: SpanAttributes;
  /** Trace context of a parent span in another process. Without it the parent is the active span. */
  from?: TraceCarrier;
}

export interface Span {
  /** Runs `work` with this span active: new spans become its children, and log lines contain its ids. */
  run<T>(work: () => T): T;
  /** Trace context to send with a message, so that the receiver can create child spans. */
  carrier(): TraceCarrier | undefined;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** @param error code of the error, if the span failed */
  end(error?: string): void;
}

export interface Tracer {
  start(name: string, options: SpanOptions): Span;
  /** Ids of the active span. */
  current(): { trace_id: string; span_id: string } | undefined;
  /** Sends the remaining spans. Waits at most 2 s. Never throws. */
  end(): Promise<void>;
}
