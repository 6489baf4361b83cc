import { mkdirSync, writeFileSync } from 'node:fs'
import { SUBJECTS } from './launch.ts'
import { linePlot } from './line-plot.ts'
import type { Machine } from './machine.ts'
import { isMeasured, type Outcome } from './measure/load-subject.ts'
import type { Kind, ThroughputRow } from './measure/throughput.ts'
import { costOf, type TurnoverPoint } from './measure/turnover.ts'
import { type Bar, barPlot } from './plot.ts'
import type { Results } from './results.ts'
import { shownCount, shownMb, shownMs } from './shown.ts'

const DOCS = new URL('../docs/', import.meta.url)
const PLOTS = new URL('benchmarks/', DOCS)

interface Page {
  readonly machine: Machine
  readonly generator: string
  readonly results: Results
  /** What was printed. */
  readonly text: string
}

const bar = (label: string, outcome: Outcome | undefined, ours = true): Bar[] =>
  isMeasured(outcome)
    ? [{ label, value: outcome.perSecond, shown: `${shownCount(outcome.perSecond)}/s`, ours }]
    : []

const throughputBars = (rows: readonly ThroughputRow[] = [], kind: Kind): Bar[] =>
  rows.flatMap(({ subject, median }) =>
    bar(SUBJECTS[subject].label, median[kind], subject.startsWith('jeton')),
  )

const deliveryBars = ({ deliveries = [] }: Results): Bar[] =>
  deliveries.flatMap(({ engine, destinations, perSecond, barePerSecond }) => {
    const where = `${shownCount(destinations)} destination${destinations === 1 ? '' : 's'}`
    return [
      { label: `${engine}, ${where}`, value: perSecond, shown: `${shownCount(perSecond)}/s`, ours: true },
      {
        label: 'bare undici loop',
        value: barePerSecond,
        shown: `${shownCount(barePerSecond)}/s`,
        ours: false,
      },
    ]
  })

const growthBars = ({ growth = [] }: Results): Bar[] =>
  growth.flatMap(({ engine, activeTokens, issue }) =>
    bar(`${engine}, ${shownCount(activeTokens)} active`, issue),
  )

const workerBars = ({ workers = [] }: Results, wanted: Kind): Bar[] =>
  workers
    .filter(({ kind }) => kind === wanted)
    .flatMap(({ engine, workers: count, median }) =>
      bar(`${engine}, ${count} worker${count === 1 ? '' : 's'}`, median),
    )

const COLOURS = { sqlite: '#2563a8', postgres: '#c2571a' } as const

/** What the store holds and what a request costs, over the tokens that have come and gone. */
function turnoverPlot({ turnover = [] }: Results, title: string): string {
  const lines = (pick: (point: TurnoverPoint) => number) =>
    turnover.map(({ engine, points }) => ({
      label: engine,
      colour: COLOURS[engine],
      points: points.map((point) => [point.issued, pick(point)] as const),
    }))
  return linePlot(title, [
    { name: 'store, MB', lines: lines(({ storeBytes }) => storeBytes / 1_000_000) },
    { name: 'processor time of a token, µs', lines: lines(costOf) },
  ])
}

const TURNOVER_TITLE = 'Size and cost of a request, by tokens issued'

const barsOf = (results: Results): readonly (readonly [string, string, readonly Bar[]])[] => [
  ['introspect', 'Introspections a second', throughputBars(results.throughput, 'introspect')],
  ['issue', 'Tokens issued a second', throughputBars(results.throughput, 'issue')],
  ['gateway', 'Calls authorized by the gateway a second', throughputBars(results.gateway, 'gateway')],
  ['growth', 'Tokens issued a second, by tokens that are active', growthBars(results)],
  ['workers-introspect', 'Introspections a second, by workers', workerBars(results, 'introspect')],
  ['workers-issue', 'Tokens issued a second, by workers', workerBars(results, 'issue')],
  ['deliveries', 'Deliveries a second', deliveryBars(results)],
]

/** Those that have something to show: name, title, text. */
function plotsOf(results: Results): (readonly [string, string, string])[] {
  const plots = barsOf(results)
    .filter(([, , bars]) => bars.length > 0)
    .map(([name, title, bars]) => [name, title, barPlot(title, bars)] as const)
  if (!results.turnover?.length) return plots
  return [...plots, ['turnover', TURNOVER_TITLE, turnoverPlot(results, TURNOVER_TITLE)]]
}

/** `docs/benchmarks.md`, as it was measured, and its plots. What helped and what did not is written by hand beside it. */
export function writePage({ machine, generator, results, text }: Page): void {
  mkdirSync(PLOTS, { recursive: true })
  const plots = plotsOf(results)
  for (const [name, , drawn] of plots) writeFileSync(new URL(`${name}.svg`, PLOTS), drawn)
  const page = [
    '# Benchmarks',
    `Measured by \`npm run bench -- --page\` on ${new Date().toISOString().slice(0, 10)}: ${machine.cpu}, ${machine.cores} cores that together do ${machine.together.toFixed(1)} × the work of one, ${shownMb(machine.memoryBytes)}, Node ${machine.node}; load from ${generator} on the same machine; a small durable write takes ${shownMs(machine.fsyncMs)}. [bench/README.md](../bench/README.md) says how. Ratios are the result: both sides of each were measured in turn.`,
    ...plots.map(([name, title]) => `![${title}](benchmarks/${name}.svg)`),
    `\`\`\`text\n${text}\n\`\`\``,
  ]
  writeFileSync(new URL('benchmarks.md', DOCS), `${page.join('\n\n')}\n`)
}
