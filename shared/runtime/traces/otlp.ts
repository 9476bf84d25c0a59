// Implements tracing with OpenTelemetry, which sends spans as OTLP over HTTP; loaded only if tracing is on.
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
import type { Span, SpanAttributes, TraceCarrier, Tracer } from './span.ts';

/** How long `end` waits for the collector. */
const SHUTDOWN_MS = 2_000;
/** Minimum time between two warnings that spans cannot be sent. */
const WARN_INTERVAL_MS = 60_000;
/** Maximum length of an attribute value, in UTF-16 code units. */
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

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.#span.setAttribute('error.type', error);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

/** Starts the OpenTelemetry SDK. Its exporter reads the OTEL_EXPORTER_OTLP_ variables itself. */
export function createTracer(config: TracingConfig, service: string, warn: (problem: string) => void): Tracer {
  let warnedAt = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((error) => {
    if (performance.now() - warnedAt < WARN_INTERVAL_MS) return;
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
      await Promise.race([provider.shutdown().catch(() => undefined), sleep(SHUTDOWN_MS, undefined, { ref: false })]);
    },
  };
}
