import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DELIVERED, type DeliveryRecord, EXHAUSTED, KIND, openRecord } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import type { Answer } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const ENV = { JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') }

interface Listed {
  readonly id: string
  readonly last_attempt: object | null
}

eachEngine((engine) => {
  let service: TimedService
  let now: number
  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV, worker: false })
    now = service.clock.now()
  })
  afterAll(() => service.stop())

  const iso = (ms: number) => new Date(ms).toISOString()
  const list = (record: DeliveryRecord, query = ''): Promise<Answer> =>
    service.manage('GET', `${record.path}/deliveries${query}`)
  const idsIn = ({ body }: Answer): string[] => body.data.map(({ id }: Listed) => id)

  describe('the list of deliveries', () => {
    test('the filter for failing deliveries returns those that were tried, not delivered and are still scheduled', async () => {
      const own = await openRecord(service)
      const [active, other, disabled, deleted] = [
        await own.webhook(),
        await own.webhook(),
        await own.webhook(),
        await own.webhook(),
      ]
      const tried = { attempts_made: 2, first_attempt_at: now - 5_000, next_attempt_at: now + 60_000 }
      const event = await own.event()
      const [first, second] = [
        await own.delivery(active, { ...tried, created_at: now - 3 }, event),
        await own.delivery(other, { ...tried, created_at: now - 2 }),
      ]
      for (const to of [disabled, deleted]) await own.delivery(to, tried, event)
      for (const fields of [{}, DELIVERED, EXHAUSTED]) await own.delivery(active, fields, event)
      await service.manage('POST', `${own.path}/webhooks/${disabled}/disable`)
      await service.manage('DELETE', `${own.path}/webhooks/${deleted}`)

      const both = await list(own, '?state=failing')
      expect([idsIn(both), both.body.total]).toEqual([[second.id, first.id], 2])
      for (const [more, ids] of [
        [`&destination=${active}`, [first.id]],
        [`&event=${event.id}`, [first.id]],
        [`&status=pending`, [second.id, first.id]],
        [`&status=held`, []],
        [`&status=exhausted&event=${event.id}`, []],
        [`&destination=${disabled}`, []],
        [`&to=${iso(now - 2)}`, [first.id]],
      ] as const)
        expect(idsIn(await list(own, `?state=failing${more}`)), more).toEqual(ids)
      const page = await list(own, '?state=failing&limit=1')
      const next = await list(own, `?state=failing&limit=1&cursor=${page.body.next_cursor}`)
      expect([idsIn(page), idsIn(next), next.body.next_cursor]).toEqual([[second.id], [first.id], null])
    })

    test('is narrowed to several statuses at once', async () => {
      const own = await openRecord(service)
      const [to, disabled, deleted] = [await own.webhook(), await own.webhook(), await own.webhook()]
      const waiting = { next_attempt_at: now + 60_000 }
      const at = (ms: number) => ({ created_at: now - ms })
      const pending = await own.delivery(to, { ...waiting, ...at(5) })
      const delivered = await own.delivery(to, { ...DELIVERED, ...at(4) })
      const exhausted = await own.delivery(disabled, { ...EXHAUSTED, ...at(3) })
      const held = await own.delivery(disabled, { ...waiting, ...at(2) })
      const cancelled = await own.delivery(deleted, { ...waiting, ...at(1) })
      await service.manage('POST', `${own.path}/webhooks/${disabled}/disable`)
      await service.manage('DELETE', `${own.path}/webhooks/${deleted}`)
      for (const [statuses, rows] of [
        ['held,exhausted', [held, exhausted]],
        ['exhausted,held', [held, exhausted]],
        ['pending,held,cancelled', [cancelled, held, pending]],
        ['delivered,pending', [delivered, pending]],
        ['pending,delivered,held,exhausted,cancelled', [cancelled, held, exhausted, delivered, pending]],
      ] as const) {
        const answer = await list(own, `?status=${statuses}`)
        expect([idsIn(answer), answer.body.total], statuses).toEqual([rows.map(({ id }) => id), rows.length])
      }
      expect(idsIn(await list(own, `?status=held,exhausted&destination=${to}`))).toEqual([])
      expect(idsIn(await list(own, `?status=held,exhausted&event=${held.event_id}`))).toEqual([held.id])
      for (const wrong of ['held,', 'held, exhausted', 'gone', 'held,gone', '']) {
        const { status, body } = await list(own, `?status=${encodeURIComponent(wrong)}`)
        expect([status, body.message], wrong).toEqual([400, expect.stringContaining('separated by commas')])
      }
    })

    test('is narrowed to the answer or the error of the last attempt, where that failed', async () => {
      const own = await openRecord(service)
      const [to, disabled] = [await own.webhook(), await own.webhook()]
      const failed = (ms: number, last_status: number | null, last_error: string) => ({
        ...{ attempts_made: 1, next_attempt_at: now + 60_000, created_at: now - ms, last_status, last_error },
      })
      const refused = await own.delivery(to, failed(1, null, 'Connection refused'))
      const busy = await own.delivery(to, failed(2, 503, 'answered 503'))
      const gaveUp = await own.delivery(to, { ...EXHAUSTED, ...failed(3, 503, 'answered 503'), ...EXHAUSTED })
      const held = await own.delivery(disabled, failed(4, 503, 'answered 503'))
      const cut = await own.delivery(to, failed(5, 200, 'answered 200 but closed after 5 of 10 bytes'))
      const old = await own.delivery(to, failed(7 * 86_400_000 + 1, 500, 'answered 500'))
      for (const fields of [{}, DELIVERED]) await own.delivery(to, fields)
      await service.manage('POST', `${own.path}/webhooks/${disabled}/disable`)
      for (const [query, rows] of [
        ['http_status=503', [busy, gaveUp, held]],
        ['http_status=503&state=failing', [busy]],
        ['http_status=503&status=held,exhausted', [gaveUp, held]],
        ['http_status=503&status=delivered', []],
        [`http_status=503&destination=${disabled}`, [held]],
        [`http_status=503&event=${busy.event_id}`, [busy]],
        [`http_status=503&event=${refused.event_id}`, []],
        ['http_status=200', [cut]],
        ['http_status=500', [old]],
        ['http_status=404', []],
        ['error=refused', [refused]],
        ['error=ANSWERED', [busy, gaveUp, held, cut]],
        ['error=answered&http_status=200', [cut]],
        ['error=%25', []],
        [`error=answered&to=${iso(now - 3)}`, [held, cut, old]],
        [`error=500&from=${iso(now - 8 * 86_400_000)}&to=${iso(now - 86_400_000)}`, [old]],
      ] as const) {
        const answer = await list(own, `?${query}`)
        expect([idsIn(answer), answer.body.total], query).toEqual([rows.map(({ id }) => id), rows.length])
      }
      const first = await list(own, '?error=answered&limit=3')
      const next = await list(own, `?error=answered&limit=3&cursor=${first.body.next_cursor}`)
      expect([idsIn(first).length, idsIn(next)]).toEqual([3, [cut.id]])
      for (const [query, says] of [
        [`error=x&from=${iso(now - 8 * 86_400_000)}`, 'at most 7 days'],
        ['error=', 'error must have 1 to 200 characters'],
        ['http_status=600', 'at most 599'],
      ]) {
        const { status, body } = await list(own, `?${query}`)
        expect([status, body.message], query).toEqual([400, expect.stringContaining(says!)])
      }
    })

    test('the list of deliveries shows destination, event and last result of each', async () => {
      const own = await openRecord(service)
      const to = await own.webhook({ target_url: 'https://crm.example.com/hook' })
      const test = await own.event({ kind: 'webhook.test' })
      const failed = await own.delivery(to, { attempts_made: 2, next_attempt_at: now + 9 }, test)
      await own.attempt(failed, { number: 1, at: now - 2_000, status: 200, error: null })
      await own.attempt(failed, { number: 2, at: now - 1_000, status: 503, error: 'answered 503' })
      const delivered = await own.delivery(to, DELIVERED)
      await own.attempt(delivered, { number: 1, at: now - 7, status: 204, error: null })
      const refused = await own.delivery(to, { attempts_made: 1, next_attempt_at: now })
      await own.attempt(refused, { number: 1, at: now - 5, status: null, error: 'connection refused' })
      await own.delivery(to)
      const { data } = (await list(own)).body
      const shown = new Map(data.map((one: Listed) => [one.id, one]))
      expect(shown.get(failed.id)).toMatchObject({
        event_kind: 'webhook.test',
        destination_url: 'https://crm.example.com/hook',
        last_attempt: { at: iso(now - 1_000), status: 503, error: 'answered 503' },
      })
      expect(shown.get(delivered.id)).toMatchObject({
        event_kind: KIND,
        last_attempt: { at: iso(now - 7), status: 204, error: null },
      })
      expect(shown.get(refused.id)).toMatchObject({
        last_attempt: { at: iso(now - 5), status: null, error: 'connection refused' },
      })
      for (const one of data) {
        expect(Object.keys(one.last_attempt ?? { at: 0, status: 0, error: 0 })).toEqual([
          'at',
          'status',
          'error',
        ])
        const alone = await service.manage('GET', `${own.path}/deliveries/${one.id}`)
        expect(alone.body).toMatchObject(one)
      }
      // The address of a deleted destination is still shown.
      await service.manage('DELETE', `${own.path}/webhooks/${to}`)
      const after = (await list(own)).body.data[0]
      expect(after.destination_url).toBe('https://crm.example.com/hook')
    })
  })
})
