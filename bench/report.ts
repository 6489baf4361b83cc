import { MAX_BARE_SPREAD, median, type Row } from './compare.ts'
import type { Machine } from './machine.ts'
import { meetsTarget } from './targets.ts'

/** Everything that a run found: the content of the JSON file. */
export interface Report {
  readonly at: string
  readonly machine: Machine
  readonly seconds: number
  readonly rounds: number
  readonly quick: boolean
  readonly durationSeconds: number
  readonly rows: readonly Row[]
}

export const BARE = 'bare Fastify route'

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const ms = (value: number | undefined): string =>
  value === undefined ? '' : `${value.toFixed(value < 10 ? 1 : 0)} ms`
const ratio = (value: number): string => value.toFixed(value < 0.1 ? 3 : 2)
const percent = (value: number): string => `${Math.round(value * 100)} %`

const isRequests = ({ scenario }: Row): boolean => ['issue', 'introspect', 'gateway'].includes(scenario)

/** The bare route in a row of its own before the subjects that were compared with it. */
export function withBareRows(rows: readonly Row[]): Row[] {
  const scenarios = [...new Set(rows.filter(isRequests).map(({ scenario }) => scenario))]
  const bareRows = scenarios.flatMap((scenario): Row[] => {
    const slices = rows.flatMap((row) => (row.scenario === scenario && row.baseline ? [row.baseline] : []))
    if (slices.length === 0) return []
    const of = (key: keyof (typeof slices)[0]) => median(slices.map((slice) => slice[key]!))
    const own = {
      perSecond: of('perSecond'),
      p50Ms: of('p50Ms'),
      p99Ms: of('p99Ms'),
      cpuMicros: of('cpuMicros'),
    }
    return [{ scenario, subject: BARE, own }]
  })
  const others = rows.filter((row) => !isRequests(row))
  return [
    ...scenarios.flatMap((scenario) =>
      [...bareRows, ...rows.filter(isRequests)].filter((row) => row.scenario === scenario),
    ),
    ...others,
  ]
}

function resultOf({ own, memoryMb, noResult }: Row): string {
  if (noResult !== undefined) return `no result: ${noResult.replace(/[\s|]+/g, ' ').slice(0, 120)}`
  return memoryMb === undefined ? `${whole.format(own!.perSecond)}/s` : `${whole.format(memoryMb)} MB`
}

function ratioOf({ ratio: found }: Row): string {
  return found ? `${ratio(found.median)} (${ratio(found.lowest)} to ${ratio(found.highest)})` : ''
}

function targetOf(row: Row): string {
  const unit = row.memoryMb === undefined ? '' : ' MB'
  return row.target ? `${meetsTarget(row) ? '✓' : '✗'} ${row.target.sign} ${row.target.value}${unit}` : ''
}

const HEAD = ['scenario', 'subject', 'result', 'of baseline', 'target', 'p50', 'p99', 'CPU']

const cellsOf = (row: Row): string[] => [
  row.scenario,
  row.subject,
  resultOf(row),
  ratioOf(row),
  targetOf(row),
  ms(row.own?.p50Ms),
  ms(row.own?.p99Ms),
  row.own?.cpuMicros === undefined ? '' : `${whole.format(row.own.cpuMicros)} µs`,
]

/** A row as it is printed while the run goes on. */
export const rowLine = (row: Row): string => cellsOf(row).filter(Boolean).join(', ')

const tableOf = (lines: readonly (readonly string[])[]): string =>
  [lines[0]!, lines[0]!.map(() => '---'), ...lines.slice(1)]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')

export const resultTable = ({ rows }: Report): string => tableOf([HEAD, ...withBareRows(rows).map(cellsOf)])

/** The widest spread of the bare route in any comparison. */
const bareSpreadOf = ({ rows }: Report): number =>
  Math.max(0, ...rows.map(({ bareSpread }) => bareSpread ?? 0))

/** Undefined if the run is complete. */
function gapOf({ quick, rows }: Report): string | undefined {
  if (quick) return 'a quick run shows only that everything works'
  return rows.some(({ noResult }) => noResult !== undefined) ? 'a row has no result' : undefined
}

/** Undefined if the run may be published. */
export function reasonNotToPublish(report: Report): string | undefined {
  const spread = bareSpreadOf(report)
  if (spread < MAX_BARE_SPREAD) return gapOf(report)
  return gapOf(report) ?? `the bare route varied by ${percent(spread)}, the limit is 30 %`
}

function settingOf(report: Report): string {
  const { at, machine, rounds, seconds, durationSeconds } = report
  const { cpu, cores, memoryGb, node, fsyncMs } = machine
  const [spread, gap] = [bareSpreadOf(report), gapOf(report)]
  return [
    `Measured on ${at.slice(0, 10)}: ${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}, load from wrk on the same machine.`,
    `A small durable write took ${fsyncMs.toFixed(2)} ms. Every figure is the median of ${rounds} slices of ${seconds} s.`,
    `Within a comparison, the slices of the bare route differ by up to ${percent(spread)}${spread < MAX_BARE_SPREAD ? '' : ': the machine was not quiet'}.`,
    'The ratio to the bare route compares neighbouring slices, so it is more reliable than a rate.',
    `The run took ${Math.round(durationSeconds / 60)} minutes.`,
    ...(gap === undefined ? [] : [`**Do not rely on these figures:** ${gap}.`]),
  ].join('\n')
}

function verdictOf({ rows }: Report): string {
  const judged = rows.map(meetsTarget).filter((isMet) => isMet !== undefined)
  return `${judged.filter(Boolean).length} of ${judged.length} targets are met.`
}

/** The generated part of `docs/benchmarks.md`. */
export const pageText = (report: Report): string =>
  [settingOf(report), verdictOf(report), resultTable(report)].join('\n\n')

/** The generated part of the README: rates of issuing and introspection, with their ratio. */
export function readmeText(report: Report): string {
  const rows = withBareRows(report.rows).filter(isRequests)
  const cell = (subject: string, wanted: string): string => {
    const row = rows.find(({ scenario, subject: label }) => label === subject && scenario === wanted)
    if (!row?.own) return row ? 'no result' : ''
    return whole.format(row.own.perSecond) + (row.ratio ? ` (${ratio(row.ratio.median)})` : '')
  }
  const subjects = [...new Set(rows.map(({ subject }) => subject))]
  const lines = subjects.map((subject) => [subject, cell(subject, 'issue'), cell(subject, 'introspect')])
  const table = tableOf([['requests per second', 'issue', 'introspect'], ...lines])
  return [table, settingOf(report), verdictOf(report)].join('\n\n')
}
