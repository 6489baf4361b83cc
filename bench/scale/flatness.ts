import { setTimeout as wait } from 'node:timers/promises'
import { createRetention } from '../../server/src/features/deliveries/index.ts'
import { median } from '../compare.ts'
import { withDatabase } from '../jeton/projects.ts'
import { Receiver } from '../scenarios/receiver.ts'
import type { Client } from '../subject.ts'
import { clientOf, fillStore, projectId, RETENTION_DAYS, type Size } from './fill.ts'
import { type ListTime, listPaths, rankOf, timeLists } from './lists.ts'
import * as requests from './service.ts'
import { Service, webhook } from './service.ts'
import type { ScaleStore, ScaleStores } from './store.ts'

export const SMALL: Size = { projects: 200, keys: 1_000, destinations: 2_000, events: 10_000 }
/** Every store has them: the same requests go to the small and to the large one. */
const TRAFFIC_PROJECTS = 200
const LIST_ROUNDS = 7
const RETENTION_BATCHES = 25
const IDLE_MS = 12_000

/** Rates, or times in milliseconds, by name. */
type Figures = Record<string, number>
interface Round {
  /** More is better. */
  readonly perSecond: Figures
  /** Less is better. */
  readonly ms: Figures
  /** Processor time of Jeton and PostgreSQL per item of `perSecond`. Other work on the machine changes it less than rates. */
  readonly micros: Figures
  readonly lists: readonly number[][]
}

export interface Compared {
  readonly name: string
  readonly unit: 'per second' | 'ms' | 'processor µs'
  readonly small: number
  readonly large: number
  /** Speed of the large store as a part of the small one, median of the rounds. */
  readonly ratio: number
}

export interface Flatness {
  readonly compared: readonly Compared[]
  readonly lists: { readonly small: readonly ListTime[]; readonly large: readonly ListTime[] }
  readonly tables: readonly object[]
}

/** A store with the projects that receive events, and the tokens of the previous round. */
interface Side {
  readonly store: ScaleStore
  readonly receivers: readonly Destination[]
  issued: requests.Issued[]
}

interface Destination {
  readonly projectId: string
  readonly client: Client
  readonly webhookId: string
}

interface Options {
  readonly large: Size
  readonly rounds: number
  readonly part: number
  log(line: string): void
}

/** Fills a small and a large store. */
export async function fillStores(stores: ScaleStores, { large, log }: Options): Promise<ScaleStore[]> {
  const filled: ScaleStore[] = []
  for (const [name, size] of Object.entries({ small: SMALL, large })) {
    const store = await stores.create(name)
    await fillStore(store, size, (line) => log(`${name}: ${line}`))
    filled.push(store)
  }
  return filled
}

/** Compares them in rounds, with one service at a time. */
export async function compareStores(filled: readonly ScaleStore[], options: Options): Promise<Flatness> {
  const receiver = new Receiver()
  const url = await receiver.listen()
  try {
    const sides: Side[] = []
    for (const store of filled) sides.push(await prepare(store, url))
    return await runRounds(sides, receiver, options)
  } finally {
    receiver.close()
  }
}

/** The largest project and nine new ones, each with a webhook that works. */
async function prepare(store: ScaleStore, target_url: string): Promise<Side> {
  const service = await Service.start(store)
  try {
    const receivers: Destination[] = []
    for (let i = 0; i < 10; i++) {
      const id =
        i === 0
          ? projectId(1)
          : (await service.manage('POST', '/projects', { name: `Receiver ${i} ${process.pid}` })).id!
      const key = await service.manage('POST', `/projects/${id}/api-keys`, { name: 'events' })
      const created = await service.manage('POST', `/projects/${id}/webhooks`, webhook(target_url))
      const client = { id: key.app_id!, secret: key.app_token! }
      receivers.push({ projectId: id, client, webhookId: created.id! })
    }
    return { store, receivers, issued: await issueAll(service, TRAFFIC_PROJECTS) }
  } finally {
    await service.stop()
  }
}

async function issueAll(service: Service, count: number): Promise<requests.Issued[]> {
  const clients = Array.from({ length: TRAFFIC_PROJECTS }, (_, i) => clientOf(i + 2))
  const all = requests.rotate(clients, count)
  return requests.tokensOf(all, await service.send(all.map(requests.issue)))
}

async function runRounds(sides: readonly Side[], receiver: Receiver, options: Options): Promise<Flatness> {
  const paths = listPaths(Date.now())
  const rounds: Round[][] = sides.map(() => [])
  for (let round = 0; round < options.rounds; round++)
    for (const [i, side] of sides.entries()) {
      rounds[i]!.push(await runRound(side, receiver, paths, options.part))
      options.log(`round ${round + 1} of ${options.rounds}: ${i === 0 ? 'small' : 'large'} store`)
    }
  const [small, large] = rounds as [Round[], Round[]]
  return {
    compared: (['perSecond', 'micros', 'ms'] as const).flatMap((kind) => comparedBy(kind, small, large)),
    lists: { small: listTimes(paths, small), large: listTimes(paths, large) },
    tables: await tableSizes(sides[1]!.store),
  }
}

async function runRound(
  side: Side,
  receiver: Receiver,
  paths: readonly string[],
  part: number,
): Promise<Round> {
  const many = (count: number) => Math.max(TRAFFIC_PROJECTS, Math.round(count * part))
  const retention = await runRetention(side.store)
  const service = await Service.start(side.store)
  try {
    const meter = new Meter(side.store, service)
    const { issued } = side
    await meter.add('verify, cold', issued.length, () => service.send(issued.map(requests.introspect)))
    const asked = requests.rotate(issued, many(20_000))
    await meter.add('verify, cached', asked.length, () => service.send(asked.map(requests.introspect)))
    await issueAll(service, TRAFFIC_PROJECTS)
    side.issued = await meter.add('issue', many(5_000), () => issueAll(service, many(5_000)))
    await deliver(side, receiver, meter, many(1_000))
    const lists = await timeLists(service, paths, LIST_ROUNDS)
    const idle = await measureIdle(side.store, service)
    return {
      perSecond: { ...meter.perSecond, retention },
      micros: meter.micros,
      ms: { 'restart until ready': service.readyMs, 'idle, processor time per second': idle },
      lists,
    }
  } finally {
    await service.stop()
  }
}

class Meter {
  readonly perSecond: Figures = {}
  readonly micros: Figures = {}
  readonly service: Service
  readonly #store: ScaleStore

  constructor(store: ScaleStore, service: Service) {
    this.#store = store
    this.service = service
  }

  async add<T>(name: string, count: number, work: () => Promise<T>): Promise<T> {
    const [startedAt, before] = [performance.now(), microsOf(this.#store, this.service)]
    const result = await work()
    this.perSecond[name] = (count * 1000) / (performance.now() - startedAt)
    this.micros[name] = (microsOf(this.#store, this.service) - before) / count
    return result
  }
}

const microsOf = (store: ScaleStore, service: Service): number =>
  service.use().cpuMicros + store.databaseMicros()

/** Events per second of one run of retention, with the service stopped. */
async function runRetention(store: ScaleStore): Promise<number> {
  const count = async () =>
    store.withSql(async (run) =>
      Number((await run(`select count(*) as n from events where project_id <= '${projectId(30)}'`))[0]!.n),
    )
  const before = await count()
  const ms = await withDatabase({ env: { ...store.env, JETON_PORT: '0' } }, async (db) => {
    const startedAt = performance.now()
    await createRetention({ db, days: RETENTION_DAYS + 5, batchesPerRun: RETENTION_BATCHES }).run(Date.now())
    return performance.now() - startedAt
  })
  return ((before - (await count())) * 1000) / ms
}

/** Delivers events as they come, then those that were held until their webhook was enabled. */
async function deliver({ receivers }: Side, receiver: Receiver, meter: Meter, count: number): Promise<void> {
  const { service } = meter
  const report = () =>
    service.send(requests.rotate(receivers, count).map(({ client }) => requests.report(client)))
  const change = (verb: string) =>
    Promise.all(
      receivers.map(({ projectId: id, webhookId }) =>
        service.manage('POST', `/projects/${id}/webhooks/${webhookId}/${verb}`),
      ),
    )
  await meter.add('report and deliver', count, async () => {
    const arrived = receiver.receive(count)
    await report()
    await arrived
  })
  await change('disable')
  await report()
  await meter.add('claim and deliver', count, async () => {
    const arrived = receiver.receive(count)
    await change('enable')
    await arrived
  })
}

async function measureIdle(store: ScaleStore, service: Service): Promise<number> {
  const before = microsOf(store, service)
  await wait(IDLE_MS)
  return (microsOf(store, service) - before) / IDLE_MS
}

const UNITS = { perSecond: 'per second', ms: 'ms', micros: 'processor µs' } as const

function comparedBy(kind: keyof typeof UNITS, small: readonly Round[], large: readonly Round[]): Compared[] {
  return Object.keys(small[0]![kind]).map((name) => {
    const of = (rounds: readonly Round[]) => rounds.map((round) => round[kind][name]!)
    const [mine, theirs] = [of(large), of(small)]
    const ratios = mine.map((value, i) => (kind === 'perSecond' ? value / theirs[i]! : theirs[i]! / value))
    return { name, unit: UNITS[kind], small: median(theirs), large: median(mine), ratio: median(ratios) }
  })
}

const listTimes = (paths: readonly string[], rounds: readonly Round[]): ListTime[] =>
  paths.map((path, i) => {
    const times = rounds.flatMap(({ lists }) => lists[i]!).sort((a, b) => a - b)
    return { path, medianMs: rankOf(times, 0.5), p95Ms: rankOf(times, 0.95) }
  })

const TABLE_SIZES = `select relname as "table", n_live_tup as "rows", pg_table_size(relid) as "tableBytes",
  pg_indexes_size(relid) as "indexBytes" from pg_stat_user_tables where n_live_tup > 1000 order by relname`

const tableSizes = (store: ScaleStore): Promise<readonly object[]> =>
  store.withSql((run) =>
    run(
      store.engine === 'postgres'
        ? TABLE_SIZES
        : 'select page_count * page_size as bytes from pragma_page_count, pragma_page_size',
    ),
  )
