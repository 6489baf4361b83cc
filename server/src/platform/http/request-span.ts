import { parseTraceparent, type Span, type Tracer } from '../tracing.ts'
import type { AccessLogEntry, EnterSpan, TracedRequest } from './app.ts'

/** Probes and scrapes would hide the requests that matter. */
const UNTRACED = /^\/(health\/.*|metrics)$/
/** Route of paths that do not exist. */
const NO_ROUTE = 'unknown'

/** Prepares the spans of a route; undefined if it is not traced. */
export function spanFor(tracer: Tracer | undefined, route: string): EnterSpan | undefined {
  if (!tracer || UNTRACED.test(route)) return undefined
  const hasRoute = route !== NO_ROUTE
  return (request, work) => {
    const { id, method, headers } = request
    const span = tracer.start(hasRoute ? `${method} ${route}` : method, {
      kind: 'server',
      parent: parseTraceparent(headers.traceparent) ?? null,
      attributes: {
        'http.request.method': method,
        ...(hasRoute && { 'http.route': route }),
        'jeton.request_id': id,
      },
    })
    request.span = span
    tracer.within(span, work)
  }
}

/** A 4xx is the client's error, so the span of the server has not failed. */
export function endSpan(span: Span, { status }: Pick<AccessLogEntry, 'status'>): void {
  span.set({ 'http.response.status_code': status })
  span.end(status >= 500 ? String(status) : undefined)
}

/** Trace of a request: its span if requests are traced, else the valid `traceparent` that it carries. */
export const traceparentOf = ({ span, headers }: Pick<TracedRequest, 'span' | 'headers'>): string | null =>
  span?.traceparent ?? parseTraceparent(headers.traceparent) ?? null
