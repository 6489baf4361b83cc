import { isMeasured } from './measure/load-subject.ts'
import { p99Ratio } from './measure/mixed.ts'
import { drift } from './measure/turnover.ts'
import type { Results } from './results.ts'
import { shownCount, shownMb, shownMs } from './shown.ts'
import type { Engine } from './stores.ts'

const REDEMPTIONS_LEAST = { sqlite: 0.025, postgres: 0.02 } as const
const P99_MOST = 2
/** "Flat": what is lost from an empty store to the fullest is within what two runs of the same differ by. */
const FLAT_LEAST = 0.9
/** What size and cost may grow by while as many tokens go as come. */
const GROWN_MOST = 1.1
const LIST_MOST_MS = 50
const MEMORY_MOST_BYTES = 300_000_000
/** By a third: two processors carry two workers and the load. */
const WORKERS_LEAST = 1.33
const DELIVERIES_LEAST = { sqlite: 0.33, postgres: 0.22 } as const
const IDLE_MOST_MS = 6
const INTERFERENCE_LEAST = 0.9

export interface Target {
  readonly name: string
  /** Undefined where it was not measured, or gave no result. */
  readonly met: boolean | undefined
  readonly found: string
}

const ENGINE_LABEL: Record<Engine, string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

function target(
  name: string,
  value: number | undefined,
  judge: { meets(value: number): boolean; show(value: number): string },
): Target {
  return value === undefined
    ? { name, met: undefined, found: 'no result' }
    : { name, met: judge.meets(value), found: judge.show(value) }
}

const times = (value: number): string => `${value.toFixed(2)} ×`
const atLeast = (least: number) => ({ meets: (value: number) => value >= least, show: times })
const atMost = (most: number, show = times) => ({ meets: (value: number) => value <= most, show })

/** With the fast path, and through Fastify alone. */
const PATHS = [
  { suffix: '', without: '', introspect: 0.8, gateway: 0.8, issue: { sqlite: 0.5, postgres: 0.45 } },
  {
    suffix: '-fastify',
    without: ' without the fast path',
    introspect: 0.6,
    gateway: 0.6,
    issue: { sqlite: 0.4, postgres: 0.33 },
  },
] as const

function throughputTargets({ throughput = [], gateway = [] }: Results, engine: Engine): Target[] {
  return PATHS.flatMap(({ suffix, without, ...least }) =>
    [...throughput, ...gateway]
      .filter(({ subject }) => subject === `jeton-${engine}${suffix}`)
      .flatMap(({ median, ratio }) =>
        (['introspect', 'issue', 'gateway'] as const)
          .filter((kind) => median[kind])
          .map((kind) => {
            const ofBare = kind === 'issue' ? least.issue[engine] : least[kind]
            const name = `${kind} on ${ENGINE_LABEL[engine]}${without} ≥ ${ofBare} of the bare route`
            return target(name, ratio[kind], atLeast(ofBare))
          }),
      ),
  )
}

function redemptionTargets({ redemptions }: Results, engine: Engine): Target[] {
  const row = redemptions?.find((one) => one.engine === engine)
  if (!row) return []
  const least = REDEMPTIONS_LEAST[engine]
  const name = `redemptions on ${ENGINE_LABEL[engine]} ≥ ${least} of the bare route`
  return [target(name, row.ratio, { ...atLeast(least), show: (ratio) => `${ratio.toFixed(3)} ×` })]
}

/** With 128 connections in all, of which half issue. */
function mixedTargets({ mixed = [] }: Results, engine: Engine): Target[] {
  const row = mixed.find((one) => one.engine === engine && one.connections.issue === 64)
  if (!row) return []
  const name = `p99 of introspection while issuing, ${ENGINE_LABEL[engine]}, ≤ ${P99_MOST} ×`
  return [target(name, isMeasured(row.issue) ? p99Ratio(row, mixed) : undefined, atMost(P99_MOST))]
}

function growthTargets({ growth }: Results, engine: Engine): Target[] {
  const rows = growth?.filter((row) => row.engine === engine) ?? []
  if (rows.length === 0) return []
  const [empty, full] = [rows[0]!, rows.at(-1)!]
  const ratio =
    isMeasured(empty.issue) && isMeasured(full.issue)
      ? full.issue.perSecond / empty.issue.perSecond
      : undefined
  const name = `issue ${ENGINE_LABEL[engine]} flat to ${shownCount(full.activeTokens)} active tokens (≥ ${FLAT_LEAST} ×)`
  return [target(name, ratio, atLeast(FLAT_LEAST))]
}

/** Once tokens go as fast as they come, and after all have gone. */
function turnoverTargets({ turnover }: Results, engine: Engine): Target[] {
  const row = turnover?.find((one) => one.engine === engine)
  if (!row) return []
  const on = `${ENGINE_LABEL[engine]} while ${shownCount(row.points.at(-1)!.issued)} tokens come and go`
  const found = drift(row)
  return [
    target(`cost of a token on ${on} flat (≤ ${GROWN_MOST} ×)`, found?.cost, atMost(GROWN_MOST)),
    target(`size of ${on} flat (≤ ${GROWN_MOST} ×)`, found?.bytes, atMost(GROWN_MOST)),
    target(
      `no token is left on ${ENGINE_LABEL[engine]} after all have expired`,
      row.left,
      atMost(0, shownCount),
    ),
  ]
}

function limitTargets({ limits }: Results, engine: Engine): Target[] {
  const row = limits?.find((one) => one.engine === engine)
  if (!row) return []
  const name = `no project of ${shownCount(row.projects)} at their limit has more than 1,000 tokens, ${ENGINE_LABEL[engine]}`
  return [target(name, row.mostActive, atMost(1_000, shownCount))]
}

function listTargets({ lists }: Results, engine: Engine): Target[] {
  const rows = lists?.filter((row) => row.engine === engine) ?? []
  if (rows.length === 0) return []
  const name = `every list and filter on ${ENGINE_LABEL[engine]} with ${shownCount(rows[0]!.events)} events within ${LIST_MOST_MS} ms`
  return [target(name, Math.max(...rows.map(({ medianMs }) => medianMs)), atMost(LIST_MOST_MS, shownMs))]
}

function memoryTargets({ memory }: Results, engine: Engine): Target[] {
  const row = memory?.find((one) => one.engine === engine)
  if (!row) return []
  const name = `memory ${ENGINE_LABEL[engine]} with ${shownCount(row.tokensCached)} tokens cached < ${shownMb(MEMORY_MOST_BYTES)}`
  return [target(name, row.cached.peakBytes, atMost(MEMORY_MOST_BYTES, shownMb))]
}

/** With two workers on two processors, and the load generator beside them. */
function workersTargets({ workers = [] }: Results, engine: Engine): Target[] {
  const rows = workers.filter((one) => one.engine === engine && one.workers === 2)
  return rows.map(({ kind, ratio }) => {
    const name = `${kind} ${ENGINE_LABEL[engine]} with two workers ≥ ${WORKERS_LEAST} × of one`
    return target(name, ratio, atLeast(WORKERS_LEAST))
  })
}

function deliveryTargets(results: Results, engine: Engine): Target[] {
  const { deliveries = [], idle = [], interference = [] } = results
  const least = DELIVERIES_LEAST[engine]
  const sent = deliveries
    .filter((row) => row.engine === engine && !row.isSecure)
    .map(({ destinations, ratio }) =>
      target(
        `deliveries ${ENGINE_LABEL[engine]}, ${shownCount(destinations)} destinations, ≥ ${least} of a bare loop`,
        ratio,
        atLeast(least),
      ),
    )
  const waited = idle
    .filter((row) => row.engine === engine)
    .map(({ medianMs }) =>
      target(
        `from commit to arrival when idle, ${ENGINE_LABEL[engine]}, ≤ ${IDLE_MOST_MS} ms`,
        medianMs,
        atMost(IDLE_MOST_MS, shownMs),
      ),
    )
  const beside = interference
    .filter((row) => row.engine === engine)
    .map(({ behaviour, ratio }) =>
      target(
        `deliveries ${ENGINE_LABEL[engine]} beside a destination that does "${behaviour}" ≥ ${INTERFERENCE_LEAST}`,
        ratio,
        atLeast(INTERFERENCE_LEAST),
      ),
    )
  return [...sent, ...waited, ...beside]
}

export function targetsOf(results: Results): Target[] {
  const kinds = [
    throughputTargets,
    redemptionTargets,
    mixedTargets,
    growthTargets,
    turnoverTargets,
    limitTargets,
    listTargets,
    memoryTargets,
    workersTargets,
    deliveryTargets,
  ]
  return kinds.flatMap((kind) => (['sqlite', 'postgres'] as const).flatMap((engine) => kind(results, engine)))
}
