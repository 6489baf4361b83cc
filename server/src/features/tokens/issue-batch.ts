import type { Database, SqliteDatabase } from '../../platform/database/index.ts'
import { sibling } from '../../platform/sibling.ts'
import type { IssueInput, IssueOutcome } from './issue.ts'
import { issueOnPostgres, issueWaitingForLocks, type Outcomes } from './issue-batch.postgres.ts'
import { type IssueMessage, packInput, unpackOutcomes } from './issue-message.ts'

const SQLITE_PROCEDURE = sibling(import.meta.url, './issue-batch.sqlite')

const issueOnSqlite = async (db: SqliteDatabase, input: IssueInput): Promise<IssueOutcome[]> =>
  unpackOutcomes(await db.runInWriter<IssueMessage, Float64Array>(SQLITE_PROCEDURE, packInput(input)))

/**
 * One transaction for many tokens, by the program of the engine; `issue.ts` has the rules that both obey. Requests that
 * could not be decided soon, since a project among them is locked elsewhere, have no outcome.
 */
export const issueBatch = (db: Database, input: IssueInput): Promise<Outcomes> =>
  db.engine === 'sqlite'
    ? issueOnSqlite(db, input)
    : db.withConnection((connection) => issueOnPostgres(connection, input), { shared: true })

/** The same on a connection of its own, which waits for locks as long as any other statement. */
export const issueDespiteLocks = (db: Database, input: IssueInput): Promise<Outcomes> =>
  db.engine === 'sqlite'
    ? issueOnSqlite(db, input)
    : db.withConnection((connection) => issueWaitingForLocks(connection, input))
