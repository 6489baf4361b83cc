import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Client } from 'pg'
import { readConfig } from '../../server/src/platform/config/index.ts'
import type { Shop } from '../prepare-loyalty.ts'
import type { Store } from '../stores.ts'
import { type Fresh, freshParameters } from './fresh-parameters.ts'
import { type Recording, recordTwo } from './record.ts'

/** An engine by its driver alone. */
interface Bare {
  /** Sends the statements in turn, each after the answer to the one before. */
  transaction(statements: Recording): Promise<void> | void
  close(): Promise<void> | void
}

/** On the thread that calls, with the settings of Jeton's writer. */
function bareSqlite(folder: string): Bare {
  const db = new DatabaseSync(join(folder, 'jeton.db'))
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
  db.exec('pragma wal_autocheckpoint = 8000; pragma cache_size = -16000')
  const prepared = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = prepared.get(sql) ?? db.prepare(sql)
    prepared.set(sql, known)
    return known
  }
  return {
    transaction(statements) {
      for (const { sql, parameters } of statements) prepare(sql).all(...(parameters as SQLInputValue[]))
    },
    close: () => db.close(),
  }
}

/** One connection of the driver that Jeton uses, with prepared statements. */
async function barePostgres(url: string): Promise<Bare> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const names = new Map<string, string>()
  const nameOf = (text: string): string => {
    if (!names.has(text)) names.set(text, `s${names.size}`)
    return names.get(text)!
  }
  return {
    async transaction(statements) {
      for (const { sql: text, parameters } of statements)
        await client.query({ name: nameOf(text), text, values: parameters as unknown[] })
    },
    close: () => client.end(),
  }
}

/** SQLite has one writer; PostgreSQL gets as many connections as Jeton's pool has. */
async function openAll({ databaseUrl, env }: Store): Promise<Bare[]> {
  if (databaseUrl === undefined) return [bareSqlite(env.JETON_DATA_DIR!)]
  const { JETON_DATABASE_POOL: connections } = readConfig(env)
  return Promise.all(Array.from({ length: connections }, () => barePostgres(databaseUrl)))
}

/** The cards in turn, without the one that was recorded. */
function* turns({ cards }: Shop, fresh: Fresh): Generator<Recording, never> {
  for (let nth = 0; ; nth++) for (const card of cards.slice(1)) yield fresh(card, nth)
}

async function countIn(seconds: number, all: readonly Bare[], next: () => Recording): Promise<number> {
  const began = performance.now()
  const until = began + seconds * 1000
  let done = 0
  const work = async (bare: Bare) => {
    while (performance.now() < until) {
      await bare.transaction(next())
      done++
    }
  }
  await Promise.all(all.map(work))
  return (done / (performance.now() - began)) * 1000
}

/** Transactions per second with the statements of a redemption, straight to the engine. */
export async function replay(
  store: Store,
  shop: Shop,
  { seconds, warmUpSeconds }: { seconds: number; warmUpSeconds: number },
): Promise<number> {
  const fresh = freshParameters(await recordTwo(store, shop), shop.cards[0]!)
  const turn = turns(shop, fresh)
  const next = () => turn.next().value
  const all = await openAll(store)
  try {
    await countIn(warmUpSeconds, all, next)
    return await countIn(seconds, all, next)
  } finally {
    await Promise.all(all.map((bare) => bare.close()))
  }
}
