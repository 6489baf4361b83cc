import { describe, expect, test } from 'vitest'
import fc from '../../test/properties.ts'
import { aggregateFamilies, countsOnly, familiesText } from './metric-families.ts'
import { addProcessMetrics, createMetrics } from './metrics.ts'

interface Sample {
  readonly name: string
  readonly labels: Record<string, string>
  readonly value: number
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/
const SAMPLE = new RegExp(`^([a-zA-Z_:][\\w:]*)(?:\\{(${LABEL.source}(?:,${LABEL.source})*)\\})? (\\S+)$`)
const unescaped = (text: string) => text.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c))

/** Parses the Prometheus text format strictly: every line is a comment, a sample, or empty. */
function parse(text: string): Sample[] {
  expect(text.endsWith('\n')).toBe(true)
  const lines = text.split('\n').filter((line) => line !== '' && !/^# (HELP|TYPE) \w+ \S/.test(line))
  return lines.map((line) => {
    const [, name, labels = ''] = SAMPLE.exec(line) ?? expect.fail(`not a sample: ${line}`)
    const pairs = [...labels.matchAll(new RegExp(LABEL, 'g'))].map(([, key, value]) => [
      key!,
      unescaped(value!),
    ])
    return {
      name: name!,
      labels: Object.fromEntries(pairs),
      value: Number(line.slice(line.lastIndexOf(' ') + 1)),
    }
  })
}

const CATALOG = {
  requests_total: { type: 'counter', help: 'Requests.' },
  c_total: { type: 'counter', help: 'C.' },
  c_total_of_all: { type: 'counter', help: 'C.' },
  d_seconds: { type: 'histogram', help: 'D.' },
  g_sum: { type: 'gauge', help: 'G.' },
  g_max: { type: 'gauge', help: 'G.', aggregate: 'max' },
  g_min: { type: 'gauge', help: 'G.', aggregate: 'min' },
} as const

describe('metrics', () => {
  test('count by labels, and the same labels are the same series', () => {
    const metrics = createMetrics(CATALOG)
    const requests = metrics.counter('requests_total')
    requests().add()
    requests({ kind: 'a' }).add(2)
    requests({ kind: 'a' }).add()
    expect(parse(metrics.text())).toEqual([
      { name: 'requests_total', labels: {}, value: 1 },
      { name: 'requests_total', labels: { kind: 'a' }, value: 3 },
    ])
    expect(metrics.text()).toContain('# HELP requests_total Requests.\n# TYPE requests_total counter\n')
  })

  test('keep every label value unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        fc.pre(!value.includes('\r'))
        const metrics = createMetrics(CATALOG)
        metrics.counter('c_total')({ value }).add()
        expect(parse(metrics.text())).toEqual([{ name: 'c_total', labels: { value }, value: 1 }])
      }),
    )
  })

  test('histograms are cumulative, include the bound, and end in the count', () => {
    const metrics = createMetrics(CATALOG)
    const durations = metrics.histogram('d_seconds')({ route: '/x' })
    for (const seconds of [0.0005, 0.0006, 0.3, 99]) durations.observe(seconds)
    const samples = parse(metrics.text())
    const bucket = (le: string) => samples.find((sample) => sample.labels.le === le)!.value
    expect([
      bucket('0.0005'),
      bucket('0.001'),
      bucket('0.25'),
      bucket('0.5'),
      bucket('10'),
      bucket('+Inf'),
    ]).toEqual([1, 2, 2, 3, 3, 4])
    expect(samples.at(-1)).toEqual({ name: 'd_seconds_count', labels: { route: '/x' }, value: 4 })
    expect(samples.at(-2)!.value).toBeCloseTo(99.3011)
    const buckets = samples
      .filter((sample) => sample.name === 'd_seconds_bucket')
      .map((sample) => sample.value)
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
  })

  test('gauges are read on request, and omitted while unknown', () => {
    const metrics = createMetrics(CATALOG)
    let value: number | undefined
    metrics.read('g_sum', () => value)
    expect(parse(metrics.text())).toEqual([])
    value = 2.5
    expect(parse(metrics.text())).toEqual([{ name: 'g_sum', labels: {}, value: 2.5 }])
  })

  test('of the process are numbers, and totals are counters', () => {
    const metrics = createMetrics()
    addProcessMetrics(metrics)
    const samples = parse(metrics.text())
    expect(samples.length).toBeGreaterThan(3)
    for (const sample of samples) expect(sample.value, sample.name).toBeGreaterThanOrEqual(0)
    expect(metrics.text()).toContain('# TYPE process_cpu_seconds_total counter')
  })

  test('a metric that the catalog does not describe cannot be registered', () => {
    expect(() => createMetrics(CATALOG).read('other', () => 1)).toThrow('other is not in the catalog')
  })
})

describe('metrics of several processes', () => {
  const ofProcess = (name: string, value: number) => {
    const metrics = createMetrics(CATALOG)
    metrics.counter('c_total')({ name }).add(value)
    metrics.counter('c_total_of_all')().add(value)
    metrics.histogram('d_seconds')().observe(value)
    for (const together of ['sum', 'max', 'min'] as const) metrics.read(`g_${together}`, () => value)
    // Serialised, like in a message between processes.
    return JSON.parse(JSON.stringify(metrics.families())) as ReturnType<typeof metrics.families>
  }
  const valuesOf = (families: Parameters<typeof familiesText>[0]) =>
    Object.fromEntries(
      parse(familiesText(families)).map(({ name, labels, value }) => [name + Object.values(labels), value]),
    )

  test('are added up series by series, or reduced to their maximum or minimum', () => {
    const together = valuesOf(
      aggregateFamilies([ofProcess('a', 0.001), ofProcess('b', 9), ofProcess('b', 2)]),
    )
    expect(together).toMatchObject({
      c_totala: 0.001,
      c_totalb: 11,
      c_total_of_all: 11.001,
      d_seconds_count: 3,
      d_seconds_sum: 11.001,
      'd_seconds_bucket0.001': 1,
      'd_seconds_bucket2.5': 2,
      'd_seconds_bucket+Inf': 3,
      g_sum: 11.001,
      g_max: 9,
      g_min: 0.001,
    })
  })

  test('of a single process are unchanged', () => {
    const own = ofProcess('a', 3)
    expect(familiesText(aggregateFamilies([own]))).toBe(familiesText(own))
  })

  test('of a process that has ended contain its counters only', () => {
    const names = countsOnly(ofProcess('a', 3)).map(({ name }) => name)
    expect(names).toEqual(['c_total', 'c_total_of_all', 'd_seconds'])
  })
})
