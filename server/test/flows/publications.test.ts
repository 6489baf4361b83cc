import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRecord } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import { apiOf, ok, openShop } from '../loyalty.ts'
import { startReceiver } from '../receiver.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}

eachEngine((engine) => {
  let service: TimedService
  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV })
  })
  afterAll(() => service.stop())

  test('a stored publication is the one that was sent', async () => {
    const shop = await openShop(service)
    const receiver = await startReceiver()
    await service.manage('POST', `/projects/${shop.projectId}/distributions`, {
      name: 'Tell the CRM',
      campaign_id: shop.campaign.id,
      target_url: receiver.url,
    })
    const { code, holder_id } = await shop.member(500)
    await ok(shop.redeem(code, (await shop.material({ price: 100 })).id))
    const [received] = await receiver.receivedAtLeast(1)
    const { publication } = received!.payload.data

    const list = await ok(shop.call('GET', '/publications'))
    expect(list).toEqual({
      object: 'list',
      data_ref: 'publications',
      publications: [publication],
      total: 1,
      has_more: false,
    })
    expect(await ok(shop.call('GET', `/publications/${publication.id}`))).toEqual(publication)
    expect((await ok(shop.call('GET', `/publications?customer=${holder_id}`))).total).toBe(1)
    await receiver.close()
  })

  test('publications are listed newest first, by page and by customer', async () => {
    const record = await openRecord(service)
    const call = apiOf(service.url, await service.key(record.projectId))
    const event = await record.event()
    const ids: string[] = []
    for (let i = 0; i < 5; i++) {
      const fields = { created_at: event.created_at + i, customer_id: `cust_${i % 2}` }
      ids.unshift((await record.publication(event, fields)).id)
    }
    const idsIn = (list: { publications: { id: string }[] }) => list.publications.map(({ id }) => id)
    expect(idsIn(await ok(call('GET', '/publications')))).toEqual(ids)
    const second = await ok(call('GET', '/publications?limit=2&page=2&order=-created_at'))
    expect([idsIn(second), second.total, second.has_more]).toEqual([ids.slice(2, 4), 5, true])
    expect(idsIn(await ok(call('GET', '/publications?customer=cust_1')))).toEqual([ids[1], ids[3]])
  })

  test('publications require the scope publications, within their project', async () => {
    const record = await openRecord(service)
    const { id } = await record.publication(await record.event())
    const key = await service.key(record.projectId)
    const withScope = async (scope: string, path: string) => {
      const { body } = await service.issue(key, scope)
      return fetch(`${service.url}/v1${path}`, { headers: { authorization: `Bearer ${body.access_token}` } })
    }
    for (const path of ['/publications', `/publications/${id}`]) {
      expect((await withScope('publications', path)).status).toBe(200)
      expect((await withScope('vouchers', path)).status).toBe(403)
    }
    const other = await openRecord(service)
    const foreign = apiOf(service.url, await service.key(other.projectId))
    for (const name of [id, 'pub_none']) {
      const { status, body } = await foreign('GET', `/publications/${name}`)
      expect([status, body.key, body.resource_type]).toEqual([404, 'not_found', 'publication'])
    }
    expect((await ok(foreign('GET', '/publications'))).total).toBe(0)
  })
})
