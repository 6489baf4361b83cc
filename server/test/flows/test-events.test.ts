import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DeliveryTables } from '../../src/features/deliveries/delivery.ts'
import { KIND, openRecord } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import { ok, openShop } from '../loyalty.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import type { Answer } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const WIRE = 'customer.reward_redemptions.completed'
const REAL = [KIND, WIRE, 'REWARD_REDEMPTIONS', 'reward_redemptions']

eachEngine((engine) => {
  let service: TimedService
  let receiver: Receiver
  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV })
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    receiver = await startReceiver()
    return () => receiver.close()
  })

  const sendTest = (path: string, body?: object): Promise<Answer> =>
    service.manage('POST', `${path}/test`, body)
  const deliveriesOf = (projectId: string) =>
    service.service.db
      .read<DeliveryTables>()
      .selectFrom('deliveries')
      .selectAll()
      .where('project_id', '=', projectId)
      .execute()

  describe('a test event', () => {
    test('a test event reaches only its webhook, under a name that no real event has', async () => {
      const record = await openRecord(service)
      const other = await startReceiver()
      await record.webhook({ target_url: other.url })
      const id = await record.webhook({ target_url: receiver.url })
      const { status, body } = await sendTest(`${record.path}/webhooks/${id}`)
      expect(status).toBe(201)
      expect(body).toMatchObject({
        object: 'delivery',
        destination_id: id,
        status: 'pending',
        attempts_made: 0,
      })

      const [received] = await receiver.receivedAtLeast(1)
      expect(received!.headers).toMatchObject({ 'webhook-id': body.id, 'x-jeton-event': 'webhook.test' })
      expect(received!.payload).toMatchObject({
        id: body.id,
        project_id: record.projectId,
        type: 'webhook.test',
        source: { id, object: 'webhook', target_url: receiver.url },
        event: { id: body.event_id, type: 'webhook.test', event_source: { channel: 'INTERNAL' } },
      })
      for (const name of REAL) expect(received!.body).not.toContain(name)
      // Whatever the fan-out does from now on, it has no other delivery.
      await service.advance(5_000)
      expect((await deliveriesOf(record.projectId)).map((row) => row.id)).toEqual([body.id])
      expect(other.received).toEqual([])
      await other.close()
    })

    test('a test event of a distribution is named a test, also if the distribution renames events', async () => {
      const shop = await openShop(service)
      const path = `/projects/${shop.projectId}/distributions`
      const made = await service.manage('POST', path, {
        name: 'Tell the CRM',
        campaign_id: shop.campaign.id,
        target_url: receiver.url,
        event_name: KIND,
      })
      const { status } = await sendTest(`${path}/${made.body.id}`)
      expect(status).toBe(201)
      const [received] = await receiver.receivedAtLeast(1)
      expect(received!.payload).toMatchObject({ type: 'webhook.test', source: { object: 'distribution' } })
      expect(received!.payload.data).not.toHaveProperty('publication')
      for (const name of REAL) expect(received!.body).not.toContain(name)
      expect((await ok(shop.call('GET', '/publications'))).total).toBe(0)
    })

    test('a test event can be read, found and retried like any other, and is in the audit log', async () => {
      const record = await openRecord(service)
      const id = await record.webhook({ target_url: receiver.url })
      receiver.answer = () => ({ status: 500, body: 'no' })
      const { body: made } = await sendTest(`${record.path}/webhooks/${id}`)
      const read = async () => (await service.manage('GET', `${record.path}/deliveries/${made.id}`)).body
      await expect
        .poll(read)
        .toMatchObject({ status: 'pending', attempts: [{ status: 500, response_body: 'no' }] })
      const [received] = receiver.received
      expect(JSON.stringify((await read()).payload)).toBe(received!.body)

      const { body: events } = await service.manage('GET', `${record.path}/events?kind=webhook.test`)
      expect(events).toMatchObject({
        total: 1,
        data: [{ id: made.event_id, kind: 'webhook.test', type: 'webhook.test', entity_id: id }],
      })
      expect(events.data[0].waiting).toBe(false)
      expect((await service.manage('GET', `${record.path}/events?kind=${KIND}`)).body.total).toBe(0)

      receiver.answer = () => ({ status: 200 })
      expect((await service.manage('POST', `${record.path}/deliveries/${made.id}/retry`)).status).toBe(200)
      await expect.poll(async () => (await read()).status).toBe('delivered')
      const [again] = receiver.received.slice(1)
      expect(again).toMatchObject({ body: received!.body, headers: { 'webhook-id': made.id } })

      const notes = (await record.audit(id)).filter(({ action }) => action !== 'webhook.created')
      expect(notes).toMatchObject([
        {
          action: 'webhook.tested',
          subject: { type: 'webhook', id },
          after: { event_id: made.event_id, delivery_id: made.id },
        },
      ])
    })

    test('a test event is refused for a disabled destination, and not found for an unknown one', async () => {
      const record = await openRecord(service)
      const other = await openRecord(service)
      const id = await record.webhook({ target_url: receiver.url })
      await service.manage('POST', `${record.path}/webhooks/${id}/disable`)
      const disabled = await sendTest(`${record.path}/webhooks/${id}`)
      expect([disabled.status, disabled.body.key]).toEqual([409, 'invalid_state'])
      expect(disabled.body.details).toContain(`jeton webhook enable ${id}`)
      for (const path of [
        `${record.path}/webhooks/wh_none`,
        `${record.path}/distributions/${id}`,
        `${other.path}/webhooks/${id}`,
        `/projects/proj_none/webhooks/${id}`,
      ])
        expect((await sendTest(path)).status, path).toBe(404)
      await service.manage('POST', `${record.path}/webhooks/${id}/enable`)
      expect((await sendTest(`${record.path}/webhooks/${id}`, { type: KIND })).status).toBe(400)
      await service.manage('DELETE', `${record.path}/webhooks/${id}`)
      expect((await sendTest(`${record.path}/webhooks/${id}`)).status).toBe(404)
      expect(await deliveriesOf(record.projectId)).toEqual([])
      expect(receiver.received).toEqual([])
    })
  })
})
