import type { Database } from '../../platform/database/index.ts'
import { sibling } from '../../platform/sibling.ts'
import type { IssueInput, IssueOutcome } from './issue.ts'
import { issueOnPostgres } from './issue-batch.postgres.ts'

const SQLITE_PROGRAM = sibling(import.meta.url, './issue-batch.sqlite')

/** One transaction for many tokens, by the program of the engine; `issue.ts` has the rules that both obey. */
export const issueBatch = (db: Database, input: IssueInput): Promise<IssueOutcome[]> =>
  db.engine === 'sqlite'
    ? db.runProgram(SQLITE_PROGRAM, input)
    : db.runSql((sql) => issueOnPostgres(sql, input))
