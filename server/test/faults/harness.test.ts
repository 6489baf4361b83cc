import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS } from '../../src/app/migrations/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { type Database, insertRows, tablesOf } from '../../src/platform/database/index.ts'
import { eachEngine } from '../engines.ts'
import { startService } from '../service.ts'
import { CHECKS, type Scene } from './checks.ts'
import { Load } from './load.ts'
import { Random } from './random.ts'
import { SMALL_LIMIT, setStage } from './stage.ts'

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

/** A check that cannot fail would be worse than none: every fault would seem harmless. */
eachEngine((engine) => {
  test('what is lost or comes back behind the service is noticed, and nothing is where nothing was done', async () => {
    const store = await engine.freshStore()
    const first = await startService(store.env, { clock: systemClock })
    const stage = await setStage(first.url)
    const load = new Load({ urls: () => [current], stage, random: new Random(3) })
    let current = first.url
    load.start()
    await expect.poll(() => load.ledger.acknowledged().kills, { timeout: 30_000 }).toBeGreaterThan(8)
    await load.stop()
    await load.settle(30_000)
    await first.stop()
    const db = await store.open()
    const found = async (name: string): Promise<string[]> => {
      if (name === 'tokens') await serveAfresh()
      const scene: Scene = { load, stage, db, urls: () => [current], noticedWithinMs: 500 }
      return CHECKS.find((check) => check.name === name)!.run(scene)
    }
    /** One that remembers nothing: what is in memory would hide what the store has lost. */
    const serveAfresh = async () => {
      const fresh = await startService(store.env, { clock: systemClock })
      onTestFinished(() => fresh.stop())
      current = fresh.url
    }
    for (const { name } of CHECKS) expect(await found(name), name).toEqual([])
    expect(load.ledger.violations).toEqual([])
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
