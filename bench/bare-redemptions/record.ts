import { openStore } from '../../server/src/app/compose.ts'
import { redeemReward } from '../../server/src/features/redemptions/index.ts'
import { systemClock } from '../../server/src/platform/clock.ts'
import { readConfig } from '../../server/src/platform/config/index.ts'
import type { Database } from '../../server/src/platform/database/index.ts'
import { Connection } from '../../server/src/platform/database/postgres/connection.ts'
import { SqliteConnection } from '../../server/src/platform/database/sqlite/worker-connection.ts'
import { newId, randomBytes } from '../../server/src/platform/secrets.ts'
import type { Shop } from '../prepare-loyalty.ts'
import type { Store } from '../stores.ts'

export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** Everything that one transaction sends to its engine, `begin` and `commit` included. */
export type Recording = readonly Statement[]

/** Hears what goes over the last connection before the engine, while `work` runs. */
async function heard(engine: Database['engine'], work: () => Promise<unknown>): Promise<Recording> {
  const statements: Statement[] = []
  const note = (sql: string, parameters: readonly unknown[] = []) => statements.push({ sql, parameters })
  const restore = engine === 'sqlite' ? listenToSqlite(note) : listenToPostgres(note)
  try {
    await work()
  } finally {
    restore()
  }
  // Before it a connection may have been opened.
  return statements.slice(statements.findIndex(({ sql }) => sql.startsWith('begin')))
}

type Note = (sql: string, parameters?: readonly unknown[]) => void

function listenToSqlite(note: Note): () => void {
  const { send } = SqliteConnection.prototype
  SqliteConnection.prototype.send = function (request) {
    if (request.kind === 'begin') note('begin immediate')
    if (request.kind === 'query') note(request.sql, request.parameters)
    return send.call(this, request) as Promise<never>
  }
  return () => {
    SqliteConnection.prototype.send = send
  }
}

function listenToPostgres(note: Note): () => void {
  const { send } = Connection.prototype
  Connection.prototype.send = function (text, parameters, silenceMs) {
    note(text, parameters)
    return send.call(this, text, parameters, silenceMs) as Promise<never>
  }
  return () => {
    Connection.prototype.send = send
  }
}

function redeemOnce(db: Database, { projectId, campaignId, rewardId, cards }: Shop): Promise<unknown> {
  const name = { projectId, campaign: campaignId, code: cards[0]!.code }
  const requestId = newId(randomBytes, 'req_')
  const apiKey = { name: 'key', app_id: '00000000-0000-4000-8000-000000000000' }
  const request = { name, rewardId, requestId, apiKey }
  return db.transaction((tx) => redeemReward({ random: randomBytes }, tx, request))
}

/** The first and the second redemption by the first card. */
export async function recordTwo(store: Store, shop: Shop): Promise<readonly [Recording, Recording]> {
  const { db } = await openStore({ config: readConfig(store.env), clock: systemClock })
  try {
    const one = () => heard(db.engine, () => redeemOnce(db, shop))
    return [await one(), await one()]
  } finally {
    await db.close()
  }
}
