import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { ok, openShop, type Shop } from '../loyalty.ts'
import { redemptionData } from '../reported-redemption.ts'
import { type Answer, type Pair, send } from '../service.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const WIRE = 'customer.reward_redemptions.completed'
const FILE = `${WIRE}.2024-01-01.json`
const COUNT = 7

/** The schema with nothing beside what it names, for objects whose fields it names. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]))
  return 'properties' in schema && 'type' in schema ? { ...inner, additionalProperties: false } : inner
}

eachEngine((engine) => {
  let service: TimedService
  let project: { id: string; name: string }
  let pair: Pair
  const ids: string[] = []
  const times: string[] = []
  beforeAll(async () => {
    service = await startTimedService(engine, { worker: false })
    project = await service.project('Club')
    pair = await service.key(project.id)
    for (let i = 0; i < COUNT; i++) {
      ids.push(await report(`r-${i}`, i % 2 === 0 ? 'cust_even' : 'cust_odd'))
      times.push(new Date(service.clock.now()).toISOString())
      // Two share a moment: a cursor must not lose one of them.
      if (i !== 3) await service.advance(1000)
    }
  })
  afterAll(() => service.stop())

  async function report(sourceId: string, customerId: string): Promise<string> {
    const { body } = await send(`${service.url}/v1/redemptions/rewards`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-app-id': pair.appId, 'x-app-token': pair.appToken },
      body: JSON.stringify({ source_id: sourceId, data: redemptionData(customerId) }),
    })
    return body.event_id
  }
  const list = (query = ''): Promise<Answer> =>
    service.manage('GET', `/projects/${project.id}/events${query}`)
  const idsIn = ({ body }: Answer): string[] => body.data.map((one: { id: string }) => one.id)

  describe('the list of events', () => {
    test('events are listed newest first, without their data', async () => {
      const { status, body } = await list()
      expect(status).toBe(200)
      expect(body).toMatchObject({ object: 'list', data_ref: 'data', total: COUNT, next_cursor: null })
      const created = body.data.map((one: { created_at: string }) => one.created_at)
      expect(created).toEqual([...created].sort().reverse())
      expect(new Set(idsIn({ body } as Answer))).toEqual(new Set(ids))
      for (const one of body.data) expect(Object.keys(one)).not.toContain('data')
    })

    test.each([1, 2, 3, 7])('the list of events in pages of %i returns each event once', async (limit) => {
      const found: string[] = []
      let query: string | null = `?limit=${limit}`
      while (query !== null) {
        const answer = await list(query)
        found.push(...idsIn(answer))
        const { next_cursor } = answer.body
        query = next_cursor === null ? null : `?limit=${limit}&cursor=${next_cursor}`
      }
      expect(found).toEqual(idsIn(await list('?limit=100')))
      expect(found).toHaveLength(COUNT)
    })

    test('filters of events take a customer, a kind in both forms, and a time with start included and end excluded', async () => {
      expect(new Set(idsIn(await list('?entity=cust_odd')))).toEqual(new Set([ids[1], ids[3], ids[5]]))
      expect((await list('?entity=cust_nobody')).body).toMatchObject({ data: [], total: 0 })
      for (const kind of [KIND, WIRE]) expect((await list(`?kind=${kind}`)).body.total).toBe(COUNT)
      const span = await list(`?from=${times[1]}&to=${times[5]}`)
      expect(new Set(idsIn(span))).toEqual(new Set(ids.slice(1, 5)))
      expect(span.body.total).toBe(4)
      expect((await list(`?entity=cust_odd&from=${times[2]}`)).body.total).toBe(2)
    })

    test.each([
      ['?kind=customer.created', 'kind must be one of'],
      ['?kind=customer.reward_redemptions.complete', `Did you mean ${WIRE}?`],
      ['?from=yesterday', 'from must be a time'],
      ['?limit=101', 'limit must be at most 100'],
      ['?cursor=nonsense', 'cursor is invalid'],
      ['?customer=x', 'is not a field here'],
    ])('refuses %s', async (query, says) => {
      const { status, body } = await list(query)
      expect(status).toBe(400)
      expect(body.message).toContain(says)
    })

    test('of a project that is not there is 404, and needs an operator', async () => {
      expect((await service.manage('GET', '/projects/proj_none/events')).status).toBe(404)
      expect((await send(`${service.url}/management/v1/projects/${project.id}/events`)).status).toBe(401)
    })
  })

  describe('one event', () => {
    test('an event shows its data', async () => {
      const { status, body } = await service.manage('GET', `/projects/${project.id}/events/${ids[0]}`)
      expect(status).toBe(200)
      expect(body.data).toEqual(redemptionData('cust_even'))
    })

    test('an event of another project is not found, like an unknown one', async () => {
      const other = await service.project('Other')
      for (const id of [ids[0], 'evcus_none', '%20', `${ids[0]}x`]) {
        const { status, body } = await service.manage('GET', `/projects/${other.id}/events/${id}`)
        expect([status, body.key]).toEqual([404, 'not_found'])
      }
    })
  })

  describe('the schema of events', () => {
    test('the schema of events is listed and public', async () => {
      const { status, body } = await send(`${service.url}/events`)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        object: 'list',
        total: 1,
        data: [{ kind: KIND, object: 'event_schema', type: WIRE, version: '2024-01-01' }],
      })
      expect(body.data[0].url).toBe(`${service.url}/events/${FILE}`)
      const served = await send(body.data[0].url)
      expect(served.status).toBe(200)
      expect(served.headers.get('content-type')).toMatch(/^application\/schema\+json/)
      expect(served.body.title).toBe(KIND)
    })

    test.each(['nothing.json', WIRE, '..%2f..%2fpackage.json', 'constructor'])(
      'there is no schema at /events/%s',
      async (name) => expect((await send(`${service.url}/events/${name}`)).status).toBe(404),
    )

    test('the data of every written event matches the schema', async () => {
      const { body: schema } = await send(`${service.url}/events/${FILE}`)
      const validate = new Ajv({ strict: true }).compile(schema.properties.data)
      for (const { data } of await storedEvents()) {
        expect(validate(data), JSON.stringify(validate.errors)).toBe(true)
        expect(data).not.toHaveProperty('publication')
      }
    })
  })

  describe('a redemption made here', () => {
    test('a redemption of any reward writes an event with exactly the fields of the schema', async () => {
      const shop = await openShop(service)
      const { code, holder_id } = await shop.member(1000)
      await redeemEveryType(shop, code)
      const { body } = await service.manage('GET', `/projects/${shop.projectId}/events?entity=${holder_id}`)
      expect(body.total).toBe(3)
      const { body: schema } = await send(`${service.url}/events/${FILE}`)
      const { publication: _, ...properties } = schema.properties.data.properties
      const exactly = new Ajv({ strict: true }).compile(
        closed({ ...schema.properties.data, properties }) as object,
      )
      const types: string[] = []
      for (const { id } of body.data) {
        const event = (await service.manage('GET', `/projects/${shop.projectId}/events/${id}`)).body
        expect(exactly(event.data), JSON.stringify(exactly.errors)).toBe(true)
        expect(Object.keys(event.data)).toEqual(Object.keys(properties))
        expect(event).toMatchObject({ kind: KIND, campaign_id: shop.campaign.id, entity_id: holder_id })
        expect(event.event_source).toEqual({
          channel: 'API',
          api_key: { name: 'key', app_id: shop.pair.appId },
        })
        types.push(event.data.reward.type)
      }
      expect(types.sort()).toEqual(['CAMPAIGN', 'COIN', 'MATERIAL'])
    })
  })

  async function redeemEveryType({ call, campaign, material, redeem }: Shop, code: string): Promise<void> {
    const rewardOf = async (type: string, parameters: object) => {
      const reward = await ok(call('POST', '/rewards', { name: type, type, parameters }))
      const price = { campaign: campaign.id, parameters: { loyalty: { points: 50 } } }
      await ok(call('POST', `/rewards/${reward.id}/assignments`, price))
      return reward.id as string
    }
    const discount = { type: 'DISCOUNT_VOUCHER', discount: { type: 'AMOUNT', amount_off: 500 } }
    const coupons = await ok(
      call('POST', '/campaigns', { name: 'Coupons', campaign_type: 'DISCOUNT_COUPONS', voucher: discount }),
    )
    const coupon = await rewardOf('CAMPAIGN', { campaign: { id: coupons.id, type: 'DISCOUNT_COUPONS' } })
    const coin = await rewardOf('COIN', { coin: { exchange_ratio: 1, points_ratio: 1 } })
    await ok(redeem(code, (await material()).id))
    await ok(redeem(code, coupon))
    await ok(redeem(code, coin, { reward: { id: coin, points: 10 }, order: { amount: 100_000 } }))
  }

  async function storedEvents(): Promise<{ data: unknown }[]> {
    const rows = (await everythingIn(service.service.db)).events!
    expect(rows.length).toBeGreaterThanOrEqual(COUNT)
    return rows.map((row) => ({ data: JSON.parse(JSON.parse(row).data) }))
  }

  test('events wait for their fan-out, and are deleted with their project', async () => {
    const { events, outbox } = await everythingIn(service.service.db)
    const ofProject = (all: string[]) => all.filter((row) => JSON.parse(row).project_id === project.id).length
    expect([ofProject(events!), ofProject(outbox!)]).toEqual([COUNT, COUNT])
    await service.manage('DELETE', `/projects/${project.id}`, { name: project.name })
    expect((await list()).status).toBe(404)
    await service.jump(16 * 60_000)
    await expect
      .poll(async () => {
        await service.advance(10_000)
        const all = await everythingIn(service.service.db)
        return [all.events!, all.outbox!, all.reported_redemptions!].map(ofProject)
      })
      .toEqual([0, 0, 0])
  })
})
