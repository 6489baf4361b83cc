import { Problem } from '../contract/problem.ts'

/**
 * Interface between Jeton and a tracing library. Without OTEL_EXPORTER_OTLP_ENDPOINT there is no tracer, and code that could
 * create a span checks for undefined. `platform/opentelemetry` implements it and is loaded only with the variable.
 */
export interface Tracer {
  /** The span inside of which this code runs. */
  current(): Span | undefined
  start(name: string, options: SpanOptions): Span
  /** Records a span that has already ended. */
  record(name: string, options: SpanOptions & { durationMs: number; errorType?: string | undefined }): void
  /** Runs the work with the span as the current one, also after each of its awaits. */
  within<T>(span: Span, work: () => T): T
  /** Exports the spans in memory, for a limited time. */
  stop(): Promise<void>
}

export interface Span {
  /** Value of the header `traceparent` that makes another service's spans children of this one. */
  readonly traceparent: string
  set(attributes: Attributes): void
  /** An error type, such as a status or a class, marks the span as failed. */
  end(errorType?: string): void
}

/** Never secrets, tokens, queries, bodies or parameters of statements. */
export type Attributes = Readonly<Record<string, string | number>>

export interface SpanOptions {
  readonly kind: 'server' | 'client' | 'internal'
  readonly attributes: Attributes
  /** A `traceparent`; null starts a new trace. Default: the current span. */
  readonly parent?: string | null
  /** `traceparent`s of related spans. */
  readonly links?: readonly string[]
}

/** Runs the work inside of the span and ends the span. A `Problem` is an answer to the caller, not a failure. */
export async function runInSpan<T>(tracer: Tracer, span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await tracer.within(span, work)
    span.end()
    return result
  } catch (error) {
    span.end(error instanceof Problem ? undefined : errorTypeOf(error))
    throw error
  }
}

export const errorTypeOf = (error: unknown): string => (error instanceof Error ? error.name : 'unknown')

/** W3C Trace Context §3.2.2: version, trace id, parent id and flags in lower case; ids of zeros and version ff are invalid. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * Returns the `traceparent` of a request, or undefined if it is missing, repeated or invalid. One of a later version is
 * rewritten as version 00, as §3.2.4 requires, so the result always has 55 characters.
 */
export function parseTraceparent(header: string | string[] | undefined): string | undefined {
  const [, version, ids, flags, more] = (typeof header === 'string' && TRACEPARENT.exec(header)) || []
  if (ids === undefined) return undefined
  if (version === '00') return more === undefined ? (header as string) : undefined
  return `00-${ids}-0${Number.parseInt(flags!, 16) & 1}`
}
