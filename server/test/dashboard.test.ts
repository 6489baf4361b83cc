import { describe, expect, test } from 'vitest'
import { METRICS } from '../src/contract/metrics.ts'
import { queriesOf, readDashboard, withVariables } from './dashboard.ts'

const dashboard = readDashboard()
const shown = dashboard.panels.filter(({ type }) => type !== 'row')

/** Names of metrics with the labels that select their series. */
const selectors = (expr: string) =>
  [...expr.matchAll(/\b((?:jeton|process|nodejs)_\w+)\{([^}]*)\}/g)].map(([, name, inside]) => ({
    name: name!,
    labels: [...inside!.matchAll(/(\w+)[!=]~?"/g)].map(([, label]) => label!),
  }))

const metricOf = (name: string) => METRICS[name] ?? METRICS[name.replace(/_(bucket|sum|count)$/, '')]

describe('the dashboard for Grafana', () => {
  test('has the rows Overview, Tokens, Deliveries and Store', () => {
    const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)
    expect(rows).toEqual(['Overview', 'Tokens', 'Deliveries', 'Store'])
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(39)
  })

  test('explains every panel, with a unit and the data source that the user chose', () => {
    expect(shown.length).toBeGreaterThan(20)
    for (const { title, description, fieldConfig, datasource, targets } of shown) {
      expect(description, title).toMatch(/^[A-Z\d].{20,}\.$/)
      expect(fieldConfig?.defaults.unit, title).toMatch(/^(short|s|bytes|ops|reqps|percentunit)$/)
      expect(datasource?.uid, title).toBe('$datasource')
      expect(targets!.length, title).toBeGreaterThan(0)
      expect(new Set(targets!.map(({ refId }) => refId)).size, title).toBe(targets!.length)
      for (const { legendFormat } of targets!) expect(legendFormat, title).not.toBe('')
    }
  })

  test('has panels with ids of their own that do not overlap and fit into 24 columns', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }) => {
      expect(x + w).toBeLessThanOrEqual(24)
      return Array.from({ length: h * w }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`)
    })
    expect(new Set(cells).size).toBe(cells.length)
  })

  test('queries only metrics and labels of the catalog, and only variables that it defines', () => {
    for (const { title, expr } of queriesOf(dashboard)) {
      for (const { name, labels } of selectors(expr)) {
        const metric = metricOf(name)
        expect(metric, `${title}: ${name}`).toBeDefined()
        // Prometheus adds the job.
        for (const label of labels) expect(['job', ...(metric!.labels ?? [])], title).toContain(label)
      }
      expect(withVariables(expr), title).not.toContain('$')
    }
    const variables = dashboard.templating.list.map(({ name }) => name)
    expect(variables).toEqual(['datasource', 'job', 'project'])
  })

  test('filters by project wherever a metric has one', () => {
    for (const { title, expr } of queriesOf(dashboard))
      for (const { name, labels } of selectors(expr))
        expect(labels.includes('project'), `${title}: ${name}`).toBe(
          metricOf(name)!.labels?.includes('project') === true,
        )
  })

  test('shows every metric of Jeton except those that others contain', () => {
    const queried = queriesOf(dashboard).flatMap(({ expr }) => selectors(expr).map(({ name }) => name))
    const names = new Set(queried.map((name) => (METRICS[name] ? name : name.replace(/_[a-z]+$/, ''))))
    const left = Object.keys(METRICS).filter((name) => name.startsWith('jeton_') && !names.has(name))
    // Spans are dropped only where traces are exported.
    expect(left).toEqual(['jeton_tokens_cached', 'jeton_trace_spans_dropped_total'])
  })
})
