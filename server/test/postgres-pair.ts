import { setTimeout as wait } from 'node:timers/promises'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { connectSql } from './sql.ts'

/** A primary and a synchronous standby: a commit waits for the standby. */
export interface PostgresPair {
  /** Address of a database with both hosts, as JETON_DATABASE_URL takes it: always in the same order, whichever server is the primary. */
  url(database?: string): string
  primary(): PostgresServer
  standby(): PostgresServer
  /** The primary is killed without a goodbye, and the standby is promoted. */
  failOver(): Promise<void>
  /** The former primary comes back as the standby of the new one, by a cold copy. */
  heal(): Promise<void>
  remove(): Promise<void>
}

const SYNCHRONOUS = ['synchronous_standby_names=*']
const IN_SYNC_WITHIN_MS = 60_000

async function waitUntilInSync(primary: PostgresServer): Promise<void> {
  const sql = connectSql(primary.url())
  try {
    for (const end = Date.now() + IN_SYNC_WITHIN_MS; Date.now() < end; await wait(50)) {
      const [row] = await sql`select 1 as found from pg_stat_replication where sync_state = 'sync'`
      if (row) return
    }
    throw new Error('The standby did not follow its primary.')
  } finally {
    await sql.end()
  }
}

export async function startPostgresPair(): Promise<PostgresPair> {
  const [first, second] = [await startPostgres(), await startPostgres()]
  let [primary, standby] = [first, second]

  async function join(): Promise<void> {
    await primary.stop()
    standby.becomeStandbyOf(primary)
    await primary.start(SYNCHRONOUS)
    await standby.start()
    await waitUntilInSync(primary)
  }

  await second.stop()
  await join()
  return {
    url: (database = 'postgres') =>
      `postgres://jeton@127.0.0.1:${first.port},127.0.0.1:${second.port}/${database}`,
    primary: () => primary,
    standby: () => standby,
    async failOver() {
      await primary.kill()
      standby.promote()
      ;[primary, standby] = [standby, primary]
    },
    heal: join,
    async remove() {
      await Promise.all([first.remove(), second.remove()])
    },
  }
}
