import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { gate, idsIn, insert, prepareThings, rowsOf } from '../../../../test/fixtures.ts'
import { type PostgresServer, startPostgres } from '../../../../test/postgres-server.ts'
import { TestClock } from '../../../../test/test-clock.ts'
import { systemClock } from '../../clock.ts'
import {
  openDatabase,
  type PostgresDatabase,
  type Reader,
  StoreUnavailable,
  type Transaction,
  UniqueConflict,
} from '../index.ts'

/** Well above the server's statement timeout, and well below the 60 s that a statement here would take. */
const SECONDS = 25_000

const open = async (url: string, pool = 3) => {
  const db = await openDatabase({ clock: systemClock }, { url, pool, folder: '' })
  onTestFinished(() => db.close())
  return db as PostgresDatabase
}

describe('a PostgreSQL server', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())

  const openThings = async () => {
    const db = await prepareThings(await open(server.url()))
    await db.transaction((tx) => tx.write<{ things: object }>().deleteFrom('things').execute())
    return db
  }

  test('that is stopped makes every call fail within seconds, and all calls work again after it returns', async () => {
    const db = await openThings()
    await db.transaction((tx) => insert(tx, 'before'))
    await server.stop()
    const calls = {
      idsIn: () => idsIn(db),
      now: () => db.now(),
      tx: () => db.transaction((tx) => insert(tx, 'x')),
      sql: () => db.withConnection((q) => q.query('select 1')),
    }
    for (const [name, call] of Object.entries(calls)) {
      const began = performance.now()
      await expect(call(), name).rejects.toThrow(StoreUnavailable)
      expect(performance.now() - began, name).toBeLessThan(SECONDS)
    }
    await server.start()
    await vi.waitFor(() => db.now(), { timeout: 30_000, interval: 100 })
    await db.transaction((tx) => insert(tx, 'later'))
    expect(await idsIn(db)).toEqual(['before', 'later'])
  })

  test('whose table gets a new column serves every connection with prepared statements', async () => {
    const db = await openThings()
    const all = (reader: Reader) => reader.read<{ things: { id: string } }>().selectFrom('things').selectAll()
    const everywhere = (read: () => Promise<unknown>) => Promise.all([read(), read(), read()])
    const inTransaction = () => db.transaction((tx) => all(tx).where('id', '>', '').execute())
    const alone = () => all(db).execute()
    await db.transaction((tx) => insert(tx, 'one'))
    await everywhere(inTransaction)
    await everywhere(alone)
    await db.withConnection((q) => q.query(`alter table things add column news text default 'new'`))
    onTestFinished(() => db.withConnection((q) => q.query('alter table things drop column news')) as never)
    const found = [expect.objectContaining({ id: 'one', news: 'new' })]
    expect(await everywhere(alone)).toEqual([found, found, found])
    expect(await everywhere(inTransaction)).toEqual([found, found, found])
  })

  test('that crashes loses all open transactions and nothing else', async () => {
    const db = await openThings()
    await db.transaction((tx) => insert(tx, 'before'))
    const [begun, died] = [gate(), gate()]
    let waiting = 0
    const torn = Array.from({ length: 3 }, (_, i) =>
      db.transaction(async (tx) => {
        await insert(tx, `torn-${i}`)
        if (++waiting === 3) begun.open()
        await died.opened
        await insert(tx, `torn-too-${i}`)
      }),
    )
    const outcome = Promise.allSettled(torn)
    await begun.opened
    await server.kill()
    died.open()
    for (const result of await outcome)
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable' } })
    await server.start()
    await vi.waitFor(() => db.now(), { timeout: 30_000, interval: 100 })
    // More calls than connections in the pool, to detect a dead connection that was put back.
    await Promise.all(Array.from({ length: 12 }, (_, i) => db.transaction((tx) => insert(tx, `later-${i}`))))
    expect(await idsIn(db)).toHaveLength(13)
  })

  test('that crashes during a batch fails the batch, and the connection is not used again', async () => {
    const db = await openThings()
    const dying = db.withConnection(async (connection) => {
      await connection.query('begin')
      // Its failure may arrive before the kill returns, so it is caught from the start.
      const sent = connection.query('select pg_sleep(4)').catch(() => undefined)
      await server.kill()
      await sent
      await connection.query('commit')
    })
    await expect(dying).rejects.toThrow(StoreUnavailable)
    await server.start()
    await vi.waitFor(() => db.now(), { timeout: 30_000, interval: 100 })
    await Promise.all(Array.from({ length: 6 }, (_, i) => db.transaction((tx) => insert(tx, `later-${i}`))))
    expect(await idsIn(db)).toHaveLength(6)
  })

  test('that restarts notifies its subscribers when it returns and of later commits', async () => {
    const db = await openThings()
    let heard = 0
    db.subscribe('topic', () => heard++)
    await expect.poll(() => heard).toBe(1)
    await server.restart()
    await expect.poll(() => heard).toBeGreaterThan(1)
    const before = heard
    await vi.waitFor(() => db.transaction((tx) => tx.notify('topic')), { timeout: 30_000 })
    await expect.poll(() => heard).toBeGreaterThan(before)
  })

  test('that was down for a while notifies its subscribers when it returns', async () => {
    const db = await openThings()
    let heard = 0
    db.subscribe('topic', () => heard++)
    await expect.poll(() => heard).toBe(1)
    await server.stop()
    // Some reconnects must have failed, which is not visible from here.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await server.start()
    await expect.poll(() => heard).toBeGreaterThan(1)
  })

  test('that cannot be reached at the start is reported in one line, without the password', async () => {
    await server.stop()
    onTestFinished(() => server.start())
    const clock = new TestClock()
    const url = server.url().replace('jeton@', 'jeton:s3cr@t@')
    const opening = openDatabase({ clock }, { url, pool: 2, folder: '' }).catch((error: Error) => error)
    let settled = false
    void opening.then(() => (settled = true))
    while (!settled) {
      await expect.poll(() => settled || clock.sleeping > 0).toBe(true)
      await clock.advance(2_000)
    }
    const error = (await opening) as Error & { exitCode: number }
    expect(error.message).toContain(`127.0.0.1:${server.port}/postgres`)
    expect(error.message).toContain('JETON_DATABASE_URL')
    expect(error.message).not.toMatch(/s3cr|t@|\n/)
    expect(error.exitCode).toBe(75)
  })
})

describe('PostgreSQL', () => {
  const url = () => inject('postgresUrl')
  const openThings = async () => {
    const db = await prepareThings(await open(url()))
    onTestFinished(
      async () =>
        void (await db.withConnection((q) => q.query('drop table things, jeton_migrations, jeton_store'))),
    )
    return db
  }

  test('a commit notifies the subscribers of other processes on the same store', async () => {
    const [one, other] = [await open(url()), await open(url())]
    let heard = 0
    other.subscribe('across', () => heard++)
    await expect.poll(() => heard).toBe(1)
    await one.transaction((tx) => tx.notify('across'))
    await expect.poll(() => heard).toBe(2)
  })

  test('a query without parameters is prepared once, and several statements in one text still work', async () => {
    const db = await open(inject('postgresUrl'))
    const asked = await db.withConnection(async (connection) => {
      for (let i = 0; i < 3; i++) await connection.query('select 1 as n')
      await connection.query('begin; commit')
      return connection.query(
        `select count(*) as n from pg_prepared_statements where statement = 'select 1 as n'`,
      )
    })
    expect(asked).toEqual([{ n: 1 }])
  })

  test('withConnection returns bigint as numbers and translates errors', async () => {
    const db = await open(url())
    expect(
      await db.withConnection((q) => q.query('select 9007199254740991::bigint as n, count(*) as c')),
    ).toEqual([{ n: Number.MAX_SAFE_INTEGER, c: 1 }])
    const twice = db.withConnection(async (connection) => {
      // All at once, like a batch: the commit after a failure is a rollback.
      const sent = [
        'begin',
        'create temporary table once (id int primary key)',
        'insert into once values (1), (1)',
        'commit',
      ].map((text) => connection.query(text))
      const settled = await Promise.allSettled(sent)
      for (const one of settled) if (one.status === 'rejected') throw one.reason
    })
    await expect(twice).rejects.toThrow(UniqueConflict)
    await expect(db.withConnection((q) => q.query('select 1/0'))).rejects.toThrow('division by zero')
    await db.close()
    await expect(db.withConnection((q) => q.query('select 1'))).rejects.toThrow(StoreUnavailable)
  })

  test('work on the shared connection runs in turn, and continues on a new one if it is cut', async () => {
    const db = await open(url())
    const run = (...texts: string[]) =>
      db.withConnection((q) => Promise.allSettled(texts.map((text) => q.query(text))), { shared: true })
    const pid = async () =>
      (await db.withConnection((q) => q.query('select pg_backend_pid() as pid'), { shared: true }))[0]!.pid
    await run('create table taken (id int primary key)')
    const [pids, failed, well] = await Promise.all([
      Promise.all([pid(), pid(), pid()]),
      run('begin', 'insert into taken values (1)', 'insert into taken values (1)', 'commit'),
      run('begin', 'insert into taken values (1)', 'select * from taken', 'commit'),
    ])
    expect(new Set(pids).size).toBe(1)
    expect(failed.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(well[2]).toMatchObject({ status: 'fulfilled', value: [{ id: 1 }] })
    const cut = [
      run('select pg_sleep(1)', 'select 1'),
      pid(),
      run(`select pg_terminate_backend(pg_backend_pid())`),
    ]
    expect((await Promise.allSettled(cut)).length).toBe(3)
    expect(await pid()).not.toBe(pids[0])
    await db.close()
    await expect(pid()).rejects.toThrow(StoreUnavailable)
  })

  test('a statement that was first sent in an aborted transaction can be used by the next one', async () => {
    const db = await open(url())
    const run = (...queries: [text: string, ...parameters: unknown[]][]) =>
      db.withConnection((q) => Promise.allSettled(queries.map(([text, ...rest]) => q.query(text, rest))), {
        shared: true,
      })
    const [lost, kept] = await Promise.all([
      run(['begin'], ['select 1/0'], ['select $1::int as n', 1], ['commit']),
      run(['begin'], ['select $1::int as n', 2], ['commit']),
    ])
    expect(lost.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(kept[1]).toMatchObject({ status: 'fulfilled', value: [{ n: 2 }] })
  })

  const pidOf = async (db: PostgresDatabase): Promise<unknown> =>
    (await db.withConnection((q) => q.query('select pg_backend_pid() as pid')))[0]!.pid

  test('a connection that is returned with an open transaction is not used again', async () => {
    const db = await open(url())
    const before = await pidOf(db)
    expect(await pidOf(db)).toBe(before)
    await db.withConnection((q) => q.query('begin'))
    expect(await pidOf(db)).not.toBe(before)
  })

  test('a connection is replaced after many statements whose first use failed, because the server keeps them', async () => {
    const db = await open(url())
    const before = await pidOf(db)
    await db.withConnection(async (q) => {
      for (let i = 0; i < 1_000; i++) await expect(q.query('select 1 / $1::int', [0])).rejects.toThrow('zero')
    })
    expect(await pidOf(db)).not.toBe(before)
  })

  test('a statement with an outdated plan is not repeated alone when its commit was sent behind it', async () => {
    const db = await open(url())
    const run = (...texts: string[]) =>
      db.withConnection((q) => Promise.allSettled(texts.map((text) => q.query(text))))
    await run('create table planned (n int)', 'insert into planned values (1)')
    await run('select n from planned')
    await run('alter table planned alter n type text')
    const sending = run('begin', `insert into planned values ('2')`, 'select n from planned', 'commit')
    // All results have arrived when the first one is read, so the transaction has already ended.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100))
    const sent = await sending
    expect(sent.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  })

  test('closing waits for work on the shared connection, and refuses later work', async () => {
    const db = await open(url())
    const run = (text: string) => db.withConnection((q) => q.query(text), { shared: true })
    const running = run('select 1 as done from pg_sleep(1)')
    const isRunning = `select 1 as one from pg_stat_activity where state = 'active' and query like '%pg_sleep(1)'`
    await expect.poll(() => db.withConnection((q) => q.query(isRunning))).toEqual([{ one: 1 }])
    const closing = db.close()
    await expect(run('select 1')).rejects.toThrow(StoreUnavailable)
    await closing
    expect(await running).toEqual([{ done: 1 }])
  })

  test('a caller is refused within seconds if every connection is in use, without affecting others', async () => {
    const db = await open(url(), 1)
    const began = performance.now()
    const held = gate()
    const holding = db.withConnection(() => held.opened)
    await expect(db.now()).rejects.toThrow('No connection to PostgreSQL was free for 7 s.')
    expect(performance.now() - began).toBeLessThan(SECONDS)
    held.open()
    await holding
    expect(await db.withConnection((q) => q.query('select 1 as one'))).toEqual([{ one: 1 }])
  })

  test('a connection with more prepared statements than it should keep is replaced', async () => {
    const db = await open(url(), 1)
    const pid = async () =>
      (await db.withConnection((q) => q.query('select pg_backend_pid() as pid')))[0]!.pid
    const first = await pid()
    expect(await pid()).toBe(first)
    await db.withConnection(async (q) => {
      for (let i = 0; i < 1_000; i++) await q.query(`select ${i}`)
    })
    await vi.waitFor(async () => expect(await pid()).not.toBe(first))
  })

  test('a statement that takes too long fails as unavailable', async () => {
    const db = await open(url())
    const began = performance.now()
    await expect(db.withConnection((q) => q.query('select pg_sleep(60)'))).rejects.toThrow(StoreUnavailable)
    expect(performance.now() - began).toBeLessThan(SECONDS)
  })

  test('a migration may take longer than any other statement', async () => {
    const db = await open(url())
    const slow = db.transaction(
      async (tx) => {
        await sql`set local statement_timeout = 0`.execute(tx.write())
        return (await sql`select 1 as done from pg_sleep(7.5)`.execute(tx.write())).rows
      },
      { noTimeout: true },
    )
    expect(await slow).toEqual([{ done: 1 }])
  })

  test('a claim skips rows that another transaction has locked, and does not wait', async () => {
    const db = await openThings()
    await db.transaction(async (tx) => {
      for (const id of ['a', 'b', 'c']) await insert(tx, id)
    })
    const claim = async (tx: Transaction) =>
      (await tx.claim(rowsOf(tx).limit(1)).execute()).map((row) => row.id)
    await db.transaction(async (first) => {
      expect(await claim(first)).toEqual(['a'])
      await db.transaction(async (second) => expect(await claim(second)).toEqual(['b']))
    })
  })

  test('statements sent behind one that failed fail with its error, and so does the commit', async () => {
    const db = await openThings()
    const conflict = (tx: Transaction) =>
      sql`insert into things (id, n) values (${'a'}, ${1})`.execute(tx.write())
    await db.transaction((tx) => insert(tx, 'a'))
    let reasons: unknown[] = []
    const swallowing = db.transaction(async (tx) => {
      await idsIn(tx)
      const sent = await Promise.allSettled([conflict(tx), insert(tx, 'b'), idsIn(tx)])
      reasons = sent.map((one) => one.status === 'rejected' && one.reason)
    })
    await expect(swallowing).rejects.toThrow(UniqueConflict)
    expect(reasons.map((reason) => (reason as Error).name)).toEqual(new Array(3).fill('UniqueConflict'))
    expect(await idsIn(db)).toEqual(['a'])
  })

  test('work is run again after a deadlock', async () => {
    const db = await openThings()
    await db.transaction(async (tx) => void (await Promise.all([insert(tx, 'a'), insert(tx, 'b')])))
    const met = [gate(), gate()]
    let runs = 0
    const lockBoth = (first: string, second: string, mine: number) =>
      db.transaction(async (tx) => {
        runs++
        const touch = (id: string) => sql`update things set n = n + 1 where id = ${id}`.execute(tx.write())
        await touch(first)
        met[mine]!.open()
        await met[1 - mine]!.opened
        await touch(second)
      })
    await Promise.all([lockBoth('a', 'b', 0), lockBoth('b', 'a', 1)])
    expect(runs).toBe(3)
    const rows = await db.withConnection((q) => q.query('select n from things'))
    expect(rows.map((row) => row.n)).toEqual([2, 2])
  })

  test('a database that is dropped while in use is an outage, and its return is noticed', async () => {
    const admin = await open(url())
    const asAdmin = (text: string) => admin.withConnection((q) => q.query(text))
    await asAdmin('create database fleeting')
    const db = await open(new URL('/fleeting', url()).href)
    await asAdmin('drop database fleeting with (force)')
    // The first call may find its connection cut; later ones find that the database does not exist.
    for (let i = 0; i < 4; i++)
      await expect(db.withConnection((q) => q.query('select 1'))).rejects.toThrow(StoreUnavailable)
    await asAdmin('create database fleeting')
    expect(await db.withConnection((q) => q.query('select 1 as one'))).toEqual([{ one: 1 }])
    await db.close()
    await asAdmin('drop database fleeting with (force)')
  })

  test('a start without the database says that it does not exist', async () => {
    const missing = openDatabase(
      { clock: systemClock },
      { url: new URL('/missing', url()).href, pool: 2, folder: '' },
    )
    await expect(missing).rejects.toThrow(/\/missing: there is no such database\. Check JETON_DATABASE_URL/)
  })
})
