import { Type } from 'typebox'
import { type App, forOperators, unavailable } from '../platform/http/index.ts'

const Health = Type.Object({ status: Type.String() })

interface HealthDeps {
  /** Public, so without details; undefined if the process is ready. */
  whyNotReady(): Promise<string | undefined>
}

/** Live: the process answers. Ready: it can confirm key state, its store accepts writes, and it is not stopping. */
export function healthRoutes(app: App, { whyNotReady }: HealthDeps): void {
  const config = { access: 'public' } as const
  const tags = ['health']

  app.get(
    '/health/live',
    {
      config,
      schema: {
        tags,
        operationId: 'health.live',
        summary: 'Check whether the process responds',
        response: { 200: Health },
      },
    },
    async () => ({ status: 'live' }),
  )
  app.get(
    '/health/ready',
    {
      config,
      schema: {
        tags,
        operationId: 'health.ready',
        summary: 'Check whether the process can serve requests: 200 or 503',
        response: { 200: Health },
      },
    },
    async () => {
      const why = await whyNotReady()
      if (why !== undefined) throw unavailable(`Not ready: ${why}.`)
      return { status: 'ready' }
    },
  )
}

interface MetricsDeps {
  /** Metrics of all HTTP processes; undefined if they cannot be collected. */
  metricsText(): Promise<string | undefined>
  readonly metricsAccess: 'public' | 'operator'
}

export function metricsRoute(app: App, { metricsText, metricsAccess }: MetricsDeps): void {
  app.get(
    '/metrics',
    {
      config: { ...forOperators('viewer', 'all'), access: metricsAccess },
      schema: {
        tags: ['health'],
        operationId: 'health.metrics',
        summary: 'Read metrics in the Prometheus text format',
        description:
          'If the service listens on an address other than loopback, this requires the credential of an operator (`X-Management-Id`, `X-Management-Token`) or its session, unless `JETON_METRICS_PUBLIC`, `JETON_MANAGEMENT_PORT` or `JETON_MANAGEMENT_ALLOW` is set.',
      },
    },
    async (_, reply) => {
      const text = await metricsText()
      // Never the metrics of one process alone: Prometheus would treat a smaller total as a restart.
      if (text === undefined) throw unavailable()
      return reply.header('content-type', 'text/plain; version=0.0.4; charset=utf-8').send(text)
    },
  )
}
