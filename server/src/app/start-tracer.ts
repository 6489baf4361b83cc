import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/index.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Tracer } from '../platform/tracing.ts'
import { VERSION } from './version.ts'

interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
}

/** The only protocol of the exporter. */
const PROTOCOL = 'http/protobuf'

/** Returns undefined, and loads nothing, unless OTEL_EXPORTER_OTLP_ENDPOINT is set. */
export async function startTracer(
  { config, ...deps }: Parts,
  processId: string,
): Promise<Tracer | undefined> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === undefined) return undefined
  const { createTracer } = await import('../platform/opentelemetry/index.ts')
  const protocol = config.OTEL_EXPORTER_OTLP_PROTOCOL ?? PROTOCOL
  if (protocol !== PROTOCOL)
    deps.log.warn(
      { reason: `OTEL_EXPORTER_OTLP_PROTOCOL: traces are sent as ${PROTOCOL}, usually to port 4318` },
      'an OpenTelemetry setting is ignored',
    )
  return createTracer({
    ...deps,
    sampler: { name: config.OTEL_TRACES_SAMPLER, argument: config.OTEL_TRACES_SAMPLER_ARG },
    resource: { 'service.name': 'jeton', 'service.version': VERSION, 'service.instance.id': processId },
  })
}
