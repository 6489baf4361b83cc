import { sql } from 'kysely'
import type { Database } from '../../src/platform/database/index.ts'
import type { Receiver } from '../receiver.ts'
import { readBooks } from '../redemption-rush.ts'
import type { Ledger, TokenEntry } from './ledger.ts'
import type { Load } from './load.ts'
import { PLENTY, PRICE, PROJECT_LIMIT, SCARCE, SMALL_LIMIT, type Stage } from './stage.ts'

export interface Scene {
  readonly load: Load
  readonly stage: Stage
  /** The store itself, past the service. */
  readonly db: Database
  /** Every process that serves now. */
  readonly urls: () => readonly string[]
  /** How long a process may take to notice a change; the contract's worst case, unless told otherwise. */
  readonly noticedWithinMs?: number
  /** Where every event must arrive; nowhere where nobody was told to send them. */
  readonly receiver?: Receiver | undefined
  readonly arrivesWithinMs?: number
}

/** Looks for one kind of loss, when nothing is under way any more; in words, everything that it finds. */
export interface Check {
  readonly name: string
  /** Only when all is over, since it takes its time. */
  readonly atTheEnd?: boolean
  run(scene: Scene): Promise<string[]>
}

const rowsOf = async <Row>(db: Database, query: ReturnType<typeof sql<Row>>): Promise<Row[]> =>
  (await query.execute(db.read<never>() as never)).rows

const missing = (what: string, wanted: Iterable<string>, found: ReadonlySet<string>): string[] =>
  [...wanted].filter((id) => !found.has(id)).map((id) => `${what} ${id} was acknowledged and is gone`)

/** Points and stock exact; every acknowledged redemption there once, with its event, and none that was not asked for. */
const redemptions: Check = {
  name: 'redemptions, points, stock',
  async run({ db, load, stage }) {
    const answered = load.ledger.redemptions.filter(({ answer }) => answer !== undefined)
    const rows = await rowsOf(
      db,
      sql<{ id: string }>`select id from redemptions where project_id = ${stage.projectId}`,
    )
    const ids = answered.map(({ answer }) => JSON.parse(answer!).id as string)
    const lost = missing('redemption', ids, new Set(rows.map(({ id }) => id)))
    if (rows.length !== answered.length)
      lost.push(`${answered.length} redemptions acknowledged, ${rows.length} in the store`)
    for (const [reward, stock] of [
      [stage.plenty, PLENTY],
      [stage.scarce, SCARCE],
    ] as const) {
      const books = await readBooks(db, reward)
      const taken = stock - books.stockLeft!
      const wanted = { redemptions: taken, events: taken, redeemed: taken, takenByRedemptions: taken * PRICE }
      for (const [name, value] of Object.entries(wanted))
        if (books[name as keyof typeof wanted] !== value)
          lost.push(`${name} of ${reward}: ${books[name as keyof typeof wanted]} instead of ${value}`)
      if (books.stockLeft! < 0) lost.push(`stock of ${reward} is ${books.stockLeft}`)
      for (const card of books.wrongCards) lost.push(`a card does not add up: ${JSON.stringify(card)}`)
    }
    return lost
  },
}

/** Every acknowledged redemption and report has its one event, and there is no other. */
const events: Check = {
  name: 'events',
  async run({ db, load, stage }) {
    const rows = await rowsOf(
      db,
      sql<{ id: string }>`select id from events where project_id = ${stage.projectId}`,
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
 * Counted in the store, at the latest time that it has ever issued at, since no clock in use is behind that: no more than
 * allowed, of the project and of the key with a limit of its own.
 */
const limits: Check = {
  name: 'limits',
  async run({ db, stage }) {
    const counted = await rowsOf(
      db,
      sql<{ key_id: string; n: number }>`select t.key_id, count(*) as n from tokens t
        join api_keys k on k.project_id = t.project_id and k.id = t.key_id and k.epoch = t.epoch
        where t.project_id = ${stage.projectId} and t.revoked_at is null
          and t.expires_at > (select max(expires_at) from tokens) - ${LIFETIME_MS} group by t.key_id`,
    )
    const total = counted.reduce((sum, { n }) => sum + Number(n), 0)
    const small = Number(counted.find(({ key_id }) => key_id === stage.small.id)?.n ?? 0)
    return [
      ...(total > PROJECT_LIMIT ? [`${total} active tokens in a project of ${PROJECT_LIMIT}`] : []),
      ...(small > SMALL_LIMIT ? [`${small} active tokens of a key of ${SMALL_LIMIT}`] : []),
    ]
  },
}

/** What a killed process had claimed falls due when its lease ends, after 20 s; several may be killed in turn. */
const ARRIVES_WITHIN_MS = 150_000

/** Every event of the store arrives at its receiver, under one id and with the same bytes each time, and no other does. */
const arrival: Check = {
  name: 'arrival',
  atTheEnd: true,
  async run({ db, stage, receiver, arrivesWithinMs = ARRIVES_WITHIN_MS }) {
    if (!receiver) return []
    const { projectId } = stage
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
    const unknown = [...found].filter((id) => !known.has(id)).map((id) => `event ${id} arrived and is gone`)
    const sent = Map.groupBy(receiver.received, ({ headers }) => headers['webhook-id'])
    const changed = [...sent].filter(([, same]) => new Set(same.map(({ body }) => body)).size > 1)
    const twice = sent.size > found.size ? [`${sent.size} deliveries of ${found.size} events`] : []
    return [...missed, ...unknown, ...twice, ...changed.map(([id]) => `delivery ${id} had several bodies`)]
  },
}

const LIFETIME_MS = 900_000
/** Other processes notice within 2 s, 30 s at worst. */
const NOTICED_WITHIN_MS = 45_000
const DEAD_LOOKED_AT = 300

async function wrongVerdicts(
  { load }: Scene,
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

/** Every process tells every acknowledged token from every dead one. */
const tokens: Check = {
  name: 'tokens',
  async run(scene) {
    const { ledger } = scene.load
    const fresh = ledger.tokens.filter(({ expiresAt }) => expiresAt > Date.now() + NOTICED_WITHIN_MS)
    const of = (state: ReturnType<Ledger['stateOf']>) =>
      fresh.filter((entry) => ledger.stateOf(entry) === state)
    const wanted = [
      ...of('alive').map((entry) => ({ entry, active: true })),
      ...recent(of('dead'), DEAD_LOOKED_AT).map((entry) => ({ entry, active: false })),
    ]
    const patience = scene.noticedWithinMs ?? NOTICED_WITHIN_MS
    const lost: string[] = []
    for (const url of scene.urls()) {
      let wrong = await wrongVerdicts(scene, url, wanted)
      for (const end = Date.now() + patience; wrong.length > 0 && Date.now() < end; ) {
        await new Promise((resolve) => setTimeout(resolve, 200))
        wrong = await wrongVerdicts(scene, url, wrong)
      }
      for (const { entry, active } of wrong)
        lost.push(
          `${url}: ${active ? 'an acknowledged token is gone' : 'a dead token is alive'}: ${entry.token.slice(0, 20)}…`,
        )
    }
    return lost
  },
}

/** What every fault is held to. A feature that promises more adds its check here. */
export const CHECKS: readonly Check[] = [redemptions, events, limits, tokens, arrival]
