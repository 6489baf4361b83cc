import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Span as ApiSpan,
  type Tracer as ApiTracer,
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Attributes, Span, SpanOptions, Tracer } from '../tracing.ts'
import { createSampler, type SamplerSettings } from './sampler.ts'
import { DroppedSpans, SpanQueue } from './span-queue.ts'

/** Requests and deliveries have already ended then; process supervisors usually kill after ten seconds. */
const FLUSH_WITHIN_MS = 2_000
/** A batch of tokens links to each of its requests. */
const MAX_LINKS = 256

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }

interface Deps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly sampler: SamplerSettings
  /** Attributes of the resource. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence. */
  readonly resource: Attributes
}

/** Creates a tracer that exports to OTEL_EXPORTER_OTLP_ENDPOINT. The exporter reads its variables from the environment. */
export function createTracer({ sampler, resource, ...deps }: Deps): Tracer {
  const report = (reason: string) => deps.log.warn({ reason }, 'an OpenTelemetry setting is ignored')
  const provider = reportingProblems(
    report,
    () =>
      new TracerProvider({
        resource: defaultResource()
          .merge(resourceFromAttributes(resource))
          .merge(detectResources({ detectors: [envDetector] })),
        sampler: createSampler(sampler, report),
        spanLimits: { linkCountLimit: MAX_LINKS },
        spanProcessors: [new SpanQueue(new OTLPTraceExporter(), new DroppedSpans(deps))],
      }),
  )
  return new SdkTracer(provider, deps.clock)
}

/** Only the set-up logs messages of the SDK. Later ones repeat with every batch, and `DroppedSpans` reports their effect. */
function reportingProblems<T>(report: (problem: string) => void, create: () => T): T {
  const ignore = () => undefined
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.WARN,
  )
  try {
    return create()
  } finally {
    diag.disable()
  }
}

class SdkTracer implements Tracer {
  readonly #provider: TracerProvider
  readonly #tracer: ApiTracer
  readonly #clock: Clock
  readonly #storage = new AsyncLocalStorage<SdkSpan>()

  constructor(provider: TracerProvider, clock: Clock) {
    this.#provider = provider
    this.#tracer = provider.getTracer('jeton')
    this.#clock = clock
  }

  current(): Span | undefined {
    return this.#storage.getStore()
  }

  start(name: string, options: SpanOptions): Span {
    return new SdkSpan(this.#start(name, options))
  }

  record(name: string, options: Parameters<Tracer['record']>[1]): void {
    const end = Date.now()
    const span = this.#start(name, options, end - options.durationMs)
    fail(span, options.errorType)
    span.end(end)
  }

  within<T>(span: Span, work: () => T): T {
    return this.#storage.run(span as SdkSpan, work)
  }

  async stop(): Promise<void> {
    const flushed = new AbortController()
    const flushing = this.#provider
      .shutdown()
      .catch(() => undefined)
      .finally(() => flushed.abort())
    await Promise.race([flushing, this.#clock.sleep(FLUSH_WITHIN_MS, flushed.signal)])
  }

  #start(name: string, { kind, attributes, parent, links = [] }: SpanOptions, startTime?: number): ApiSpan {
    const options = { kind: KINDS[kind], attributes, startTime, links: links.map(toLink) }
    return this.#tracer.startSpan(name, options, this.#contextOf(parent))
  }

  #contextOf(parent: string | null | undefined): Context {
    if (parent !== undefined)
      return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toContext(parent))
    const current = this.#storage.getStore()
    return current ? trace.setSpan(ROOT_CONTEXT, current.span) : ROOT_CONTEXT
  }
}

const toLink = (traceparent: string) => ({ context: toContext(traceparent) })

function toContext(traceparent: string): SpanContext {
  const [, traceId, spanId, flags] = traceparent.split('-') as [string, string, string, string]
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

class SdkSpan implements Span {
  readonly span: ApiSpan

  constructor(span: ApiSpan) {
    this.span = span
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.span.spanContext()
    return `00-${traceId}-${spanId}-0${traceFlags & 1}`
  }

  set(attributes: Attributes): void {
    this.span.setAttributes(attributes)
  }

  end(errorType?: string): void {
    fail(this.span, errorType)
    this.span.end()
  }
}

function fail(span: ApiSpan, errorType: string | undefined): void {
  if (errorType === undefined) return
  span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR })
}
