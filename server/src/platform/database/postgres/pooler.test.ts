import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HAS_PGBOUNCER, NO_PGBOUNCER, startPgBouncer } from '../../../../test/pgbouncer.ts'
import { type PostgresServer, startPostgres } from '../../../../test/postgres-server.ts'
import { connectSql } from '../../../../test/sql.ts'
import { systemClock } from '../../clock.ts'
import { openDatabase, type PostgresDatabase } from '../index.ts'

const MISSING = HAS_PGBOUNCER ? '' : NO_PGBOUNCER

describe.skipIf(!HAS_PGBOUNCER)(`PgBouncer${MISSING}`, () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())

  const start = async (settings: Record<string, string>) => {
    const bouncer = await startPgBouncer(server, settings)
    onTestFinished(() => bouncer.stop())
    return bouncer.url()
  }
  const open = async (url: string) => {
    const db = await openDatabase({ clock: systemClock }, { url, pool: 3, folder: '' })
    onTestFinished(() => db.close())
    return db as PostgresDatabase
  }

  test.each([
    ['in transaction mode', { pool_mode: 'transaction' }],
    ['in statement mode', { pool_mode: 'statement' }],
    ['with one connection', { pool_mode: 'transaction', default_pool_size: '1' }],
    ['that rotates its connections', { pool_mode: 'transaction', server_round_robin: '1' }],
  ])('PgBouncer %s is refused at the start, with a sentence that says what to do', async (_, settings) => {
    const url = await start(settings)
    // Several connections to PostgreSQL are idle in the pooler, as in a running system.
    const others = connectSql(url, { max: 4 })
    onTestFinished(() => others.end())
    if (settings.pool_mode === 'transaction' && !('default_pool_size' in settings))
      await Promise.all(Array.from({ length: 4 }, () => others.run('select pg_sleep(0.2)')))
    await expect(open(url)).rejects.toMatchObject({
      name: 'StartFailure',
      exitCode: 78,
      message: expect.stringMatching(
        /^JETON_DATABASE_URL: 127\.0\.0\.1:\d+ is a connection pooler in transaction mode.* Connect to PostgreSQL directly.*$/,
      ),
    })
  })

  test('PgBouncer in session mode works, with prepared statements, timeouts and notifications', async () => {
    const url = await start({ pool_mode: 'session' })
    const [db, other] = [await open(url), await open(url)]
    let heard = 0
    other.subscribe('topic', () => heard++)
    await expect.poll(() => heard).toBe(1)
    await db.transaction((tx) => tx.notify('topic'))
    await expect.poll(() => heard).toBe(2)
    const asked = await db.withConnection(async (connection) => {
      for (let i = 0; i < 3; i++) await connection.query('select 1 as n')
      const [prepared] = await connection.query(
        `select count(*) as n from pg_prepared_statements where statement = 'select 1 as n'`,
      )
      return { ...prepared, ...(await connection.query('show statement_timeout'))[0] }
    })
    expect(asked).toEqual({ n: 1, statement_timeout: '5s' })
  })
})
