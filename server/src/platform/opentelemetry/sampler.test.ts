import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'
import { createSampler, type SamplerSettings } from './sampler.ts'

const TRACES = Array.from({ length: 1_000 }, (_, i) =>
  (i * 4_294_967).toString(16).padStart(8, '0').padEnd(32, 'a'),
)

function fractionSampled(settings: SamplerSettings, parent?: 'sampled' | 'unsampled'): number {
  const sampler = createSampler(settings, () => undefined)
  const sampled = TRACES.filter((traceId) => {
    const traceFlags = parent === 'sampled' ? 1 : 0
    const context = parent
      ? trace.setSpanContext(ROOT_CONTEXT, {
          traceId,
          spanId: '00f067aa0ba902b7',
          traceFlags,
          isRemote: true,
        })
      : ROOT_CONTEXT
    const { decision } = sampler.shouldSample(context, traceId, 'a', SpanKind.SERVER, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  })
  return sampled.length / TRACES.length
}

test.each([
  ['always_on', { alone: 1, sampled: 1, unsampled: 1 }],
  ['always_off', { alone: 0, sampled: 0, unsampled: 0 }],
  ['parentbased_always_on', { alone: 1, sampled: 1, unsampled: 0 }],
  ['parentbased_always_off', { alone: 0, sampled: 1, unsampled: 0 }],
  [undefined, { alone: 1, sampled: 1, unsampled: 0 }],
])(
  'the sampler %s decides as its name says, with and without a caller that has decided',
  (name, expected) => {
    expect({
      alone: fractionSampled({ name }),
      sampled: fractionSampled({ name }, 'sampled'),
      unsampled: fractionSampled({ name }, 'unsampled'),
    }).toEqual(expected)
  },
)

test('traceidratio takes the given fraction, and its parentbased form follows the caller', () => {
  const ratio = { name: 'traceidratio', argument: '0.25' }
  expect(fractionSampled(ratio)).toBeCloseTo(0.25, 1)
  expect(fractionSampled(ratio, 'sampled')).toBeCloseTo(0.25, 1)
  expect(fractionSampled({ ...ratio, name: 'parentbased_traceidratio' })).toBeCloseTo(0.25, 1)
  expect(fractionSampled({ ...ratio, name: 'parentbased_traceidratio' }, 'sampled')).toBe(1)
})

test.each([
  [{ name: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER'],
  [{ name: 'toString' }, 'OTEL_TRACES_SAMPLER'],
  [{ name: 'traceidratio', argument: '5%' }, 'OTEL_TRACES_SAMPLER_ARG'],
  [{ name: 'traceidratio', argument: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG'],
])('an invalid value is reported and replaced by the default: %j', (settings, variable) => {
  const reported: string[] = []
  createSampler(settings, (problem) => reported.push(problem))
  expect(reported).toEqual([expect.stringMatching(new RegExp(`^${variable}: `))])
  expect(fractionSampled(settings)).toBe(1)
})
