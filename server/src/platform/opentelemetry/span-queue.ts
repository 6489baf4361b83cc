import { TraceFlags } from '@opentelemetry/api'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'

/** Spans that wait for the collector, about 1 KB each. */
const MAX_QUEUED = 2_048
const MIN_REPORT_INTERVAL_MS = 60_000

interface Deps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

type Reason = 'queue_full' | 'export_failed'

/** Counts spans that no collector gets, and logs their number at most once per minute. */
export class DroppedSpans {
  readonly #deps: Deps
  readonly #count: ReturnType<Metrics['counter']>
  #unreported = 0
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(deps: Deps) {
    this.#deps = deps
    this.#count = deps.metrics.counter('jeton_trace_spans_dropped_total')
  }

  add(count: number, reason: Reason, error?: Error): void {
    this.#count({ reason }).add(count)
    this.#unreported += count
    const now = this.#deps.clock.monotonic()
    if (now - this.#reportedAt < MIN_REPORT_INTERVAL_MS) return
    this.#deps.log.warn(
      { spans: this.#unreported, reason: describe(reason, error) },
      'trace spans were dropped',
    )
    this.#unreported = 0
    this.#reportedAt = now
  }
}

function describe(reason: Reason, error: (Error & { code?: unknown }) | undefined): string {
  if (reason === 'queue_full') return 'the collector accepts spans more slowly than Jeton creates them'
  return error?.message || String(error?.code ?? 'the collector did not accept them')
}

/** Exports ended spans in batches of the SDK, in the background. The queue is bounded, so a slow collector costs spans, not memory. */
export class SpanQueue implements SpanProcessor {
  readonly #batches: BatchSpanProcessor
  readonly #dropped: DroppedSpans
  #queued = 0

  constructor(exporter: SpanExporter, dropped: DroppedSpans) {
    this.#dropped = dropped
    const counting: SpanExporter = {
      export: (spans, done) => {
        this.#queued -= spans.length
        exporter.export(spans, (result) => {
          if (result.code !== 0) dropped.add(spans.length, 'export_failed', result.error)
          done(result)
        })
      },
      shutdown: () => exporter.shutdown(),
    }
    this.#batches = new BatchSpanProcessor({ exporter: counting, maxQueueSize: MAX_QUEUED })
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return
    if (this.#queued >= MAX_QUEUED) this.#dropped.add(1, 'queue_full')
    else {
      this.#queued++
      this.#batches.onEnd(span)
    }
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush()
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown()
  }
}
