import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { startTcpProxy } from '../../../../test/faults/tcp-proxy.ts'
import { idsIn, insert, prepareThings } from '../../../../test/fixtures.ts'
import { type PostgresPair, startPostgresPair } from '../../../../test/postgres-pair.ts'
import { connectSql } from '../../../../test/sql.ts'
import { systemClock } from '../../clock.ts'
import { openDatabase, type PostgresDatabase, StoreUnavailable } from '../index.ts'
import { Hosts, hostsIn } from './hosts.ts'
import { HostClient, PrimaryPool } from './primary-pool.ts'

test('a URL may contain several hosts, and any password and port', () => {
  const named = (url: string) => hostsIn(url).map(({ host, port }) => `${host} ${port}`)
  expect(named('postgres://u:p@a:5433,b/jeton?sslmode=require')).toEqual(['a 5433', 'b 5432'])
  expect(named('postgresql://u:p,@x:1@db.example:6000/jeton')).toEqual(['db.example 6000'])
  expect(named('postgres://[::1]:5433,[2001:db8::2]/jeton')).toEqual(['::1 5433', '2001:db8::2 5432'])
  const address = 'postgres://u:p,@x@a:1,b:2/jeton?sslmode=require&options=-c+geqo=off'
  for (const host of hostsIn(address))
    expect(host).toMatchObject({
      ...{ user: 'u', password: 'p,@x', database: 'jeton', options: '-c geqo=off' },
      ssl: { rejectUnauthorized: false },
    })
})

test('idle connections to a host that was cut off are not used after another host has become the primary', async () => {
  const url = new URL(inject('postgresUrl'))
  const cutOff = await startTcpProxy({ port: Number(url.port) })
  onTestFinished(() => cutOff.close())
  const hosts = new Hosts(`postgres://${url.username}@127.0.0.1:${cutOff.port},${url.host}${url.pathname}`)
  const pool = new PrimaryPool(hosts, 3)
  onTestFinished(() => pool.close(0))
  const useAll = () =>
    Promise.all(Array.from({ length: 3 }, () => pool.use((one) => one.query('select pg_sleep(0.1)'))))
  await useAll()
  cutOff.setNetwork('silent')
  // As the listening connection does.
  const listening = new HostClient(hosts, hosts.all[1])
  onTestFinished(() => listening.end())
  await listening.connect()
  await listening.startSession()
  await useAll()
})

describe('a primary and its standby', () => {
  let pair: PostgresPair
  beforeAll(async () => {
    pair = await startPostgresPair()
  })
  afterAll(() => pair.remove())

  const open = async (url: string) => {
    const db = await openDatabase({ clock: systemClock }, { url, pool: 3, folder: '' })
    onTestFinished(() => db.close())
    return db as PostgresDatabase
  }
  const isStandby = async (db: PostgresDatabase) =>
    (await db.withConnection((q) => q.query('select pg_is_in_recovery() as it')))[0]!.it

  test('the primary is used, also for reads, in any order of hosts', async () => {
    const [first, second] = [pair.standby().port, pair.primary().port]
    const db = await open(`postgres://jeton@127.0.0.1:${first},127.0.0.1:${second}/postgres`)
    expect(await Promise.all([isStandby(db), isStandby(db), isStandby(db)])).toEqual([false, false, false])
  })

  test('a standby alone is not used, because its data may be old', async () => {
    const opening = openDatabase(
      { clock: { ...systemClock, sleep: async () => undefined } },
      { url: pair.standby().url(), pool: 2, folder: '' },
    )
    await expect(opening).rejects.toThrow(/standby/)
  })

  test('after the standby is promoted, all commits are there, and work and notifications continue', async () => {
    const db = await prepareThings(await open(pair.url()))
    let heard = 0
    db.subscribe('topic', () => heard++)
    await expect.poll(() => heard).toBe(1)
    await db.transaction((tx) => insert(tx, 'before'))
    await pair.failOver()
    // The promoted host may answer immediately, but never without the committed rows.
    const meanwhile = await idsIn(db).catch((error: unknown) => error)
    if (!(meanwhile instanceof StoreUnavailable)) expect(meanwhile).toEqual(['before'])
    await vi.waitFor(() => db.now(), { timeout: 30_000, interval: 100 })
    await db.transaction((tx) => insert(tx, 'after'))
    expect(await idsIn(db)).toEqual(['after', 'before'])
    await expect.poll(() => heard).toBeGreaterThan(1)
    const before = heard
    await vi.waitFor(() => db.transaction((tx) => tx.notify('topic')), { timeout: 30_000 })
    await expect.poll(() => heard).toBeGreaterThan(before)
  })

  test('connection attempts that timed out leave no open connections', async () => {
    await pair.heal()
    const db = await open(pair.url())
    await pair.primary().stop()
    await pair.standby().stop()
    const cpu = process.cpuUsage()
    await Promise.all(Array.from({ length: 6 }, () => expect(db.now()).rejects.toThrow(StoreUnavailable)))
    // Hosts that refuse are tried once each, not in a busy loop.
    expect(process.cpuUsage(cpu).user).toBeLessThan(2_000_000)
    await pair.primary().start()
    await vi.waitFor(() => db.now(), { timeout: 30_000, interval: 100 })
    const sql = connectSql(pair.primary().url())
    onTestFinished(() => sql.end())
    const isOpen = async () =>
      (await sql`select count(*)::int as n from pg_stat_activity where application_name = 'jeton'`)[0]!.n
    // The pool plus the listening connection. PostgreSQL may take a moment to notice a closed one.
    await expect.poll(isOpen).toBeLessThanOrEqual(4)
  })
})
