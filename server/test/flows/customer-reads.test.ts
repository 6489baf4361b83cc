import { afterAll, beforeAll, expect, test } from 'vitest'
import { jeton } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { ok, openShop, type Shop } from '../loyalty.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { OPERATOR } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const KIND = 'customer.reward_redemptions.completed'

interface Entry {
  readonly id: string
}

eachEngine((engine) => {
  let service: TimedService
  let receiver: Receiver
  let shop: Shop
  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV })
    receiver = await startReceiver()
    shop = await openShop(service)
  })
  afterAll(async () => {
    await service.stop()
    await receiver.close()
  })
  const read = (path: string, projectId = shop.projectId) =>
    service.manage('GET', `/projects/${projectId}/customers${path}`)
  const idsOf = ({ body }: { body: { data: Entry[] } }) => body.data.map(({ id }) => id)

  test('customers are found by id, source id, email, name and card, and by nothing else', async () => {
    const ann = await ok(
      shop.call('POST', '/customers', { source_id: 'crm-1', email: 'ann@example.com', name: 'Ann Lee' }),
    )
    await service.advance(1)
    const bob = await ok(shop.call('POST', '/customers', { source_id: 'crm-2', email: 'ann@example.com' }))
    const members = `/loyalties/${shop.campaign.id}/members`
    const card = await ok(shop.call('POST', members, { customer: { id: ann.id } }))
    for (const [query, found] of [
      [`id=${ann.id}`, [ann]],
      ['source_id=crm-2', [bob]],
      ['email=ann%40example.com', [bob, ann]],
      ['name=Ann%20Lee', [ann]],
      ['name=Ann', []],
      [`card=${card.code}`, [ann]],
      [`card=${card.code}&id=${ann.id}`, [ann]],
      [`card=${card.code}&id=${bob.id}`, []],
      [`card=${card.code}&email=other%40example.com`, []],
      ['card=none', []],
      [`id=${ann.source_id}`, []],
      ['email=ANN%40example.com', []],
    ] as const) {
      const answer = await read(`?${query}`)
      expect([answer.status, idsOf(answer), answer.body.total], query).toEqual([
        200,
        found.map(({ id }) => id),
        found.length,
      ])
    }
    const [shown] = (await read(`?id=${ann.id}`)).body.data
    expect(shown).toEqual(await ok(shop.call('GET', `/customers/${ann.id}`)))
    const first = await read('?email=ann%40example.com&limit=1')
    const next = await read(`?email=ann%40example.com&limit=1&cursor=${first.body.next_cursor}`)
    expect([idsOf(first), idsOf(next), next.body.next_cursor]).toEqual([[bob.id], [ann.id], null])
    expect((await read('?phone=1')).status).toBe(400)
    const other = await service.project('Other')
    expect(idsOf(await read(`?id=${ann.id}`, other.id))).toEqual([])
    expect((await read(`/${ann.id}/cards`, other.id)).status).toBe(404)
    expect((await read('', 'proj_none')).status).toBe(404)
  })

  test('a customer is shown with cards, points, and redemptions with their event and deliveries', async () => {
    const { id: webhook } = (
      await service.manage('POST', `/projects/${shop.projectId}/webhooks`, {
        target_url: receiver.url,
        events: [KIND],
      })
    ).body
    receiver.answer = () => ({ status: 503, body: 'closed' })
    const card = await shop.member(500)
    const reward = await shop.material({ price: 100 })
    await service.advance(5)
    const redemption = await ok(shop.redeem(card.code, reward.id))
    const path = `/${card.holder_id}`

    const cards = (await read(`${path}/cards`)).body
    expect(cards).toMatchObject({ total: 1, next_cursor: null })
    expect(cards.data[0]).toMatchObject({
      code: card.code,
      object: 'voucher',
      loyalty_card: { balance: 400 },
    })

    const changes = (await read(`${path}/transactions`)).body
    expect(changes.data).toMatchObject([
      { type: 'POINTS_REDEMPTION', points: -100, balance: 400, card: card.code, reward_name: 'Mug' },
      { type: 'POINTS_ADDITION', points: 500, balance: 500, object: 'transaction' },
    ])
    const last = (await read(`${path}/transactions?limit=1`)).body
    const before = (await read(`${path}/transactions?limit=1&cursor=${last.next_cursor}`)).body
    expect([...last.data, ...before.data]).toEqual(changes.data)

    const record = async () => (await read(`${path}/redemptions`)).body.data[0]
    await expect
      .poll(async () => {
        await service.advance(100)
        return (await record()).deliveries[0]?.attempts_made
      })
      .toBe(1)
    expect(await record()).toEqual({
      id: redemption.id,
      object: 'redemption',
      card: card.code,
      campaign_id: shop.campaign.id,
      reward_id: reward.id,
      reward_name: 'Mug',
      points: 100,
      issued_voucher_id: null,
      event_id: expect.stringMatching(/^evcus_/),
      event_state: 'relayed',
      deliveries: [
        expect.objectContaining({
          destination_id: webhook,
          status: 'pending',
          last_attempt: { at: expect.any(String), status: 503, error: 'answered 503' },
        }),
      ],
      created_at: redemption.date,
    })
    const byCommand = await jeton(['customer', 'redemptions', card.holder_id, '--json'], {
      env: {
        JETON_URL: service.url,
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        JETON_PROJECT: shop.projectId,
        XDG_CONFIG_HOME: '/nowhere',
      },
    })
    expect(JSON.parse(byCommand.out).data).toEqual([await record()])
  })

  test('a customer without cards has empty lists, and one that does not exist has none', async () => {
    const { id } = await ok(shop.call('POST', '/customers', { source_id: 'nothing yet' }))
    for (const end of ['cards', 'transactions', 'redemptions']) {
      for (const name of [id, 'nothing%20yet'])
        expect((await read(`/${name}/${end}`)).body).toMatchObject({ data: [], total: 0, next_cursor: null })
      expect((await read(`/cust_none/${end}`)).status, end).toBe(404)
    }
  })

  test('a redemption whose event waits for a worker says so', async () => {
    const alone = await startTimedService(engine, { env: ENV, worker: false })
    const own = await openShop(alone)
    const [card, reward] = [await own.member(100), await own.material({ price: 10 })]
    await ok(own.redeem(card.code, reward.id))
    const path = `/projects/${own.projectId}/customers/${card.holder_id}/redemptions`
    const { data } = (await alone.manage('GET', path)).body
    expect(data).toMatchObject([{ event_state: 'waiting', deliveries: [] }])
    await alone.stop()
  })
})
