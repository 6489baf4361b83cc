import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'

const parentBased = (root: Sampler): Sampler => new ParentBasedSampler({ root })

const SAMPLERS: Readonly<Record<string, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => parentBased(new AlwaysOnSampler()),
  parentbased_always_off: () => parentBased(new AlwaysOffSampler()),
  parentbased_traceidratio: (ratio) => parentBased(new TraceIdRatioBasedSampler(ratio)),
}

export interface SamplerSettings {
  /** OTEL_TRACES_SAMPLER */
  readonly name?: string | undefined
  /** OTEL_TRACES_SAMPLER_ARG */
  readonly argument?: string | undefined
}

/** Reads the standard variables. Unknown values are reported and replaced by the defaults of the specification. */
export function createSampler(
  { name = 'parentbased_always_on', argument = '1' }: SamplerSettings,
  report: (problem: string) => void,
): Sampler {
  const create = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined
  if (!create) report(`OTEL_TRACES_SAMPLER: ${JSON.stringify(name)} is unknown, so every trace is sampled`)
  const ratio = Number(argument)
  const isRatio = ratio >= 0 && ratio <= 1
  if (!isRatio) report(`OTEL_TRACES_SAMPLER_ARG: ${JSON.stringify(argument)} is not a number from 0 to 1`)
  return (create ?? SAMPLERS.parentbased_always_on!)(isRatio ? ratio : 1)
}
