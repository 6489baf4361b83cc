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
import { CHECKS, type CheckInput } from './checks.ts'
import { createDemoProject, SMALL_LIMIT } from './demo-project.ts'
import { SENDING } from './fleet.ts'
import { Load } from './load.ts'
import { Random } from './random.ts'
import { startTcpProxy } from './tcp-proxy.ts'

const change = (db: Database, text: string) =>
  db.transaction((tx) => sql.raw(text).execute(tx.write<never>() as never))

/** Changes to the store that simulate a loss, with the check that must find it and its message. */
const LOSSES: readonly (readonly [string, string, RegExp])[] = [
  [
    'events',
    'delete from events where id = (select min(event_id) from reported_redemptions)',
    /was acknowledged and is missing/,
  ],
  [
    'redemptions, points, stock',
    'delete from redemptions where id = (select min(id) from redemptions)',
    /is missing/,
  ],
  [
    'redemptions, points, stock',
    'update rewards set stock = stock + 1 where stock is not null',
    /instead of/,
  ],
  ['redemptions, points, stock', 'update vouchers set balance = balance - 1', /does not add up/],
  ['tokens', 'update tokens set revoked_at = null', /a dead token is active/],
]

const checkOf = (name: string) => CHECKS.find((check) => check.name === name)!

test('the TCP proxy keeps the order of the bytes when its delay is removed', async () => {
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
  let received = ''
  client.setEncoding('utf8').on('data', (chunk) => (received += chunk))
  const says = async (text: string) => {
    client.write(text)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await once(client, 'connect')
  proxy.setNetwork({ delayMs: 100 })
  await says('a')
  await says('b')
  proxy.setNetwork('normal')
  await says('c')
  await expect.poll(() => received.length).toBe(3)
  expect(received).toBe('abc')
})

/** Proves that the checks can fail. Otherwise every fault would seem harmless. */
eachEngine((engine) => {
  test('the checks find every simulated loss, and find none in an intact store', async () => {
    const store = await engine.freshStore()
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const first = await startService({ ...store.env, ...SENDING }, { clock: systemClock })
    const demo = await createDemoProject(first.url, receiver.url)
    const load = new Load({ urls: () => [current], demo, random: new Random(3) })
    let current = first.url
    load.start()
    await expect.poll(() => load.ledger.acknowledged().kills).toBeGreaterThan(8)
    await load.stop()
    await load.settle(30_000)
    const db = await store.open()
    const inputNow = () => ({ load, demo, db, urls: () => [current], noticedWithinMs: 500, receiver })
    expect(await checkOf('arrival').run(inputNow())).toEqual([])
    await first.stop()
    const found = async (name: string): Promise<string[]> => {
      if (name === 'tokens') await serveAfresh()
      const input: CheckInput = { ...inputNow(), arrivesWithinMs: 500 }
      return checkOf(name).run(input)
    }
    /** Starts a service with empty caches, which could hide a loss in the store. */
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
    const { projectId, small } = demo
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
    expect((await found('tokens')).join('\n')).toMatch(/an acknowledged token is missing/)
  }, 120_000)
})
