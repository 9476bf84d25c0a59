// OpenTelemetry's tracer behind our spans, sending OTLP over HTTP; loaded only where tracing is on.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Context,
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingConfig } from '../config.ts';
import { productVersion } from '../metrics.ts';
import type { Span, SpanOptions, TraceCarrier, Tracer } from '../traces.ts';

/** How long an end waits for a collector that may be away. */
const END_MS = 2_000;
/** A collector that is away is told of once in this time. */
const WARN_EVERY_MS = 60_000;
/** UTF-16 code units of an attribute; ours are shorter, and a client's request id is bounded too. */
const ATTRIBUTE_LENGTH = 256;

const KINDS = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER } as const;
const propagator = new W3CTraceContextPropagator();

/** OpenTelemetry specification, "General SDK configuration": OTEL_TRACES_SAMPLER. */
function samplerOf({ sampler, ratio }: TracingConfig): Sampler {
  const roots: Record<string, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const root = roots[sampler.replace('parentbased_', '')]?.() ?? new AlwaysOnSampler();
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

class RecordedSpan implements Span {
  readonly #span: OtelSpan;
  readonly #context: Context;

  constructor(span: OtelSpan, parent: Context) {
    this.#span = span;
    this.#context = trace.setSpan(parent, span);
  }

  run<T>(work: () => T): T {
    return context.with(this.#context, work);
  }

  carrier(): TraceCarrier {
    const carrier: TraceCarrier = {};
    propagator.inject(this.#context, carrier, defaultTextMapSetter);
    return carrier;
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  set(attributes: NonNullable<SpanOptions['attributes']>): void {
    this.#span.setAttributes(attributes);
  }

  end(fault?: string): void {
    if (fault !== undefined) {
      this.#span.setAttribute('error.type', fault);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

/** Starts the SDK. The exporter reads the OTEL_EXPORTER_OTLP_ variables itself. */
export function createTracer(config: TracingConfig, service: string, warn: (problem: string) => void): Tracer {
  let warnedAt = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((error) => {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = performance.now();
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    warn(`traces could not be sent${code}`);
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const own = resourceFromAttributes({ 'service.name': service, 'service.version': productVersion() });
  const provider = new TracerProvider({
    resource: own.merge(
      detectResources({
        detectors: [serviceInstanceIdDetector, resourceAttributesEnvDetector, serviceNameEnvDetector],
      }),
    ),
    sampler: samplerOf(config),
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_LENGTH },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        scheduledDelayMillis: config.delayMs,
        maxQueueSize: config.queueSize,
      }),
    ],
  });
  const tracer = provider.getTracer('parsemesh', productVersion());
  return {
    start(name, { kind, attributes, from }) {
      const parent = from ? propagator.extract(ROOT_CONTEXT, from, defaultTextMapGetter) : context.active();
      const options = {
        kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind],
        ...(attributes ? { attributes } : {}),
      };
      return new RecordedSpan(tracer.startSpan(name, options, parent), parent);
    },
    current() {
      const span = trace.getSpanContext(context.active());
      return span && { trace_id: span.traceId, span_id: span.spanId };
    },
    async end() {
      await Promise.race([provider.shutdown().catch(() => undefined), sleep(END_MS, undefined, { ref: false })]);
    },
  };
}
