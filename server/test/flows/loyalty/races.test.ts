import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lockVouchers } from '../../../src/features/campaigns/index.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import {
  outcomes,
  postConcurrently,
  type RedemptionRequest,
  readTotals,
  wrongCards,
} from '../../concurrent-redemptions.ts'
import { eachEngine } from '../../engines.ts'
import { gate } from '../../fixtures.ts'
import { ok, openShop, type Shop } from '../../loyalty.ts'
import { type MultiProcess, startProcesses } from '../../multi-process.ts'

/** How many connections to PostgreSQL wait for a lock in this store. */
async function lockWaits(db: Database): Promise<number> {
  if (db.engine === 'sqlite') return 0
  const rows = await db.withConnection((connection) =>
    connection.query(
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    ),
  )
  return rows.length
}

eachEngine((engine) => {
  let multiProcess: MultiProcess
  let db: Database
  let shop: Shop

  beforeAll(async () => {
    multiProcess = await startProcesses(engine, engine.name === 'PostgreSQL' ? 2 : 1)
    db = await multiProcess.store.open()
  })
  beforeEach(async () => {
    shop = await openShop(multiProcess.processes[0]!)
  })
  afterAll(() => multiProcess.close())

  /** In turn at each of the processes. */
  const spread = (requests: readonly Omit<RedemptionRequest, 'url'>[]) =>
    postConcurrently(
      shop.pair,
      requests.map((one, i) => ({
        ...one,
        url: multiProcess.processes[i % multiProcess.processes.length]!.url,
      })),
    )
  const pathOf = (code: string, end = 'redemption') => `/loyalties/${shop.campaign.id}/members/${code}/${end}`

  test('exactly 100 of 500 concurrent redemptions of a reward with a stock of 100 succeed', async () => {
    const reward = await shop.material({ price: 100, stock: 100 })
    const cards = await Promise.all(Array.from({ length: 100 }, () => shop.member(500)))
    const requests = Array.from({ length: 500 }, (_, i) => ({
      path: pathOf(cards[i % cards.length]!.code),
      body: { reward: { id: reward.id } },
    }))
    expect(outcomes(await spread(requests))).toEqual({ 200: 100, reward_out_of_stock: 400 })
    expect(await readTotals(db, reward.id)).toEqual({
      redemptions: 100,
      events: 100,
      takenByRedemptions: 100 * 100,
      stockLeft: 0,
      redeemed: 100,
      wrongCards: [],
    })
  })

  test('concurrent redemptions never take more points than a card has', async () => {
    const reward = await shop.material({ price: 100 })
    const { code } = await shop.member(750)
    const requests = Array.from({ length: 40 }, () => ({
      path: pathOf(code),
      body: { reward: { id: reward.id } },
    }))
    expect(outcomes(await spread(requests))).toEqual({ 200: 7, loyalty_card_points_exceeded: 33 })
    expect(await shop.balanceOf(code)).toBe(50)
    expect(await readTotals(db, reward.id)).toMatchObject({ redemptions: 7, events: 7, wrongCards: [] })
  })

  test('concurrent redemptions that add points to each other’s programs never deadlock, and every balance adds up', async () => {
    const other = await ok(
      shop.call('POST', '/loyalties', {
        name: 'Other',
        voucher: { type: 'LOYALTY_CARD', loyalty_card: { points: 1000 } },
      }),
    )
    const exchange = async (from: string, to: string) => {
      const parameters = { campaign: { id: to, type: 'LOYALTY_PROGRAM', balance: 10 } }
      const reward = await ok(shop.call('POST', '/rewards', { name: 'x', type: 'CAMPAIGN', parameters }))
      const price = { campaign: from, parameters: { loyalty: { points: 10 } } }
      await ok(shop.call('POST', `/rewards/${reward.id}/assignments`, price))
      return reward.id as string
    }
    const there = await exchange(shop.campaign.id, other.id)
    const back = await exchange(other.id, shop.campaign.id)
    const mine = await shop.member(1000)
    const theirs = await ok(shop.call('POST', `/loyalties/${other.id}/members`, { customer: mine.holder_id }))
    const kinds = [
      { path: `/loyalties/members/${mine.code}/redemption`, body: { reward: { id: there } } },
      { path: `/loyalties/members/${theirs.code}/redemption`, body: { reward: { id: back } } },
      { path: `/loyalties/members/${mine.code}/balance`, body: { points: 5 } },
      { path: `/loyalties/members/${theirs.code}/balance`, body: { points: -5 } },
    ]
    const answers = await spread(Array.from({ length: 80 }, (_, i) => kinds[i % 4]!))
    expect(outcomes(answers)).toEqual({ 200: 80 })
    expect([await shop.balanceOf(mine.code), await wrongCards(db)]).toEqual([1000 + 20 * 5, []])
  })

  test('a customer who joins a program in twenty concurrent requests has one card', async () => {
    const customer = await ok(shop.call('POST', '/customers', { source_id: 'ann' }))
    const requests = Array.from({ length: 20 }, () => ({
      path: `/loyalties/${shop.campaign.id}/members`,
      body: { customer: 'ann' },
    }))
    const answers = await spread(requests)
    expect(outcomes(answers)).toEqual({ 200: 20 })
    expect(new Set(answers.map(({ body }) => body.code)).size).toBe(1)
    expect(answers[0]!.body.holder_id).toBe(customer.id)
  })

  // On SQLite a transaction excludes every other writer from its first statement on.
  if (engine.name === 'PostgreSQL')
    test('a redemption that waits for its card succeeds only if its assignment and its reward are still there', async () => {
      const reward = await shop.material({ price: 100 })
      const { id, code } = await shop.member(500)
      const [held, over] = [gate(), gate()]
      const holding = db.transaction(async (tx) => {
        await lockVouchers(tx, shop.projectId, [id])
        held.open()
        await over.opened
      })
      await held.opened
      const redeeming = shop.redeem(code, reward.id)
      await expect.poll(() => lockWaits(db)).toBe(1)
      let isDeleted = false
      const deleting = (async () => {
        for (const path of [`/assignments/${reward.assignmentId}`, ''])
          expect((await shop.call('DELETE', `/rewards/${reward.id}${path}`)).status).toBe(204)
        isDeleted = true
      })()
      await expect.poll(async () => isDeleted || (await lockWaits(db)) === 2).toBe(true)
      const wasDeletedBefore = isDeleted
      over.open()
      await holding
      expect((await redeeming).status).toBe(wasDeletedBefore ? 404 : 200)
      await deleting
      expect((await shop.redeem(code, reward.id)).status).toBe(404)
    })

  describe('an Idempotency-Key', () => {
    const repeated = (path: string, body: object, key: string, count: number) =>
      spread(Array.from({ length: count }, () => ({ path, body, headers: { 'idempotency-key': key } })))

    test('an Idempotency-Key in 50 concurrent requests makes one redemption, one event and 50 equal responses', async () => {
      const reward = await shop.material({ price: 100, stock: 10 })
      const { code } = await shop.member(1000)
      const answers = await repeated(pathOf(code), { reward: { id: reward.id } }, 'order 4711', 50)
      expect(outcomes(answers)).toEqual({ 200: 50 })
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(await readTotals(db, reward.id)).toMatchObject({
        redemptions: 1,
        events: 1,
        takenByRedemptions: 100,
        stockLeft: 9,
        wrongCards: [],
      })
    })

    test('an Idempotency-Key in 50 concurrent requests adds points once', async () => {
      const { code } = await shop.member()
      const answers = await repeated(pathOf(code, 'balance'), { points: 70 }, 'k', 50)
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
      expect(await shop.balanceOf(code)).toBe(70)
    })

    test('an Idempotency-Key that is reused for another request gets 409 and changes nothing', async () => {
      const reward = await shop.material()
      const [one, other] = [await shop.member(500), await shop.member(500)]
      const headers = { 'idempotency-key': 'k' }
      const body = { reward: { id: reward.id } }
      expect((await shop.redeem(one.code, reward.id, {}, headers)).status).toBe(200)
      const again = [
        await shop.redeem(other.code, reward.id, {}, headers),
        await shop.redeem(one.code, reward.id, { metadata: { a: 1 } }, headers),
        await shop.call('POST', `/loyalties/members/${one.code}/redemption`, body, headers),
        await shop.call('POST', pathOf(one.code, 'balance'), { points: 1 }, headers),
      ]
      expect(again.map((answer) => [answer.status, answer.body.key])).toEqual(
        again.map(() => [409, 'idempotency_key_reused']),
      )
      expect([await shop.balanceOf(one.code), await shop.balanceOf(other.code)]).toEqual([400, 500])
    })
  })
})
