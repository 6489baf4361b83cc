import { describe, expect, test } from 'vitest'
import fc from '../../test/properties.ts'
import { MAX_LABEL_VALUES, METRICS } from '../contract/metrics.ts'
import { LabelLimits } from './label-limits.ts'
import { aggregateFamilies, countsOnly, type Family, familiesText } from './metric-families.ts'
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
  g_any: { type: 'gauge', help: 'G.', aggregate: 'any' },
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

/** Like in a message between processes. */
const serialised = (families: Family[]): Family[] => JSON.parse(JSON.stringify(families))

/** Counts one attempt to each destination of each project, and one refusal. */
function countAttempts(projects: readonly number[]): Family[] {
  const metrics = createMetrics()
  const attempts = metrics.counter('jeton_delivery_attempts_total')
  const refusals = metrics.counter('jeton_refusals_total')
  for (const n of projects) {
    const project = `proj_${n}`
    attempts({ project, destination: `wh_${n}`, outcome: 'delivered' }).add()
    refusals({ project, reason: 'key_blocked' }).add()
  }
  refusals({ project: 'none', reason: 'app_id_unknown' }).add()
  return serialised(metrics.families())
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

/** Requires that every family has at most as many series as its description says. */
function expectBounds(families: readonly Family[]): void {
  for (const { name, samples } of families)
    expect(samples.length, name).toBeLessThanOrEqual(METRICS[name]!.maxSeries as number)
}

const samplesOf = (families: readonly Family[], name: string) =>
  families.find((family) => family.name === name)!.samples
const total = (families: readonly Family[], name: string) =>
  samplesOf(families, name).reduce((sum, { value }) => sum + value, 0)
const valuesOfLabel = (families: readonly Family[], name: string, label: string) =>
  new Set(samplesOf(families, name).map(({ labels }) => labels[label]))

describe('labels with ids', () => {
  const { project: maxProjects, destination: maxDestinations } = MAX_LABEL_VALUES

  test('10,000 projects and destinations stay below the documented bound, and no count is lost', () => {
    const families = countAttempts(range(0, 10_000))
    expectBounds(families)
    expect(total(families, 'jeton_delivery_attempts_total')).toBe(10_000)
    expect(total(families, 'jeton_refusals_total')).toBe(10_001)
    expect(valuesOfLabel(families, 'jeton_delivery_attempts_total', 'project').size).toBe(maxProjects + 1)
    expect(valuesOfLabel(families, 'jeton_delivery_attempts_total', 'destination').size).toBe(
      maxDestinations + 1,
    )
    expect(valuesOfLabel(families, 'jeton_refusals_total', 'project')).toContain('none')
  })

  test('a project has its own series in every metric or in none', () => {
    const families = countAttempts(range(0, 1_000))
    const projects = valuesOfLabel(families, 'jeton_delivery_attempts_total', 'project')
    expect(valuesOfLabel(families, 'jeton_refusals_total', 'project')).toEqual(new Set([...projects, 'none']))
    expect(projects).toContain(`proj_${maxProjects - 1}`)
    expect(projects).not.toContain(`proj_${maxProjects}`)
  })

  test('processes that know different projects stay below the bound together, and their counts add up', () => {
    const limits = new LabelLimits()
    const processes = range(0, 20).map((n) => countAttempts(range(n * 150, n * 150 + 400)))
    const families = aggregateFamilies(processes, limits)
    expectBounds(families)
    expect(total(families, 'jeton_delivery_attempts_total')).toBe(20 * 400)
    expect(total(families, 'jeton_refusals_total')).toBe(20 * 401)
  })

  test('no series of several processes ever decreases when one ends and others take its place', () => {
    const limits = new LabelLimits()
    let ended: Family[] = []
    let before = new Map<string, number>()
    for (const n of range(0, 10)) {
      const process = countAttempts(range(n * 50, n * 50 + 300))
      const shown = aggregateFamilies([process, ended], limits)
      ended = aggregateFamilies([ended, countsOnly(process)], limits)
      const now = new Map(
        shown.flatMap(({ samples }) =>
          samples.map((one) => [JSON.stringify([one.name, one.labels]), one.value] as const),
        ),
      )
      for (const [series, value] of before) expect(now.get(series), series).toBeGreaterThanOrEqual(value)
      expectBounds(shown)
      before = now
    }
    expect(before.size).toBeGreaterThan(maxDestinations)
  })
})

describe('metrics of several processes', () => {
  const ofProcess = (name: string, value: number) => {
    const metrics = createMetrics(CATALOG)
    metrics.counter('c_total')({ name }).add(value)
    metrics.counter('c_total_of_all')().add(value)
    metrics.histogram('d_seconds')().observe(value)
    for (const together of ['sum', 'max', 'min'] as const) metrics.read(`g_${together}`, () => value)
    return serialised(metrics.families())
  }
  const valuesOf = (families: Parameters<typeof familiesText>[0]) =>
    Object.fromEntries(
      parse(familiesText(families)).map(({ name, labels, value }) => [name + Object.values(labels), value]),
    )

  test('are added up series by series, or reduced to their maximum or minimum', () => {
    const together = valuesOf(
      aggregateFamilies([ofProcess('a', 0.001), ofProcess('b', 9), ofProcess('b', 2)], new LabelLimits()),
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

  test('that each process reads from the store are those of one process', () => {
    const ofStore = (values: readonly [string, number][]) => {
      const metrics = createMetrics(CATALOG)
      metrics.readMany('g_any', () => values.map(([name, value]) => ({ labels: { name }, value })))
      return metrics.families()
    }
    const processes = [ofStore([]), ofStore([['a', 1]]), ofStore([['b', 2]])]
    expect(valuesOf(aggregateFamilies(processes, new LabelLimits()))).toEqual({ g_anya: 1 })
    expect(valuesOf(aggregateFamilies([ofStore([])], new LabelLimits()))).toEqual({})
  })

  test('of a single process are unchanged', () => {
    const own = ofProcess('a', 3)
    expect(familiesText(aggregateFamilies([own], new LabelLimits()))).toBe(familiesText(own))
  })

  test('of a process that has ended contain its counters only', () => {
    const names = countsOnly(ofProcess('a', 3)).map(({ name }) => name)
    expect(names).toEqual(['c_total', 'c_total_of_all', 'd_seconds'])
  })
})
