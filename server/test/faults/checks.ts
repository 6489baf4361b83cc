import { sql } from 'kysely'
import type { Database } from '../../src/platform/database/index.ts'
import { readTotals } from '../concurrent-redemptions.ts'
import type { Receiver } from '../receiver.ts'
import {
  type DemoProject,
  LARGE_STOCK,
  PRICE,
  PROJECT_LIMIT,
  SMALL_LIMIT,
  SMALL_STOCK,
} from './demo-project.ts'
import type { Ledger, TokenEntry } from './ledger.ts'
import type { Load } from './load.ts'

export interface CheckInput {
  readonly load: Load
  readonly demo: DemoProject
  /** The store, opened beside the service. */
  readonly db: Database
  /** Addresses of the processes that serve now. */
  readonly urls: () => readonly string[]
  /** How long a process may take to notice a change. The default is the promised worst case. */
  readonly noticedWithinMs?: number
  /** Must receive every event. Undefined if the scenario sends none. */
  readonly receiver?: Receiver | undefined
  readonly arrivesWithinMs?: number
}

/** Looks for one kind of loss while no request is in flight. Returns a message for each loss. */
export interface Check {
  readonly name: string
  /** Runs only at the end of the scenario, since it takes long. */
  readonly isFinal?: boolean
  run(input: CheckInput): Promise<string[]>
}

const rowsOf = async <Row>(db: Database, query: ReturnType<typeof sql<Row>>): Promise<Row[]> =>
  (await query.execute(db.read<never>() as never)).rows

const missing = (what: string, wanted: Iterable<string>, found: ReadonlySet<string>): string[] =>
  [...wanted].filter((id) => !found.has(id)).map((id) => `${what} ${id} was acknowledged and is missing`)

/** Points and stock are exact. Every acknowledged redemption is stored once, with its event, and there is no other. */
const redemptions: Check = {
  name: 'redemptions, points, stock',
  async run({ db, load, demo }) {
    const answered = load.ledger.redemptions.filter(({ answer }) => answer !== undefined)
    const rows = await rowsOf(
      db,
      sql<{ id: string }>`select id from redemptions where project_id = ${demo.projectId}`,
    )
    const ids = answered.map(({ answer }) => JSON.parse(answer!).id as string)
    const lost = missing('redemption', ids, new Set(rows.map(({ id }) => id)))
    if (rows.length !== answered.length)
      lost.push(`${answered.length} redemptions acknowledged, ${rows.length} in the store`)
    for (const [reward, stock] of [
      [demo.largeStockReward, LARGE_STOCK],
      [demo.smallStockReward, SMALL_STOCK],
    ] as const) {
      const totals = await readTotals(db, reward)
      const taken = stock - totals.stockLeft!
      const wanted = { redemptions: taken, events: taken, redeemed: taken, takenByRedemptions: taken * PRICE }
      for (const [name, value] of Object.entries(wanted))
        if (totals[name as keyof typeof wanted] !== value)
          lost.push(`${name} of ${reward}: ${totals[name as keyof typeof wanted]} instead of ${value}`)
      if (totals.stockLeft! < 0) lost.push(`stock of ${reward} is ${totals.stockLeft}`)
      for (const card of totals.wrongCards) lost.push(`a card does not add up: ${JSON.stringify(card)}`)
    }
    return lost
  },
}

/** Every acknowledged redemption and report has exactly one event, and there is no other event. */
const events: Check = {
  name: 'events',
  async run({ db, load, demo }) {
    const rows = await rowsOf(
      db,
      sql<{ id: string }>`select id from events where project_id = ${demo.projectId}`,
    )
    const reported = load.ledger.reports.flatMap(({ eventId }) => eventId ?? [])
    const { events } = load.ledger.acknowledged()
    const lost = missing('event', reported, new Set(rows.map(({ id }) => id)))
    if (new Set(reported).size !== reported.length) lost.push('two reports share one event')
    if (rows.length !== events) lost.push(`${events} events acknowledged, ${rows.length} in the store`)
    return lost
  },
}

/**
 * Neither the project nor the key with a limit of its own has too many active tokens. They are counted at the latest time
 * of issue in the store, since no clock in use is behind that.
 */
const limits: Check = {
  name: 'limits',
  async run({ db, demo }) {
    const counted = await rowsOf(
      db,
      sql<{ key_id: string; n: number }>`select t.key_id, count(*) as n from tokens t
        join api_keys k on k.project_id = t.project_id and k.id = t.key_id and k.epoch = t.epoch
        where t.project_id = ${demo.projectId} and t.revoked_at is null
          and t.expires_at > (select max(expires_at) from tokens) - ${LIFETIME_MS} group by t.key_id`,
    )
    const total = counted.reduce((sum, { n }) => sum + Number(n), 0)
    const small = Number(counted.find(({ key_id }) => key_id === demo.small.id)?.n ?? 0)
    return [
      ...(total > PROJECT_LIMIT ? [`${total} active tokens in a project of ${PROJECT_LIMIT}`] : []),
      ...(small > SMALL_LIMIT ? [`${small} active tokens of a key of ${SMALL_LIMIT}`] : []),
    ]
  },
}

/** Deliveries that a killed process had claimed fall due when their lease ends, after 20 s. Several may be killed in turn. */
const ARRIVES_WITHIN_MS = 150_000

/** The receiver gets every event of the store, under one id and with the same bytes each time, and no other event. */
const arrival: Check = {
  name: 'arrival',
  isFinal: true,
  async run({ db, demo, receiver, arrivesWithinMs = ARRIVES_WITHIN_MS }) {
    if (!receiver) return []
    const { projectId } = demo
    const rows = await rowsOf(db, sql<{ id: string }>`select id from events where project_id = ${projectId}`)
    const ids = rows.map(({ id }) => id)
    const arrived = () => new Set(receiver.received.map(({ payload }) => payload.event.id as string))
    for (const end = Date.now() + arrivesWithinMs; Date.now() < end; ) {
      const found = arrived()
      if (ids.every((id) => found.has(id))) break
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const found = arrived()
    const missed = ids.filter((id) => !found.has(id)).map((id) => `event ${id} did not arrive`)
    const known = new Set(ids)
    const unknown = [...found]
      .filter((id) => !known.has(id))
      .map((id) => `event ${id} arrived and is missing in the store`)
    const sent = Map.groupBy(receiver.received, ({ headers }) => headers['webhook-id'])
    const changed = [...sent].filter(([, same]) => new Set(same.map(({ body }) => body)).size > 1)
    const twice = sent.size > found.size ? [`${sent.size} deliveries of ${found.size} events`] : []
    return [...missed, ...unknown, ...twice, ...changed.map(([id]) => `delivery ${id} had several bodies`)]
  },
}

const LIFETIME_MS = 900_000
/** Other processes notice a change within 2 s, or 30 s in the worst case. */
const NOTICED_WITHIN_MS = 45_000
const MAX_DEAD_CHECKED = 300

async function wrongVerdicts(
  { load }: CheckInput,
  url: string,
  entries: readonly { entry: TokenEntry; active: boolean }[],
): Promise<{ entry: TokenEntry; active: boolean }[]> {
  const wrong = await Promise.all(
    entries.map(async (one) => {
      const { status, body } = await load.introspect(one.entry.token, url)
      return status === 200 && body.active === one.active ? [] : [one]
    }),
  )
  return wrong.flat()
}

const recent = <T>(list: readonly T[], most: number): readonly T[] => list.slice(-most)

/** Every process reports every acknowledged token as active and every dead one as inactive. */
const tokens: Check = {
  name: 'tokens',
  async run(input) {
    const { ledger } = input.load
    const fresh = ledger.tokens.filter(({ expiresAt }) => expiresAt > Date.now() + NOTICED_WITHIN_MS)
    const of = (state: ReturnType<Ledger['stateOf']>) =>
      fresh.filter((entry) => ledger.stateOf(entry) === state)
    const wanted = [
      ...of('alive').map((entry) => ({ entry, active: true })),
      ...recent(of('dead'), MAX_DEAD_CHECKED).map((entry) => ({ entry, active: false })),
    ]
    const withinMs = input.noticedWithinMs ?? NOTICED_WITHIN_MS
    const lost: string[] = []
    for (const url of input.urls()) {
      let wrong = await wrongVerdicts(input, url, wanted)
      for (const end = Date.now() + withinMs; wrong.length > 0 && Date.now() < end; ) {
        await new Promise((resolve) => setTimeout(resolve, 200))
        wrong = await wrongVerdicts(input, url, wrong)
      }
      for (const { entry, active } of wrong)
        lost.push(
          `${url}: ${active ? 'an acknowledged token is missing' : 'a dead token is active'}: ${entry.token.slice(0, 20)}…`,
        )
    }
    return lost
  },
}

/** The checks of every scenario. A feature with a new guarantee adds its check here. */
export const CHECKS: readonly Check[] = [redemptions, events, limits, tokens, arrival]
