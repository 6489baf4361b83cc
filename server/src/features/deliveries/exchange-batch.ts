import type { Database, SqliteDatabase } from '../../platform/database/index.ts'
import { sibling } from '../../platform/sibling.ts'
import type { ExchangeInput, ExchangeOutput } from './exchange.ts'
import { exchangeOnPostgres } from './exchange-batch.postgres.ts'
import { type ExchangeMessage, type ExchangeReply, packInput, unpackOutput } from './exchange-message.ts'

const SQLITE_PROGRAM = sibling(import.meta.url, './exchange-batch.sqlite')

const exchangeOnSqlite = async (db: SqliteDatabase, input: ExchangeInput): Promise<ExchangeOutput> =>
  unpackOutput(await db.runProgram<ExchangeMessage, ExchangeReply>(SQLITE_PROGRAM, packInput(input)))

/**
 * One transaction that settles what was sent and claims what is due: a commit costs the same for both. Which deliveries
 * are due is found destination by destination, so that one with a long queue costs the others nothing. A program per
 * engine, as for issuing tokens, held by the same tests.
 */
export const exchange = (db: Database, input: ExchangeInput): Promise<ExchangeOutput> =>
  db.engine === 'sqlite'
    ? exchangeOnSqlite(db, input)
    : db.runSql((connection) => exchangeOnPostgres(connection, input))
