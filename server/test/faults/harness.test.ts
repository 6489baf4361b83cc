import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { insertRows, tablesOf } from '../../src/app/backup-tables.store.ts'
import { MIGRATIONS } from '../../src/app/migrations/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/database/index.ts'
import { eachEngine } from '../engines.ts'
import { startReceiver } from '../receiver.ts'
import { startService } from '../service.ts'
import { CHECKS, type Scene } from './checks.ts'
import { SENDING } from './fleet.ts'
import { Load } from './load.ts'
import { Random } from './random.ts'
import { SMALL_LIMIT, setStage } from './stage.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const change = (db: Database, text: string) =>
  db.transaction((tx) => sql.raw(text).execute(tx.write<never>() as never))

/** What each check must notice, done to the store behind the service's back. */
const LOSSES: readonly (readonly [string, string, RegExp])[] = [
  [
    'events',
    'delete from events where id = (select min(event_id) from reported_redemptions)',
    /was acknowledged and is gone/,
  ],
  [
    'redemptions, points, stock',
    'delete from redemptions where id = (select min(id) from redemptions)',
    /is gone/,
  ],
  [
    'redemptions, points, stock',
    'update rewards set stock = stock + 1 where stock is not null',
    /instead of/,
  ],
  ['redemptions, points, stock', 'update vouchers set balance = balance - 1', /does not add up/],
  ['tokens', 'update tokens set revoked_at = null', /a dead token is alive/],
]

const checkOf = (name: string) => CHECKS.find((check) => check.name === name)!

test('a network that was slow keeps the order of what it carries, also once it is fast again', async () => {
  const upstream = createServer((socket) => {
    socket.on('error', () => undefined).pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const proxy = await startTcpProxy({ port: (upstream.address() as AddressInfo).port })
  onTestFinished(async () => {
    await proxy.close()
    upstream.close()
  })
  const client = connect(proxy.port, '127.0.0.1').on('error', () => undefined)
  onTestFinished(() => void client.destroy())
  client.setNoDelay(true)
  let heard = ''
  client.setEncoding('utf8').on('data', (chunk) => (heard += chunk))
  const says = async (text: string) => {
    client.write(text)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await once(client, 'connect')
  proxy.weather({ kind: 'slow', ms: 100 })
  await says('a')
  await says('b')
  proxy.weather({ kind: 'fair' })
  await says('c')
  await expect.poll(() => heard.length).toBe(3)
  expect(heard).toBe('abc')
})

/** A check that cannot fail would be worse than none: every fault would seem harmless. */
eachEngine((engine) => {
  test('what is lost or comes back behind the service is noticed, and nothing is where nothing was done', async () => {
    const store = await engine.freshStore()
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const first = await startService({ ...store.env, ...SENDING }, { clock: systemClock })
    const stage = await setStage(first.url, receiver.url)
    const load = new Load({ urls: () => [current], stage, random: new Random(3) })
    let current = first.url
    load.start()
    await expect.poll(() => load.ledger.acknowledged().kills).toBeGreaterThan(8)
    await load.stop()
    await load.settle(30_000)
    const db = await store.open()
    const sceneAt = () => ({ load, stage, db, urls: () => [current], noticedWithinMs: 500, receiver })
    expect(await checkOf('arrival').run(sceneAt())).toEqual([])
    await first.stop()
    const found = async (name: string): Promise<string[]> => {
      if (name === 'tokens') await serveAfresh()
      const scene: Scene = { ...sceneAt(), arrivesWithinMs: 500 }
      return checkOf(name).run(scene)
    }
    /** One that remembers nothing: what is in memory would hide what the store has lost. */
    const serveAfresh = async () => {
      const fresh = await startService({ ...store.env, ...SENDING }, { clock: systemClock })
      onTestFinished(() => fresh.stop())
      current = fresh.url
    }
    for (const { name } of CHECKS) expect(await found(name), name).toEqual([])
    expect(load.ledger.violations).toEqual([])
    const received = receiver.received.splice(0)
    expect((await found('arrival')).join('\n')).toMatch(/did not arrive/)
    receiver.received.push(...received, { ...received[0]!, body: 'another' })
    expect((await found('arrival')).join('\n')).toMatch(/several bodies/)
    receiver.received.pop()
    for (const [name, text, says] of LOSSES) {
      await change(db, text)
      expect((await found(name)).join('\n'), text).toMatch(says)
    }
    const { projectId, small } = stage
    const [{ epoch, latest } = { epoch: 0, latest: 0 }] = (
      await sql<{
        epoch: number
        latest: number
      }>`select k.epoch, (select max(expires_at) from tokens) as latest
        from api_keys k where k.project_id = ${projectId} and k.id = ${small.id}`.execute(
        db.read<never>() as never,
      )
    ).rows
    const tokens = (await tablesOf(MIGRATIONS)).find((table) => table.name === 'tokens')!
    const row = (i: number) => [projectId, Buffer.alloc(32, i), small.id, epoch, 'api', latest, null] as const
    await db.transaction((tx) =>
      insertRows(
        tx,
        tokens,
        Array.from({ length: SMALL_LIMIT + 1 }, (_, i) => row(i)),
      ),
    )
    expect((await found('limits')).join('\n')).toMatch(/active tokens of a key of/)
    await change(db, 'delete from tokens')
    expect((await found('tokens')).join('\n')).toMatch(/an acknowledged token is gone/)
  }, 120_000)
})
