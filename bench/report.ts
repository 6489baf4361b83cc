import { SUBJECTS } from './launch.ts'
import { isMeasured, type Outcome } from './measure/load-subject.ts'
import { p99Ratio } from './measure/mixed.ts'
import { type Kind, type ThroughputRow, YARDSTICK } from './measure/throughput.ts'
import { growthTable, limitTable, listTable, turnoverTable } from './report-growth.ts'
import type { Results } from './results.ts'
import {
  shownCost as cost,
  shownP50 as p50,
  shownP99 as p99,
  shownRate as rate,
  shownCount,
  shownMb,
  shownMs,
  shownRatio,
  shownTable,
} from './shown.ts'
import type { Target } from './targets.ts'

function throughputTable(rows: readonly ThroughputRow[]): string {
  return (['introspect', 'issue'] as const)
    .filter((kind) => rows.some(({ median }) => median[kind]))
    .map((kind) => kindTable(rows, kind))
    .join('\n\n')
}

/** The last column: processor time for one answer, of the thread with the event loop and of the whole process. */
function kindTable(rows: readonly ThroughputRow[], kind: Kind): string {
  const cells = rows.map(({ subject, median: { [kind]: found }, ratio }) => [
    SUBJECTS[subject].label,
    ...[rate(found), p50(found), p99(found), shownRatio(ratio[kind]), cost(found)],
  ])
  const head = ['', `${kind}/s`, 'p50', 'p99', 'of bare', 'CPU main / all']
  return [shownTable(head, cells), ...spreadLine(rows, kind)].join('\n')
}

/** How far the slices of the yardstick lie apart: the machine does other things, and differences are less certain. */
function spreadLine(rows: readonly ThroughputRow[], kind: Kind): string[] {
  const slices = rows.find(({ subject }) => subject === YARDSTICK)?.slices[kind] ?? []
  const rates = slices.filter(isMeasured).map(({ perSecond }) => perSecond)
  if (rates.length < 2) return []
  const percent = Math.round((Math.max(...rates) / Math.min(...rates) - 1) * 100)
  return [`The slices of the bare route differ by up to ${percent} %.`]
}

function redemptionTable(rows: NonNullable<Results['redemptions']>): string {
  const spread = (ratios: readonly number[] = []) => ratios.map((ratio) => ratio.toFixed(3)).join(' to ')
  const cells = rows.map(({ engine, redeem, bare, ratio, ratios }) => [
    engine,
    ...[rate(redeem), p50(redeem), p99(redeem), rate(bare), ratio?.toFixed(3) ?? '-', spread(ratios)],
  ])
  return shownTable(['redemptions', 'redeem/s', 'p50', 'p99', 'bare route/s', 'of bare', 'spread'], cells)
}

function mixedTable(rows: NonNullable<Results['mixed']>): string {
  const head = [
    'connections introspecting + issuing',
    'introspect/s',
    'p50',
    'p99',
    'of alone',
    'issue/s',
    'p99',
  ]
  return shownTable(
    head,
    rows.map((row) => [
      `${row.engine}: ${row.connections.introspect} + ${row.connections.issue}`,
      ...[rate(row.introspect), p50(row.introspect), p99(row.introspect), shownRatio(p99Ratio(row, rows))],
      ...[rate(row.issue), p99(row.issue)],
    ]),
  )
}

function memoryTable(rows: NonNullable<Results['memory']>): string {
  const cells = rows.map(({ engine, idle, cached, tokensCached }) => [
    engine,
    ...[
      shownMb(idle.rssBytes),
      shownCount(tokensCached),
      shownMb(cached.rssBytes),
      shownMb(cached.peakBytes),
    ],
  ])
  return shownTable(['memory', 'idle', 'tokens cached', 'then', 'at most'], cells)
}

function workersTable(rows: NonNullable<Results['workers']>): string {
  const cells = rows.map(({ engine, workers, kind, median, ratio }) => [
    `${engine}, ${kind}: ${workers}`,
    ...[rate(median), p50(median), p99(median), shownRatio(ratio), cost(median)],
  ])
  return shownTable(['workers', 'per second', 'p50', 'p99', 'of one', 'CPU main / all'], cells)
}

function deliveryTable(rows: NonNullable<Results['deliveries']>): string {
  const cells = rows.map(({ engine, destinations, isSecure, perSecond, barePerSecond, ratio, ratios }) => [
    `${engine}: ${shownCount(destinations)}${isSecure ? ' by https' : ''}`,
    ...[shownCount(perSecond), shownCount(barePerSecond), shownRatio(ratio), shownSpread(ratios)],
  ])
  return shownTable(['destinations', 'deliveries/s', 'bare undici loop/s', 'of it', 'spread'], cells)
}

const shownSpread = ([least, most]: readonly [number, number]): string =>
  `${least.toFixed(2)} to ${most.toFixed(2)}`

const interferenceTable = (rows: NonNullable<Results['interference']>): string =>
  shownTable(
    ['10 destinations beside one that does', 'rate', 'spread'],
    rows.map(({ engine, behaviour, ratio, ratios }) => [
      `${engine}: ${behaviour}`,
      ...[shownRatio(ratio), shownSpread(ratios)],
    ]),
  )

const idleTable = (rows: NonNullable<Results['idle']>): string =>
  shownTable(
    ['from commit to arrival, idle', 'median', 'p99'],
    rows.map(({ engine, medianMs, p99Ms }) => [engine, shownMs(medianMs), shownMs(p99Ms)]),
  )

function storeCostTable(rows: NonNullable<Results['storeCost']>): string {
  const cells = rows.map((row) => [
    row.load,
    row.perSecond > 0 ? shownCount(row.perSecond) : '-',
    ...[row.transactions.toFixed(3), shownCount(row.walBytes), shownCount(row.cpuMicros)],
    String(row.connections),
  ])
  const head = [
    'PostgreSQL, for one answer',
    'per second',
    'transactions',
    'WAL bytes',
    'CPU µs',
    'connections',
  ]
  return shownTable(head, cells)
}

const mark = (met: boolean | undefined): string => (met === undefined ? '?' : met ? '✓' : '✗')

const targetLines = (targets: readonly Target[]): string =>
  ['Targets', ...targets.map(({ name, met, found }) => `${mark(met)} ${name}: ${found}`)].join('\n')

/** Why some figures are missing. */
function reasons({
  throughput = [],
  gateway = [],
  redemptions = [],
  mixed = [],
  growth = [],
  workers = [],
  failures,
}: Results): string[] {
  const all: [string, Outcome | undefined][] = [
    ...[...throughput, ...gateway].flatMap(({ subject, median }) =>
      Object.entries(median).map(([kind, outcome]): [string, Outcome] => [
        `${SUBJECTS[subject].label}, ${kind}`,
        outcome,
      ]),
    ),
    ...redemptions.map(({ engine, redeem }): [string, Outcome] => [`${engine}, redemptions`, redeem]),
    ...mixed.flatMap(({ engine, introspect, issue }): [string, Outcome | undefined][] => [
      [`${engine}, mixed introspect`, introspect],
      [`${engine}, mixed issue`, issue],
    ]),
    ...growth.map(({ engine, activeTokens, issue }): [string, Outcome] => [
      `${engine}, ${activeTokens} active tokens`,
      issue,
    ]),
    ...workers.map(({ engine, workers: count, kind, median }): [string, Outcome] => [
      `${engine}, ${count} workers, ${kind}`,
      median,
    ]),
  ]
  const spoiled = all.flatMap(([what, outcome]) =>
    outcome && !isMeasured(outcome) ? [`${what}: ${outcome.noResult}`] : [],
  )
  return [...spoiled, ...failures].map((reason) => `No result: ${reason}`)
}

export function reportOf(results: Results, targets: readonly Target[]): { text: string; complete: boolean } {
  const { throughput, gateway, redemptions, mixed, growth, memory, workers, storeCost } = results
  const missing = reasons(results)
  const parts = [
    throughput && throughputTable(throughput),
    gateway && kindTable(gateway, 'gateway'),
    redemptions && redemptionTable(redemptions),
    mixed && mixedTable(mixed),
    growth && growthTable(growth),
    results.turnover && turnoverTable(results.turnover),
    results.limits && limitTable(results.limits),
    results.lists && listTable(results.lists),
    memory && memoryTable(memory),
    workers && workersTable(workers),
    results.deliveries && deliveryTable(results.deliveries),
    results.interference && interferenceTable(results.interference),
    results.idle && idleTable(results.idle),
    storeCost && storeCostTable(storeCost),
    missing.length > 0 && missing.join('\n'),
    targets.length > 0 && targetLines(targets),
  ]
  return { text: parts.filter((part) => part).join('\n\n'), complete: missing.length === 0 }
}
