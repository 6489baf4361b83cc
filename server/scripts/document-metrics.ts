import {
  MAX_BACKLOGS_SHOWN,
  MAX_LABEL_VALUES,
  METRICS,
  type MetricDescription,
  SERIES_PER_HISTOGRAM,
} from '../src/contract/metrics.ts'

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

function seriesOf({ type, maxSeries = type === 'histogram' ? SERIES_PER_HISTOGRAM : 1 }: MetricDescription) {
  return typeof maxSeries === 'number' ? maxSeries.toLocaleString('en') : maxSeries
}

function row(name: string, metric: MetricDescription, alerts: readonly string[]) {
  const { type, labels = [], help, note } = metric
  const meaning = note === undefined ? help : `${help} ${note}`
  return `| \`${name}\` | ${type} | ${code(labels)} | ${seriesOf(metric)} | ${meaning} | ${code(alerts)} |`
}

/** Generates `docs/reference/metrics.md` from the catalog and the text of `deploy/prometheus/alerts.yaml`. */
export function documentMetrics(rules: string): string {
  const alerts = alertsByMetric(rules)
  const rows = Object.entries(METRICS).map(([name, one]) => row(name, one, alerts.get(name) ?? []))
  return `# Metrics

<!-- Generated from server/src/contract/metrics.ts and deploy/prometheus/alerts.yaml by \`npm run generate\`. Do not edit. -->

\`/metrics\` in the Prometheus text format. [Monitor](../operate/monitor.md) says who may read it. The alerts are rules of
[\`deploy/prometheus/alerts.yaml\`](../../deploy/prometheus/alerts.yaml).

## Number of series

- No label has a value that a caller chose. \`project\` and \`destination\` are ids, which are no secrets. Names and URLs are not shown.
- At most ${MAX_LABEL_VALUES.project} projects and ${MAX_LABEL_VALUES.destination} destinations have series of their own: the first that a process counts after its start. All others are
  counted as \`other\`, so that sums remain right. \`project="none"\` counts requests of which no project is known.
- \`jeton_http_request_duration_seconds\` has 17 series for each route and status that has occurred. Both come from the program: all
  unknown paths are \`route="unknown"\`.
- \`jeton_destination_…\` shows the ${MAX_BACKLOGS_SHOWN} destinations with the most due deliveries. The rest is \`other\`.
- The column "series" is the maximum of one target that Prometheus scrapes, also with several HTTP processes (\`JETON_WORKERS\`).
- With more projects or destinations than that, one process may count a project by its id and another as \`other\`. Then the series of the
  id is too low. [Usage over time](../operate/monitor.md#usage-over-time) is exact for every project and destination.

## All metrics

| metric | type | labels | series | meaning | alerts |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}
