import type { Results } from './results.ts'
import {
  shownCost,
  shownCount,
  shownMb,
  shownMs,
  shownP50,
  shownP99,
  shownRate,
  shownTable,
} from './shown.ts'
import type { Engine } from './stores.ts'

/** Stretches that the table shows of each engine; the plot has all. */
const STRETCHES = 6
/** Lists that the table shows: the slowest. */
const SLOWEST = 12

export function growthTable(rows: NonNullable<Results['growth']>): string {
  const cells = rows.map(({ engine, activeTokens, issue }) => [
    `${engine}: ${shownCount(activeTokens)}`,
    ...[shownRate(issue), shownP50(issue), shownP99(issue), shownCost(issue)],
  ])
  return shownTable(['active tokens', 'issue/s', 'p50', 'p99', 'CPU main / all'], cells)
}

/** The last one, and some before it at equal distances. */
function some<T>(all: readonly T[], most: number): T[] {
  const step = Math.max(1, Math.ceil(all.length / most))
  return all.filter((_, i) => (all.length - 1 - i) % step === 0)
}

export function turnoverTable(rows: NonNullable<Results['turnover']>): string {
  const cells = rows.flatMap(({ engine, points }) =>
    some(points, STRETCHES).map((point) => [
      `${engine}: ${shownCount(point.issued)}`,
      ...[shownCount(point.tokens), shownMb(point.storeBytes)],
      ...[shownRate(point), shownP50(point), shownP99(point), shownCost(point)],
      engine === 'sqlite' ? '-' : `${point.storeMicros.toFixed(1)} µs`,
    ]),
  )
  const head = [
    'tokens issued',
    'in the store',
    'its size',
    'issue/s',
    'p50',
    'p99',
    'CPU main / all',
    'PostgreSQL',
  ]
  return shownTable(head, cells)
}

export function limitTable(rows: NonNullable<Results['limits']>): string {
  const cells = rows.flatMap(({ engine, projects, refuse, replace }) =>
    [
      { what: 'nothing expires', found: refuse, issued: 0 },
      { what: 'tokens expire', found: replace, issued: replace.issuedPerSecond },
    ].map(({ what, found, issued }) => [
      `${engine}: ${shownCount(projects)}, ${what}`,
      ...[shownCount(found.perSecond - issued), shownCount(issued)],
      ...[shownP50(found), shownP99(found), shownCost(found)],
    ]),
  )
  return shownTable(['projects at their limit', 'refuse/s', 'issue/s', 'p50', 'p99', 'CPU main / all'], cells)
}

export function listTable(rows: NonNullable<Results['lists']>): string {
  const names = [...new Set(rows.map(({ list }) => list))]
  const of = (list: string, engine: Engine) => rows.find((row) => row.list === list && row.engine === engine)
  const worst = (list: string) =>
    Math.max(...rows.filter((row) => row.list === list).map(({ medianMs }) => medianMs))
  const slowest = names.sort((a, b) => worst(b) - worst(a)).slice(0, SLOWEST)
  const cells = slowest.map((list) => [
    list,
    ...(['sqlite', 'postgres'] as const).flatMap((engine) => {
      const row = of(list, engine)
      return row ? [shownMs(row.medianMs), shownMs(row.slowestMs)] : ['-', '-']
    }),
  ])
  const head = [
    `lists, ${shownCount(rows[0]?.events ?? 0)} events`,
    'SQLite',
    'slowest',
    'PostgreSQL',
    'slowest',
  ]
  return `${shownTable(head, cells)}\nThese took longest of ${names.length}.`
}
