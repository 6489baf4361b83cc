import { METRICS, type MetricDescription } from '../src/contract/metrics.ts'

/** Names of the alerts by the metric that their expression reads. */
function alertsByMetric(rules: string): Map<string, string[]> {
  const alerts = new Map<string, string[]>()
  for (const [, alert = '', expression = ''] of rules.matchAll(/- alert: (\w+)\n([\s\S]*?)annotations:/g))
    for (const name of Object.keys(METRICS))
      if (new RegExp(`\\b${name}(?:_count|_sum|_bucket)?\\b`).test(expression))
        alerts.set(name, [...(alerts.get(name) ?? []), alert])
  return alerts
}

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')

function row(name: string, { type, labels = [], help, note }: MetricDescription, alerts: readonly string[]) {
  const meaning = note === undefined ? help : `${help} ${note}`
  return `| \`${name}\` | ${type} | ${code(labels)} | ${meaning} | ${code(alerts)} |`
}

/** Generates `docs/reference/metrics.md` from the catalog and the text of `deploy/prometheus-alerts.yaml`. */
export function documentMetrics(rules: string): string {
  const alerts = alertsByMetric(rules)
  const rows = Object.entries(METRICS).map(([name, one]) => row(name, one, alerts.get(name) ?? []))
  return `# Metrics

<!-- Generated from server/src/contract/metrics.ts and deploy/prometheus-alerts.yaml by \`npm run generate\`. Do not edit. -->

\`/metrics\` in the Prometheus text format. [Monitor](../operate/monitor.md) says who may read it. The alerts are rules of
[\`deploy/prometheus-alerts.yaml\`](../../deploy/prometheus-alerts.yaml).

| metric | type | labels | meaning | alerts |
|---|---|---|---|---|
${rows.join('\n')}
`
}
