import { setTimeout as wait } from 'node:timers/promises'
import { createProjects } from '../jeton/projects.ts'
import { createShop } from '../jeton/shop.ts'
import { Receiver } from '../scenarios/receiver.ts'
import type { Client } from '../subject.ts'
import * as requests from './service.ts'
import { Service, webhook } from './service.ts'
import type { ScaleStore } from './store.ts'

/** Cost of one operation, without the background work of the service. */
export interface Cost {
  readonly operation: string
  readonly count: number
  readonly jetonMicros: number
  readonly postgresMicros: number
  /** Write-ahead log of PostgreSQL; on SQLite all bytes given to the disk. */
  readonly writtenBytes: number
  /** Growth of tables and indexes. */
  readonly keptBytes: number
}

export interface Costs {
  readonly rows: readonly Cost[]
  /** Processor time per second of an idle service. */
  readonly idle: { readonly jetonMicros: number; readonly postgresMicros: number }
}

const IDLE_MS = 12_000
const PROJECTS = 200
/** Results of deliveries, usage and times of last use are written after the response. */
const SETTLE_MS = 3_000

interface Reading {
  readonly at: number
  readonly jetonMicros: number
  readonly postgresMicros: number
  readonly writtenBytes: number
  readonly keptBytes: number
}

const SIZES = {
  postgres: `select pg_current_wal_lsn() - '0/0'::pg_lsn as written,
    (select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace) as kept`,
  sqlite: `select (page_count - freelist_count) * page_size as kept
    from pragma_page_count, pragma_freelist_count, pragma_page_size`,
}

async function read(store: ScaleStore, service: Service): Promise<Reading> {
  const [row] = await store.withSql((run) => run(SIZES[store.engine]))
  const { cpuMicros, writtenBytes } = service.use()
  return {
    at: performance.now(),
    jetonMicros: cpuMicros,
    postgresMicros: store.databaseMicros(),
    writtenBytes: Number(row!.written ?? writtenBytes),
    keptBytes: Number(row!.kept),
  }
}

/** Measures operations one after the other on one store, with 16 requests in flight. */
class Measurement {
  readonly rows: Cost[] = []
  readonly store: ScaleStore
  readonly service: Service
  idle = { jetonMicros: 0, postgresMicros: 0 }

  constructor(store: ScaleStore, service: Service) {
    this.store = store
    this.service = service
  }

  async measureIdle(): Promise<void> {
    const before = await read(this.store, this.service)
    await wait(IDLE_MS)
    const after = await read(this.store, this.service)
    const seconds = (after.at - before.at) / 1000
    this.idle = {
      jetonMicros: (after.jetonMicros - before.jetonMicros) / seconds,
      postgresMicros: (after.postgresMicros - before.postgresMicros) / seconds,
    }
  }

  async add<T>(operation: string, count: number, work: () => Promise<T>): Promise<T> {
    const before = await read(this.store, this.service)
    const result = await work()
    await wait(SETTLE_MS)
    const after = await read(this.store, this.service)
    const seconds = (after.at - before.at) / 1000
    const per = (name: keyof Reading, background = 0) =>
      Math.max(0, (after[name] - before[name] - background * seconds) / count)
    this.rows.push({
      ...{ operation, count },
      jetonMicros: per('jetonMicros', this.idle.jetonMicros),
      postgresMicros: per('postgresMicros', this.idle.postgresMicros),
      writtenBytes: per('writtenBytes'),
      keptBytes: per('keptBytes'),
    })
    return result
  }
}

/** `part` scales the numbers of requests. */
export async function measureCosts(store: ScaleStore, part: number): Promise<Costs> {
  const env = { ...store.env, JETON_PORT: '0' }
  const clients = await createProjects({ env }, PROJECTS)
  const shopper = clients[0]!
  const shop = await createShop({ env } as never, shopper.projectId)
  const service = await Service.start(store)
  try {
    const measurement = new Measurement(store, service)
    const { add } = { add: measurement.add.bind(measurement) }
    const many = (count: number) => Math.max(PROJECTS, Math.round(count * part))
    // Not counted: the first requests load keys and compile code.
    await service.send(requests.rotate(clients, many(2_000)).map(requests.issue))
    await measurement.measureIdle()

    const issuers = requests.rotate(clients, many(10_000))
    const answers = await add('issue a token', issuers.length, () =>
      service.send(issuers.map(requests.issue)),
    )
    const issued = requests.tokensOf(issuers, answers)
    const asked = requests.rotate(issued, many(40_000))
    await add('introspect a cached token', asked.length, () => service.send(asked.map(requests.introspect)))
    await add('authorize a call (gateway)', asked.length, () => service.send(asked.map(requests.gateway)))
    const ended = issued.slice(0, many(2_000))
    await add('revoke a token', ended.length, () => service.send(ended.map(requests.revoke)))
    const cards = requests.rotate(shop.cardCodes, many(4_000))
    await add('redeem a reward', cards.length, () =>
      service.send(cards.map((card) => requests.redeem(shopper, shop, card))),
    )
    await measureEvents(measurement, clients[1]!, many(4_000))
    await measureManagement(measurement, clients[2]!.projectId, many(1_000))
    return { rows: measurement.rows, idle: measurement.idle }
  } finally {
    await service.stop()
  }
}

async function measureEvents(
  measurement: Measurement,
  client: Client & { readonly projectId: string },
  count: number,
): Promise<void> {
  const { service } = measurement
  const events = () => Array.from({ length: count }, () => requests.report(client))
  await measurement.add('report an event, no destination', count, () => service.send(events()))
  const receiver = new Receiver()
  const target_url = await receiver.listen()
  try {
    await service.manage('POST', `/projects/${client.projectId}/webhooks`, webhook(target_url))
    await measurement.add('report an event, one delivery', count, async () => {
      const all = receiver.receive(count)
      await service.send(events())
      await all
    })
  } finally {
    receiver.close()
  }
}

async function measureManagement(measurement: Measurement, projectId: string, count: number): Promise<void> {
  const { service } = measurement
  const path = `/projects/${projectId}/api-keys`
  const created = Array.from({ length: count }, (_, i) =>
    requests.managed('POST', path, { name: `Key ${i}` }),
  )
  await measurement.add('create a key', count, () => service.send(created))
  const pages = Array.from({ length: count }, () => requests.managed('GET', path))
  await measurement.add('read a page of a list', count, () => service.send(pages))
}
