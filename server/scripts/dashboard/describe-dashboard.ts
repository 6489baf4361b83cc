export interface PanelDescription {
  readonly title: string
  /** Shown in Grafana: the meaning of the panel, and what to do about a bad value. */
  readonly description: string
  /** A time series unless it says otherwise. */
  readonly kind?: 'stat'
  /** Unit id of Grafana. */
  readonly unit: string
  /** Of 24 columns. */
  readonly width: number
  readonly queries: readonly { readonly expr: string; readonly legend: string }[]
  /** Colours from these values on, in ascending order. */
  readonly thresholds?: Readonly<Record<string, number>>
}

export interface RowDescription {
  readonly title: string
  readonly panels: readonly PanelDescription[]
}

const COLUMNS = 24
const STAT_HEIGHT = 4
const SERIES_HEIGHT = 8
/** Classic dashboard model of Grafana 12. Newer versions convert it when it is imported. */
const SCHEMA_VERSION = 41

/** The data source that is chosen in the dashboard. */
const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

/** The first colour has no lower limit. */
const steps = (thresholds: Readonly<Record<string, number>>) =>
  Object.entries(thresholds).map(([color, value], i) => ({ color, value: i === 0 ? null : value }))

function fieldConfig({ unit, thresholds, kind }: PanelDescription) {
  const color = { mode: kind === 'stat' ? 'thresholds' : 'palette-classic' }
  const lines = { drawStyle: 'line', lineWidth: 1, fillOpacity: 10, showPoints: 'never', spanNulls: false }
  const custom = { ...lines, thresholdsStyle: { mode: thresholds ? 'dashed' : 'off' } }
  return {
    defaults: {
      ...{ unit, min: 0, color },
      thresholds: { mode: 'absolute', steps: steps(thresholds ?? { green: 0 }) },
      ...(kind !== 'stat' && { custom }),
    },
    overrides: [],
  }
}

const STAT_OPTIONS = {
  ...{ colorMode: 'value', graphMode: 'area', justifyMode: 'auto', textMode: 'value', orientation: 'auto' },
  reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
}
const SERIES_OPTIONS = {
  legend: { displayMode: 'table', placement: 'bottom', showLegend: true, calcs: ['lastNotNull', 'max'] },
  tooltip: { mode: 'multi', sort: 'desc' },
}

interface GridPosition {
  readonly h: number
  readonly w: number
  readonly x: number
  readonly y: number
}

const panel = (id: number, described: PanelDescription, gridPos: GridPosition) => ({
  id,
  type: described.kind ?? 'timeseries',
  title: described.title,
  description: described.description,
  datasource: DATASOURCE,
  gridPos,
  fieldConfig: fieldConfig(described),
  options: described.kind === 'stat' ? STAT_OPTIONS : SERIES_OPTIONS,
  targets: described.queries.map(({ expr, legend }, i) => ({
    refId: String.fromCharCode(65 + i),
    datasource: DATASOURCE,
    ...{ editorMode: 'code', expr, legendFormat: legend, range: true },
  })),
})

/** Places panels from left to right, and below if the line is full. */
function placed(rows: readonly RowDescription[]) {
  const panels: object[] = []
  let y = 0
  for (const { title, panels: own } of rows) {
    const heading = { type: 'row', title, collapsed: false, panels: [] }
    panels.push({ id: panels.length + 1, ...heading, gridPos: { h: 1, w: COLUMNS, x: 0, y } })
    y++
    let [x, height] = [0, 0]
    for (const one of own) {
      if (x + one.width > COLUMNS) {
        y += height
        x = 0
      }
      height = one.kind === 'stat' ? STAT_HEIGHT : SERIES_HEIGHT
      panels.push(panel(panels.length + 1, one, { h: height, w: one.width, x, y }))
      x += one.width
    }
    y += height
  }
  return panels
}

const queryVariable = (name: string, label: string, query: string) => ({
  ...{ type: 'query', name, label, datasource: DATASOURCE },
  query: { query, refId: `variable-${name}` },
  ...{ includeAll: true, multi: true, current: { text: ['All'], value: ['$__all'] }, options: [] },
  // Read again when the time range changes, because projects appear and disappear.
  ...{ refresh: 2, sort: 1, regex: '', hide: 0, skipUrlSync: false },
})

const VARIABLES = [
  {
    ...{ type: 'datasource', name: 'datasource', label: 'Data source', query: 'prometheus' },
    ...{ options: [], includeAll: false, multi: false, refresh: 1, regex: '', hide: 0 },
    skipUrlSync: false,
  },
  queryVariable('job', 'Job', 'label_values(jeton_http_request_duration_seconds_count, job)'),
  {
    ...queryVariable('project', 'Project', 'label_values({__name__=~"jeton_.+"}, project)'),
    allValue: '.*',
  },
]

/** Generates `deploy/grafana/jeton.json`, a dashboard that Grafana imports. */
export function describeDashboard(rows: readonly RowDescription[]) {
  return {
    title: 'Jeton',
    uid: 'jeton',
    description: 'Tokens, deliveries and the store of Jeton. Generated from server/scripts/dashboard.',
    tags: ['jeton'],
    schemaVersion: SCHEMA_VERSION,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    links: [],
    annotations: { list: [] },
    templating: { list: VARIABLES },
    panels: placed(rows),
  }
}
