import { Ajv } from 'ajv'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EVENT_SCHEMAS } from '../../../src/features/events/index.ts'
import { readTotals } from '../../concurrent-redemptions.ts'
import { eachEngine } from '../../engines.ts'
import { ok, openShop, type Shop } from '../../loyalty.ts'
import { everythingIn, startTimedService, type TimedService } from '../../timed-service.ts'

const validate = new Ajv({ strict: false }).compile(
  (EVENT_SCHEMAS[0]!.schema as { properties: { data: object } }).properties.data,
)

eachEngine((engine) => {
  let service: TimedService
  let shop: Shop

  beforeAll(async () => {
    // Without a worker, whose fan-out would change rows.
    service = await startTimedService(engine, { worker: false })
  })
  beforeEach(async () => {
    shop = await openShop(service)
  })
  afterAll(() => service.stop())

  /** Rows of the project of this test. */
  const ownRows = async (table: string): Promise<string[]> =>
    (await everythingIn(service.service.db))[table]!.filter((row) => row.includes(shop.projectId))

  const latestEvent = async () => {
    const events = `/projects/${shop.projectId}/events`
    const { body } = await service.manage('GET', events)
    return (await service.manage('GET', `${events}/${body.data[0].id}`)).body
  }
  const reward = async (type: string, parameters: object, price?: number) => {
    const made = await ok(shop.call('POST', '/rewards', { name: type, type, parameters }))
    const body = {
      campaign: shop.campaign.name,
      ...(price !== undefined && { parameters: { loyalty: { points: price } } }),
    }
    await ok(shop.call('POST', `/rewards/${made.id}/assignments`, body))
    return made.id as string
  }
  const campaign = async (campaign_type: string, voucher: object) =>
    (await ok(shop.call('POST', '/campaigns', { name: campaign_type, campaign_type, voucher }))).id as string
  const inFuture = (ms: number) => new Date(service.clock.now() + ms).toISOString()

  describe('the event of a redemption', () => {
    test('the event of a redemption has every documented field and the values of the response', async () => {
      const { id, assignmentId } = await shop.material({ price: 30, stock: 3 })
      const card = await shop.member(100)
      const answer = await shop.redeem(card.code, id)
      const event = await latestEvent()
      expect(validate(event.data), JSON.stringify(validate.errors)).toBe(true)
      expect(event).toMatchObject({
        kind: 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED',
        entity_id: card.holder_id,
        campaign_id: shop.campaign.id,
        group_id: answer.headers.get('x-request-id'),
        event_source: { channel: 'API', api_key: { name: 'key', app_id: shop.pair.appId } },
      })
      const { data } = event
      expect(Object.keys(data)).toEqual(
        'customer holder voucher campaign reward_redemption reward reward_assignment source balance'.split(
          ' ',
        ),
      )
      expect(data).toMatchObject({
        customer: answer.body.customer,
        holder: answer.body.customer,
        voucher: answer.body.voucher,
        campaign: { id: shop.campaign.id, campaign_type: 'LOYALTY_PROGRAM', category: null },
        reward: answer.body.reward,
        reward_assignment: { id: assignmentId, reward_id: id, parameters: { loyalty: { points: 30 } } },
        reward_redemption: {
          id: expect.stringMatching(/^rewr_/),
          state: 'COMPLETED',
          voucher_id: card.id,
          source_id: answer.body.id,
          source_type: 'redemption',
        },
        source: { id: answer.body.id, type: 'redemption' },
        balance: { amount: 70 },
      })
      expect(data).not.toHaveProperty('publication')
    })

    test('the event of every type of reward matches the schema', async () => {
      const card = await shop.member(1000)
      const discount = { type: 'DISCOUNT_VOUCHER', discount: { type: 'PERCENT', percent_off: 10 } }
      const ids = [
        await reward('CAMPAIGN', { campaign: { id: await campaign('DISCOUNT_COUPONS', discount) } }, 0),
        await reward('COIN', { coin: { exchange_ratio: 1, points_ratio: 10 } }),
      ]
      for (const id of ids) {
        expect((await shop.redeem(card.code, id, { order: { amount: 500 } })).status).toBe(200)
        expect(validate((await latestEvent()).data), JSON.stringify(validate.errors)).toBe(true)
      }
    })
  })

  describe('CAMPAIGN', () => {
    test('a CAMPAIGN reward issues a voucher with a code of the campaign to the customer', async () => {
      const code_config = { pattern: 'GIFT-####', charset: '0123456789' }
      const gift = await campaign('GIFT_VOUCHERS', {
        type: 'GIFT_VOUCHER',
        gift: { amount: 500 },
        code_config,
      })
      const id = await reward('CAMPAIGN', { campaign: { id: gift, balance: 700 } }, 10)
      const card = await shop.member(20)
      const codes = new Set<string>()
      for (let i = 0; i < 2; i++) {
        const { body } = await shop.redeem(card.code, id)
        expect(body.reward.voucher).toMatchObject({
          code: expect.stringMatching(/^GIFT-\d{4}$/),
          type: 'GIFT_VOUCHER',
          gift: { amount: 700, balance: 700 },
          campaign_id: gift,
          holder_id: card.holder_id,
        })
        codes.add(body.reward.voucher.code)
        expect(await ok(shop.call('GET', `/vouchers/${body.reward.voucher.code}`))).toEqual(
          body.reward.voucher,
        )
      }
      expect(codes.size).toBe(2)
    })

    test('a CAMPAIGN reward finds the last free codes, and takes no points once there is none', async () => {
      const code_config = { length: 1, charset: 'ABC' }
      const discount = { type: 'AMOUNT', amount_off: 100 }
      const small = await campaign('DISCOUNT_COUPONS', { type: 'DISCOUNT_VOUCHER', discount, code_config })
      const id = await reward('CAMPAIGN', { campaign: { id: small } }, 10)
      const card = await shop.member(100)
      for (let i = 0; i < 3; i++) expect((await shop.redeem(card.code, id)).status).toBe(200)
      const refused = await shop.redeem(card.code, id)
      expect([refused.status, refused.body.key]).toEqual([400, 'voucher_codes_exhausted'])
      expect(await shop.balanceOf(card.code)).toBe(70)
      expect(await readTotals(service.service.db, id)).toMatchObject({
        redemptions: 3,
        events: 3,
        redeemed: 3,
      })
    })

    test('a CAMPAIGN reward of a loyalty program adds points to a new card, then to the same one', async () => {
      const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: 5 } }
      const other = await ok(shop.call('POST', '/loyalties', { name: 'Other', voucher }))
      const id = await reward('CAMPAIGN', { campaign: { id: other.id, balance: 40 } }, 10)
      const card = await shop.member(100)
      const first = (await shop.redeem(card.code, id)).body.reward.voucher
      const second = (await shop.redeem(card.code, id)).body.reward.voucher
      expect([first.code, first.loyalty_card.balance]).toEqual([second.code, 45])
      expect(second.loyalty_card.balance).toBe(85)
      expect((await readTotals(service.service.db, id)).wrongCards).toEqual([])
    })

    test('a CAMPAIGN reward of its own program takes and adds points on one card', async () => {
      const id = await reward('CAMPAIGN', { campaign: { id: shop.campaign.id, balance: 3 } }, 10)
      const card = await shop.member(100)
      const { body } = await shop.redeem(card.code, id)
      expect([body.voucher.loyalty_card, body.reward.voucher.loyalty_card]).toEqual([
        { points: 103, balance: 93 },
        { points: 103, balance: 93 },
      ])
    })
  })

  describe('COIN', () => {
    test('a COIN reward turns points into a discount on the order', async () => {
      const id = await reward('COIN', { coin: { exchange_ratio: 20, points_ratio: 100 } })
      const card = await shop.member(1000)
      const paid = await shop.redeem(card.code, id, {
        reward: { id, points: 100 },
        order: { amount: 45_000 },
      })
      expect(paid.body).toMatchObject({
        amount: 100,
        order: { amount: 45_000, total_discount_amount: 2_000, total_amount: 43_000 },
        voucher: { loyalty_card: { balance: 900 } },
      })
      const whole = await shop.redeem(card.code, id, { order: { amount: 999, source_id: 'o-1' } })
      expect(whole.body).toMatchObject({ amount: 50, order: { source_id: 'o-1', total_amount: 0 } })
    })

    test('a COIN reward without an order, or above its amount, takes no points', async () => {
      const id = await reward('COIN', { coin: { exchange_ratio: 1, points_ratio: 1 } })
      const card = await shop.member(1000)
      for (const order of [undefined, null, {}, { amount: 0 }])
        expect((await shop.redeem(card.code, id, { order })).body).toMatchObject({
          code: 400,
          key: 'missing_order',
        })
      const more = await shop.redeem(card.code, id, { reward: { id, points: 6 }, order: { amount: 500 } })
      expect(more.body).toMatchObject({ code: 400, message: expect.stringContaining('5 points at most') })
      expect(await shop.balanceOf(card.code)).toBe(1000)
    })
  })

  describe('is refused, with a key of its own and nothing changed,', () => {
    const cases: Record<
      string,
      { key: string; status?: number; type?: string; before: (code: string) => Promise<unknown> }
    > = {
      'with a card that is not active': {
        key: 'voucher_disabled',
        before: (code) => ok(shop.call('PUT', `/vouchers/${code}`, { active: false })),
      },
      'with a card that has expired': {
        key: 'voucher_expired',
        before: (code) => ok(shop.call('PUT', `/vouchers/${code}`, { expiration_date: inFuture(-1) })),
      },
      'with a card that is not valid yet': {
        key: 'voucher_not_active',
        before: (code) => ok(shop.call('PUT', `/vouchers/${code}`, { start_date: inFuture(1000) })),
      },
      'before the campaign begins': {
        key: 'campaign_not_started',
        before: () => ok(shop.call('PUT', `/loyalties/${shop.campaign.id}`, { start_date: inFuture(1000) })),
      },
      'after the campaign has ended': {
        key: 'campaign_ended',
        before: () =>
          ok(shop.call('PUT', `/loyalties/${shop.campaign.id}`, { expiration_date: inFuture(0) })),
      },
      'in a campaign that is not active': {
        key: 'campaign_inactive',
        before: () => ok(shop.call('PUT', `/loyalties/${shop.campaign.id}`, { active: false })),
      },
      'with the card of a customer who was deleted': {
        key: 'voucher_disabled',
        before: async (code) => {
          const { holder_id } = await ok(shop.call('GET', `/loyalties/members/${code}`))
          await shop.call('DELETE', `/customers/${holder_id}`)
          // No later request restores it.
          expect(await ok(shop.call('PUT', `/vouchers/${code}`, { active: true }))).toMatchObject({
            active: false,
          })
        },
      },
    }
    test.each(Object.keys(cases))('%s', async (name) => {
      const { key, before } = cases[name]!
      const { id } = await shop.material({ stock: 1 })
      const card = await shop.member(500)
      await before(card.code)
      const stored = await everythingIn(service.service.db)
      const refused = await shop.redeem(card.code, id)
      expect([refused.status, refused.body.key]).toEqual([400, key])
      expect(await everythingIn(service.service.db)).toEqual(stored)
    })

    test('a redemption of a missing, unknown, foreign or unassigned reward is refused', async () => {
      const { id, assignmentId } = await shop.material()
      const other = await openShop(service)
      const foreign = await other.material()
      const card = await shop.member(500)
      const path = `/loyalties/${shop.campaign.id}/members/${card.code}/redemption`
      for (const body of [{}, { reward: null }, { reward: {} }, { reward: { id: '' } }])
        expect((await shop.call('POST', path, body)).body).toMatchObject({ code: 400, key: 'missing_reward' })
      for (const unknown of ['rew_nothing', foreign.id])
        expect((await shop.redeem(card.code, unknown)).body).toMatchObject({
          code: 404,
          key: 'not_found',
          resource_type: 'reward',
          resource_id: unknown,
        })
      expect((await shop.call('DELETE', `/rewards/${id}/assignments/${assignmentId}`)).status).toBe(204)
      expect((await shop.redeem(card.code, id)).body).toMatchObject({
        code: 404,
        resource_type: 'reward_assignment',
        message: expect.stringContaining('is not assigned'),
      })
      expect(await shop.balanceOf(card.code)).toBe(500)
    })

    test('a redemption with a card of another campaign is refused', async () => {
      const { id } = await shop.material()
      const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: 0 } }
      await ok(shop.call('POST', '/loyalties', { name: 'Other', voucher }))
      const card = await shop.member(500)
      const body = { reward: { id } }
      const wrong = await shop.call('POST', `/loyalties/Other/members/${card.code}/redemption`, body)
      expect(wrong.body).toMatchObject({ code: 404, resource_type: 'voucher', resource_id: card.code })
      const nowhere = await shop.call('POST', `/loyalties/Nowhere/members/${card.code}/redemption`, body)
      expect(nowhere.body).toMatchObject({ code: 404, resource_type: 'campaign', resource_id: 'Nowhere' })
      expect((await shop.call('POST', `/loyalties/members/${card.code}/redemption`, body)).status).toBe(200)
    })
  })

  describe('an Idempotency-Key', () => {
    test('an Idempotency-Key is stored for 24 hours, and only after success', async () => {
      const { id } = await shop.material()
      const card = await shop.member(50)
      const headers = { 'idempotency-key': 'k' }
      expect((await shop.redeem(card.code, id, {}, headers)).status).toBe(400)
      await ok(shop.call('POST', `/loyalties/members/${card.code}/balance`, { points: 450 }))
      const first = await shop.redeem(card.code, id, {}, headers)
      expect(first.status).toBe(200)
      await service.jump(24 * 3_600_000 - 1000)
      expect((await shop.redeem(card.code, id, {}, headers)).text).toBe(first.text)
      await service.jump(1000)
      expect((await shop.redeem(card.code, id, {}, headers)).body.id).not.toBe(first.body.id)
      expect(await shop.balanceOf(card.code)).toBe(300)
    })

    test('an Idempotency-Key belongs to one API key', async () => {
      const { id } = await shop.material()
      const card = await shop.member(500)
      const headers = { 'idempotency-key': 'k' }
      const second = await service.key(shop.projectId)
      const own = { ...headers, 'x-app-id': second.appId, 'x-app-token': second.appToken }
      const ids = [
        (await shop.redeem(card.code, id, {}, headers)).body.id,
        (await shop.redeem(card.code, id, {}, own)).body.id,
      ]
      expect(new Set(ids).size).toBe(2)
    })

    test.each(['', 'x'.repeat(256), 'tab\tinside'])('the Idempotency-Key %j is refused', async (key) => {
      const { id } = await shop.material()
      const card = await shop.member(500)
      const refused = await shop.redeem(card.code, id, {}, { 'idempotency-key': key })
      expect([refused.status, refused.body.key]).toEqual([400, 'invalid_payload'])
      expect(await shop.balanceOf(card.code)).toBe(500)
    })

    test('the janitor deletes expired Idempotency-Keys', async () => {
      const card = await shop.member()
      const headers = { 'idempotency-key': 'k' }
      await ok(shop.call('POST', `/loyalties/members/${card.code}/balance`, { points: 1 }, headers))
      const kept = async () => (await ownRows('idempotency_keys')).length
      expect(await kept()).toBe(1)
      await service.jump(24 * 3_600_000)
      await expect
        .poll(async () => {
          await service.advance(10_000)
          return kept()
        })
        .toBe(0)
    })
  })

  test('loyalty data is removed with its project', async () => {
    const { id } = await shop.material()
    const card = await shop.member(500)
    await shop.redeem(card.code, id, {}, { 'idempotency-key': 'k' })
    const { name } = (await service.manage('GET', `/projects/${shop.projectId}`)).body
    expect((await service.manage('DELETE', `/projects/${shop.projectId}`, { name })).status).toBe(204)
    await service.jump(16 * 60_000)
    const tables = ['customers', 'campaigns', 'vouchers', 'point_entries', 'products', 'rewards']
    const others = ['reward_assignments', 'redemptions', 'idempotency_keys', 'events']
    const left = async () => {
      await service.advance(10_000)
      const rows = await Promise.all([...tables, ...others].map(ownRows))
      return rows.flat()
    }
    await expect.poll(left).toEqual([])
  })

  test('a redemption requires a token or key with the scope loyalties', async () => {
    const { id } = await shop.material()
    const card = await shop.member(500)
    const narrow = await service.key(shop.projectId, { permissions: ['rewards'] })
    const headers = { 'x-app-id': narrow.appId, 'x-app-token': narrow.appToken }
    const refused = await shop.redeem(card.code, id, {}, headers)
    expect([refused.status, refused.body.key]).toEqual([403, 'insufficient_scope'])
    expect(await shop.balanceOf(card.code)).toBe(500)
  })
})
