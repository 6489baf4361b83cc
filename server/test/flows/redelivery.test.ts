import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lockDeliveries } from '../../src/features/deliveries/delivery-record.store.ts'
import { DELIVERED, type DeliveryRecord, EXHAUSTED, openRecord, type Wanted } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import { pairOf } from '../operators.ts'
import { type Answer, OPERATOR, send } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const KEY = Buffer.alloc(32, 9).toString('base64')
const FIELDS = [
  'id',
  'object',
  'event_id',
  'destination_id',
  'status',
  'attempts_made',
  'next_attempt_at',
  'created_at',
  'event_kind',
  'destination_url',
  'last_attempt',
]

/** Nothing is sent here: the tests check when deliveries become due. */
interface Shown {
  readonly id: string
  readonly status: string
}

eachEngine((engine) => {
  let service: TimedService
  beforeAll(async () => {
    service = await startTimedService(engine, { env: { JETON_ENCRYPTION_KEY: KEY }, worker: false })
  })
  afterAll(() => service.stop())

  const iso = (ms: number) => new Date(ms).toISOString()
  const list = (record: DeliveryRecord, query = ''): Promise<Answer> =>
    service.manage('GET', `${record.path}/deliveries${query}`)
  const idsIn = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id)

  describe('a retry', () => {
    let record: DeliveryRecord
    let to: string
    let now: number
    beforeEach(async () => {
      record = await openRecord(service)
      to = await record.webhook()
      await service.advance(1)
      now = service.clock.now()
    })
    const retry = (id: string, body?: object) =>
      service.manage('POST', `${record.path}/deliveries/${id}/retry`, body)

    test('a retry makes a waiting delivery due now, keeps its place in the schedule, and is in the audit log', async () => {
      const waiting = {
        attempts_made: 3,
        slot: 3,
        first_attempt_at: now - 1000,
        next_attempt_at: now + 60_000,
      }
      const before = await record.delivery(to, waiting)
      const { status, body } = await retry(before.id)
      expect(status).toBe(200)
      expect(Object.keys(body)).toEqual(FIELDS)
      expect(body).toMatchObject({ id: before.id, status: 'pending', next_attempt_at: iso(now) })
      expect(await record.row(before.id)).toEqual({ ...before, next_attempt_at: now })
      expect(await record.audit(before.id)).toMatchObject([
        {
          action: 'delivery.retried',
          actor: { type: 'operator' },
          subject: { type: 'delivery', id: before.id },
          before: { next_attempt_at: iso(now + 60_000) },
          after: { next_attempt_at: iso(now) },
        },
      ])
    })

    test('a retry of an exhausted delivery restarts its schedule and keeps its attempts', async () => {
      const before = await record.delivery(to, EXHAUSTED)
      expect((await retry(before.id)).body).toMatchObject({ status: 'pending', attempts_made: 13 })
      expect(await record.row(before.id)).toEqual({
        ...before,
        status: 'pending',
        slot: 0,
        first_attempt_at: null,
        next_attempt_at: now,
        settled_at: null,
      })
    })

    test.each([
      ['that is being sent', { claim_id: 'claim', next_attempt_at: 20_000 }],
      ['whose lease has ended', { claim_id: 'claim', next_attempt_at: -5_000 }],
      ['that is due', { next_attempt_at: -5_000 }],
    ])(
      'a retry of a delivery %s changes nothing, without an audit entry',
      async (_, { next_attempt_at, ...fields }) => {
        const before = await record.delivery(to, { ...fields, next_attempt_at: now + next_attempt_at })
        const { status, body } = await retry(before.id)
        expect([status, body.status]).toEqual([200, 'pending'])
        expect(await record.row(before.id)).toEqual(before)
        expect(await record.audit(before.id)).toEqual([])
      },
    )

    test('twenty concurrent retries change a delivery once, with one audit entry', async () => {
      const { id } = await record.delivery(to, EXHAUSTED)
      const answers = await Promise.all(Array.from({ length: 20 }, () => retry(id)))
      for (const { status, body } of answers) expect([status, body.status]).toEqual([200, 'pending'])
      await service.advance(1)
      await retry(id)
      expect(await record.audit(id)).toHaveLength(1)
      expect(await record.row(id)).toMatchObject({ next_attempt_at: now })
    })

    test('a retry of a held delivery makes it due once its destination is enabled', async () => {
      await service.manage('POST', `${record.path}/webhooks/${to}/disable`)
      const before = await record.delivery(to, EXHAUSTED)
      expect((await retry(before.id)).body).toMatchObject({ status: 'held', next_attempt_at: null })
      expect(await record.row(before.id)).toMatchObject({ status: 'pending', next_attempt_at: now })
    })

    test('a retry of a delivered event is refused, with the alternative', async () => {
      const before = await record.delivery(to, DELIVERED)
      const { status, body } = await retry(before.id)
      expect([status, body.key]).toEqual([409, 'invalid_state'])
      expect(body.details).toContain(`jeton event replay ${before.event_id} --destination ${to}`)
      expect(await record.row(before.id)).toEqual(before)
      expect(await record.audit(before.id)).toEqual([])
    })

    test.each([
      ['what waits', {}],
      ['what is exhausted', EXHAUSTED],
    ])('a retry of %s is refused if its destination is deleted', async (_, fields) => {
      const before = await record.delivery(to, fields)
      await service.manage('DELETE', `${record.path}/webhooks/${to}`)
      const { status, body } = await retry(before.id)
      expect([status, body.key, body.resource_id]).toEqual([409, 'invalid_state', to])
      expect(body.message).toContain('is deleted')
      expect(await record.row(before.id)).toEqual(before)
    })

    test('a retry takes no fields, and wakes the worker only if a delivery is due', async () => {
      const before = await record.delivery(to, EXHAUSTED)
      let woken = 0
      const stop = service.service.db.subscribe('deliveries', () => woken++)
      expect((await retry(before.id, { now: true })).status).toBe(400)
      expect(await record.row(before.id)).toEqual(before)
      expect(woken).toBe(0)
      await retry(before.id)
      await expect.poll(() => woken).toBe(1)
      stop()
    })
  })

  describe('a replay', () => {
    let record: DeliveryRecord
    let now: number
    beforeEach(async () => {
      record = await openRecord(service)
      await service.advance(1)
      now = service.clock.now()
    })
    const replay = (id: string, body?: object) =>
      service.manage('POST', `${record.path}/events/${id}/replay`, body)

    test('a replay sends an event to all of its destinations again, under the same ids', async () => {
      const event = await record.event()
      const delivered = await record.delivery(await record.webhook(), DELIVERED, event)
      const exhausted = await record.delivery(await record.webhook(), EXHAUSTED, event)
      const waiting = await record.delivery(
        await record.webhook(),
        { slot: 2, first_attempt_at: now - 9, next_attempt_at: now + 60_000 },
        event,
      )
      const claimed = await record.delivery(
        await record.webhook(),
        { claim_id: 'claim', next_attempt_at: now + 20_000 },
        event,
      )
      const unrelated = await record.delivery(await record.webhook(), DELIVERED)
      const { status, body } = await replay(event.id)
      expect(status).toBe(200)
      expect(body).toEqual({ object: 'replay', event_id: event.id, reopened: 3, held: 0, unchanged: 1 })
      const reopened = {
        status: 'pending',
        slot: 0,
        first_attempt_at: null,
        next_attempt_at: now,
        settled_at: null,
      }
      expect(await record.row(delivered.id)).toEqual({ ...delivered, ...reopened })
      expect(await record.row(exhausted.id)).toEqual({ ...exhausted, ...reopened })
      expect(await record.row(waiting.id)).toEqual({ ...waiting, next_attempt_at: now })
      for (const row of [claimed, unrelated]) expect(await record.row(row.id)).toEqual(row)
      expect(await record.audit(event.id)).toMatchObject([
        { action: 'event.replayed', after: { destination: null, reopened: 3, held: 0 } },
      ])
    })

    test('a replay of deliveries in flight changes nothing, without an audit entry', async () => {
      const event = await record.event()
      const { id } = await record.delivery(await record.webhook(), DELIVERED, event)
      await replay(event.id)
      const first = await record.row(id)
      await service.advance(1)
      expect((await replay(event.id)).body).toMatchObject({ reopened: 0, unchanged: 1 })
      expect(await record.row(id)).toEqual(first)
      expect(await record.audit(event.id)).toHaveLength(1)
    })

    test('a replay may name one destination', async () => {
      const event = await record.event()
      const [one, other] = [await record.webhook(), await record.webhook()]
      const meant = await record.delivery(one, DELIVERED, event)
      const left = await record.delivery(other, DELIVERED, event)
      expect((await replay(event.id, { destination: one })).body).toMatchObject({ reopened: 1 })
      expect((await record.row(meant.id))!.status).toBe('pending')
      expect(await record.row(left.id)).toEqual(left)
      expect(await record.audit(event.id)).toMatchObject([{ after: { destination: one } }])
    })

    test('a replay counts held deliveries and skips deleted destinations', async () => {
      const event = await record.event()
      const [disabled, deleted] = [await record.webhook(), await record.webhook()]
      await record.delivery(disabled, DELIVERED, event)
      const gone = await record.delivery(deleted, DELIVERED, event)
      await service.manage('POST', `${record.path}/webhooks/${disabled}/disable`)
      await service.manage('DELETE', `${record.path}/webhooks/${deleted}`)
      expect((await replay(event.id)).body).toMatchObject({ reopened: 1, held: 1, unchanged: 0 })
      expect(await record.row(gone.id)).toEqual(gone)
      const named = await replay(event.id, { destination: deleted })
      expect([named.status, named.body.key]).toEqual([409, 'invalid_state'])
    })

    test('a replay to a destination without a delivery is not found', async () => {
      const event = await record.event()
      const later = await record.webhook()
      const { status, body } = await replay(event.id, { destination: later })
      expect([status, body.key]).toEqual([404, 'not_found'])
      expect(body.message).toContain(`no delivery to "${later}"`)
    })

    test('a replay of an event of another project is not found, like an unknown one', async () => {
      const event = await record.event()
      const row = await record.delivery(await record.webhook(), DELIVERED, event)
      const other = await openRecord(service)
      for (const path of [`${other.path}/events/${event.id}`, `${record.path}/events/evcus_none`])
        expect((await service.manage('POST', `${path}/replay`)).status).toBe(404)
      expect(await record.row(row.id)).toEqual(row)
    })

    test.each([{ to: 'wh_1' }, { destination: 7 }, { destination: 'wh_\u0001' }])(
      'refuses %j',
      async (body) => {
        expect((await replay((await record.event()).id, body)).status).toBe(400)
      },
    )

    if (engine.name === 'PostgreSQL')
      test('a replay does not wait for a worker, and treats claimed deliveries as in flight', async () => {
        const event = await record.event()
        const [held, free] = [
          await record.delivery(await record.webhook(), DELIVERED, event),
          await record.delivery(await record.webhook(), DELIVERED, event),
        ]
        await service.service.db.transaction(async (tx) => {
          await lockDeliveries(tx, record.projectId, [held.id])
          expect((await replay(event.id)).body).toMatchObject({ reopened: 1, unchanged: 1 })
        })
        expect(await record.row(held.id)).toEqual(held)
        expect((await record.row(free.id))!.status).toBe('pending')
      })

    test('a replay of an event without destinations does nothing', async () => {
      expect((await replay((await record.event()).id)).body).toMatchObject({ reopened: 0, unchanged: 0 })
    })
  })

  describe('a recovery', () => {
    let record: DeliveryRecord
    let now: number
    beforeEach(async () => {
      record = await openRecord(service)
      await service.advance(1)
      now = service.clock.now()
    })
    const recover = (body: object) => service.manage('POST', `${record.path}/deliveries/recover`, body)
    const givenUp = (at: number): Wanted => ({ ...EXHAUSTED, settled_at: at })

    test('a recovery reopens exactly the deliveries that failed since the given time, and a dry run counts them', async () => {
      const to = await record.webhook()
      const since = now - 6 * 3_600_000
      // More than one transaction takes.
      const meant = await record.deliveries(
        to,
        Array.from({ length: 1_203 }, (_, i) => givenUp(since + i)),
      )
      const others = [
        ...(await record.deliveries(to, [givenUp(since - 1), DELIVERED])),
        await record.delivery(to, { next_attempt_at: now + 60_000 }),
        await record.delivery(to, { claim_id: 'claim', next_attempt_at: now + 20_000 }),
      ]
      const body = { since: iso(since) }
      const expected = {
        object: 'recovery',
        since: iso(since),
        destination: null,
        include: ['exhausted'],
        reopened: 1_203,
        held: 0,
        failing_left_out: 0,
        skipped: 0,
        next_cursor: null,
      }

      const dry = await recover({ ...body, dry_run: true })
      expect([dry.status, dry.body]).toEqual([200, { ...expected, dry_run: true, sample: expect.any(Array) }])
      const all = new Set(meant.map(({ id }) => id))
      const shown = dry.body.sample.filter(({ id, status }: Shown) => all.has(id) && status === 'exhausted')
      expect([dry.body.sample.length, shown.length]).toEqual([10, 10])
      expect(await record.row(meant[0]!.id)).toEqual(meant[0])
      expect(await record.audit(to)).toHaveLength(1)

      const done = await recover(body)
      expect(done.body).toEqual({ ...expected, dry_run: false, sample: [] })
      const left = await list(record, '?status=exhausted')
      expect(idsIn(left)).toEqual([others[0]!.id])
      expect(await record.row(meant[1_202]!.id)).toEqual({
        ...meant[1_202],
        status: 'pending',
        slot: 0,
        first_attempt_at: null,
        next_attempt_at: now,
        settled_at: null,
      })
      for (const row of others) expect(await record.row(row.id)).toEqual(row)
      const notes = (await record.audit(to)).filter(({ action }) => action === 'webhook.deliveries_recovered')
      expect(notes.map(({ after }) => after.since)).toEqual(notes.map(() => iso(since)))
      expect(notes.reduce((sum, { after }) => sum + (after.reopened as number), 0)).toBe(1_203)

      expect((await recover(body)).body).toMatchObject({ reopened: 0 })
    })

    test('a recovery stops after the current transaction when its client has gone, and the same call continues', async () => {
      const to = await record.webhook()
      const since = now - 1_000
      await record.deliveries(
        to,
        Array.from({ length: 1_203 }, () => givenUp(since)),
      )
      const left = async () => (await list(record, '?status=exhausted')).body.total as number
      const client = new AbortController()
      const body = JSON.stringify({ since: iso(since) })
      await service.service.db.transaction(async (tx) => {
        // SQLite has one writer, and this is it.
        if (engine.name === 'PostgreSQL')
          await sql`lock table deliveries in exclusive mode`.execute(tx.write<never>() as never)
        const headers = { ...pairOf(OPERATOR), 'content-type': 'application/json' }
        const url = `${service.url}/management/v1${record.path}/deliveries/recover`
        const gone = send(url, { method: 'POST', headers, body, signal: client.signal })
        // Requests that arrive later are answered, so the recovery has begun and waits for the lock.
        for (let i = 0; i < 50; i++) await send(`${service.url}/health/live`)
        client.abort()
        await expect(gone).rejects.toThrow()
        await send(`${service.url}/health/live`)
      })
      await expect.poll(left).toBe(703)
      await service.advance(1_000)
      expect(await left()).toBe(703)
      expect((await recover({ since: iso(since) })).body).toMatchObject({ reopened: 703 })
    })

    test('a recovery with a limit makes every delivery due exactly once if its cursor is sent back', async () => {
      const hooks = [await record.webhook(), await record.webhook(), await record.webhook()]
      const waiting: Wanted = { attempts_made: 1, first_attempt_at: now, next_attempt_at: now + 60_000 }
      for (const to of hooks) {
        await record.deliveries(
          to,
          Array.from({ length: 520 }, (_, i) => givenUp(now - i)),
        )
        await record.attempts(await record.deliveries(to, [waiting, waiting]))
      }
      const body = { since: iso(now - 3_600_000), include: ['exhausted', 'failing'], limit: 501 }
      const counts: number[] = []
      let cursor: string | null = null
      do {
        const { status, text, body: done } = await recover({ ...body, ...(cursor && { cursor }) })
        expect(status, text).toBe(200)
        counts.push(done.reopened)
        cursor = done.next_cursor
        // Failed again meanwhile.
        await service.service.db.transaction((tx) =>
          sql`update deliveries set attempts_made = 2, next_attempt_at = ${now + 60_000}
            where project_id = ${record.projectId} and status = 'pending'`.execute(tx.write<never>()),
        )
      } while (cursor !== null)
      expect(counts.length).toBeGreaterThan(2)
      expect(Math.max(...counts)).toBeLessThanOrEqual(1_001)
      expect(counts.reduce((sum, n) => sum + n)).toBe(3 * 522)
      expect((await recover({ ...body, cursor: 'exhausted.1' })).body.key).toBe('invalid_payload')
    })

    test('a recovery may name one destination, counts held deliveries, and skips deleted destinations', async () => {
      const [one, disabled, deleted] = [
        await record.webhook(),
        await record.webhook(),
        await record.webhook(),
      ]
      await record.deliveries(one, [givenUp(now), givenUp(now)])
      await record.deliveries(disabled, [givenUp(now), givenUp(now), givenUp(now)])
      const gone = await record.delivery(deleted, givenUp(now))
      await service.manage('POST', `${record.path}/webhooks/${disabled}/disable`)
      await service.manage('DELETE', `${record.path}/webhooks/${deleted}`)
      const since = iso(now)
      expect((await recover({ since, destination: one, dry_run: true })).body).toMatchObject({ reopened: 2 })
      expect((await recover({ since, dry_run: true })).body).toMatchObject({ reopened: 5, held: 3 })
      expect((await recover({ since, destination: one })).body).toMatchObject({
        destination: one,
        reopened: 2,
        held: 0,
      })
      expect((await recover({ since })).body).toMatchObject({ reopened: 3, held: 3 })
      expect(await record.row(gone.id)).toEqual(gone)
      expect((await list(record, '?status=held')).body.total).toBe(3)
      const refused = await recover({ since, destination: deleted })
      expect([refused.status, refused.body.key]).toEqual([409, 'invalid_state'])
    })

    test('a recovery counts failing deliveries, and reopens them only on request', async () => {
      const [to, disabled] = [await record.webhook(), await record.webhook()]
      const since = now - 3_600_000
      const waiting: Wanted = {
        attempts_made: 3,
        slot: 3,
        first_attempt_at: since,
        next_attempt_at: now + 60_000,
      }
      const failing = await record.deliveries(
        to,
        Array.from({ length: 602 }, () => waiting),
      )
      await record.attempts(failing, { number: 3, at: since, status: 500, error: 'answered 500' })
      const exhausted = await record.delivery(to, givenUp(since))
      const others = [
        // Failed for the last time before.
        await record.delivery(to, waiting),
        // Being sent, due already, never tried, held.
        await record.delivery(to, { ...waiting, claim_id: 'claim', next_attempt_at: now + 20_000 }),
        await record.delivery(to, { ...waiting, next_attempt_at: now }),
        await record.delivery(to, { next_attempt_at: now + 60_000 }),
        await record.delivery(disabled, waiting),
      ]
      await record.attempts(others.slice(0, 1), { number: 3, at: since - 1 })
      await record.attempts(others.slice(1), { number: 3, at: now })
      await service.manage('POST', `${record.path}/webhooks/${disabled}/disable`)

      const body = { since: iso(since) }
      const left = { include: ['exhausted'], reopened: 1, failing_left_out: 602 }
      expect((await recover({ ...body, dry_run: true })).body).toMatchObject(left)
      expect((await recover({ ...body, destination: disabled })).body).toMatchObject({ failing_left_out: 0 })
      expect((await recover(body)).body).toMatchObject({ ...left, dry_run: false })
      expect(await record.row(failing[0]!.id)).toEqual(failing[0])

      const both = { ...body, include: ['failing', 'exhausted'] }
      const all = { include: both.include, reopened: 602, held: 0, failing_left_out: 0 }
      expect((await recover({ ...both, dry_run: true })).body).toMatchObject(all)
      expect((await recover(both)).body).toMatchObject(all)
      // At their time in the schedule.
      expect(await record.row(failing[601]!.id)).toEqual({ ...failing[601], next_attempt_at: now })
      for (const row of others) expect(await record.row(row.id)).toEqual(row)
      expect(await record.row(exhausted.id)).toMatchObject({ status: 'pending', slot: 0 })
      const notes = (await record.audit(to)).filter(({ action }) => action === 'webhook.deliveries_recovered')
      const counted = (state: string) =>
        notes.reduce((sum, { after }) => sum + (after.state === state ? (after.reopened as number) : 0), 0)
      expect([counted('failing'), counted('exhausted')]).toEqual([602, 1])
      expect((await recover({ ...body, include: ['failing'] })).body).toMatchObject({ reopened: 0 })
    })

    test('takes exactly the deliveries that are named, and says how many of them stay as they are', async () => {
      const [to, disabled] = [await record.webhook(), await record.webhook()]
      const waiting: Wanted = { attempts_made: 1, first_attempt_at: now, next_attempt_at: now + 60_000 }
      const [exhausted, left, delivered] = await record.deliveries(to, [givenUp(1), givenUp(1), DELIVERED])
      const [failing, inFlight, untried] = await record.deliveries(to, [
        waiting,
        { ...waiting, claim_id: 'claim', next_attempt_at: now + 20_000 },
        { next_attempt_at: now + 60_000 },
      ])
      const held = await record.delivery(disabled, waiting)
      await service.manage('POST', `${record.path}/webhooks/${disabled}/disable`)
      const named = [exhausted, failing, delivered, inFlight, untried, held].map((row) => row!.id)
      const ids = [...named, 'whs_none']
      const expected = { reopened: 2, held: 0, skipped: 5, failing_left_out: 0 }
      const dry = await recover({ ids, dry_run: true })
      expect(dry.body).toMatchObject({ ...expected, include: ['exhausted', 'failing'], since: null })
      expect(dry.body.sample.map(({ id }: Shown) => id)).toEqual([failing!.id, exhausted!.id])
      expect(await record.row(failing!.id)).toEqual(failing)
      const done = await recover({ ids })
      expect([done.body, done.body.sample]).toEqual([expect.objectContaining(expected), []])
      for (const row of [exhausted, failing])
        expect(await record.row(row!.id)).toMatchObject({ status: 'pending', next_attempt_at: now })
      for (const row of [left, delivered, inFlight, untried, held])
        expect(await record.row(row!.id)).toEqual(row)
      expect((await recover({ ids })).body).toMatchObject({ reopened: 0, skipped: 7 })
    })

    test('takes the deliveries that match all filters, and no others', async () => {
      const [to, other] = [await record.webhook(), await record.webhook()]
      const waiting: Wanted = { attempts_made: 1, first_attempt_at: now, next_attempt_at: now + 60_000 }
      const failed = (last_status: number | null, last_error: string): Wanted => ({
        ...waiting,
        last_status,
        last_error,
      })
      const event = await record.event()
      const refused = await record.delivery(to, failed(null, 'Connection refused'))
      const busy = await record.delivery(to, failed(503, 'answered 503'), event)
      const elsewhere = await record.delivery(other, failed(503, 'answered 503'))
      const old = await record.delivery(to, {
        ...failed(503, 'answered 503'),
        created_at: now - 8 * 86_400_000,
      })
      const include = ['failing', 'exhausted']
      for (const [filter, rows] of [
        [{ http_status: 503 }, [busy, elsewhere, old]],
        [{ http_status: 503, destination: to }, [busy, old]],
        [{ http_status: 503, from: iso(now - 1_000) }, [busy, elsewhere]],
        [{ from: iso(now - 9 * 86_400_000), to: iso(now - 1_000) }, [old]],
        [{ error: 'REFUSED' }, [refused]],
        [{ error: 'answered' }, [busy, elsewhere]],
        [{ event: event.id }, [busy]],
        [{ event: event.id, http_status: 500 }, []],
        [{ event: 'evcus_none' }, []],
      ] as const) {
        const { body } = await recover({ ...filter, include, dry_run: true })
        const ids = body.sample.map(({ id }: Shown) => id).sort()
        expect([body.reopened, ids], JSON.stringify(filter)).toEqual([
          rows.length,
          rows.map(({ id }) => id).sort(),
        ])
      }
      expect((await recover({ http_status: 503, destination: to })).body).toMatchObject({
        reopened: 0,
        failing_left_out: 2,
      })
      expect((await recover({ http_status: 503, destination: to, include })).body.reopened).toBe(2)
      expect(await record.row(elsewhere.id)).toEqual(elsewhere)
      const notes = (await record.audit(to)).filter(({ action }) => action === 'webhook.deliveries_recovered')
      expect(notes.map(({ after }) => after)).toEqual([
        { since: null, http_status: 503, state: 'failing', reopened: 2 },
      ])
    })

    test('concurrent recoveries reopen each delivery once', async () => {
      const to = await record.webhook()
      await record.deliveries(
        to,
        Array.from({ length: 700 }, () => givenUp(now)),
      )
      const answers = await Promise.all(Array.from({ length: 4 }, () => recover({ since: iso(now) })))
      const sum = (counts: number[]) => counts.reduce((all, one) => all + one, 0)
      expect(sum(answers.map(({ body }) => body.reopened))).toBe(700)
      const notes = (await record.audit(to)).filter(({ action }) => action === 'webhook.deliveries_recovered')
      expect(sum(notes.map(({ after }) => after.reopened as number))).toBe(700)
      expect((await list(record, '?status=exhausted')).body.total).toBe(0)
    })

    test.each([
      [{}, 'must name ids, or at least one of since'],
      [{ dry_run: true, to: '2026-11-15' }, 'must name ids, or at least one of since'],
      [{ ids: ['whs_1'], since: '2026-11-15' }, 'and not both'],
      [{ ids: [] }, 'ids must have at least 1'],
      [{ http_status: 99 }, 'http_status must be at least 100'],
      [{ error: 'x', from: '2026-01-01' }, 'A search by error covers at most 7 days'],
      [{ since: '6h' }, 'since must be a time such as'],
      [{ since: 7 }, 'since must be text'],
      [{ since: '2026-11-15', dry: true }, 'is not a field here'],
      [{ since: '2026-11-15', destination: 'wh_\u0001' }, 'destination must have'],
      [{ since: '2026-13-45' }, 'since must be a time such as'],
      [{ since: '2026-11-15', dry_run: 'yes' }, 'dry_run must be true or false'],
      [{ since: '2026-11-15', include: 'failing' }, 'include must be a list'],
      [{ since: '2026-11-15', include: ['held'] }, 'must be one of'],
      [{ since: '2026-11-15', include: [] }, 'include must have at least 1'],
    ])('refuses %j', async (body, says) => {
      const answer = await recover(body)
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(says)])
    })

    test('a recovery in another project, or for its destination, gets 404 and changes nothing', async () => {
      const to = await record.webhook()
      const row = await record.delivery(to, givenUp(now))
      const other = await openRecord(service)
      const since = iso(0)
      for (const [path, destination] of [
        [other.path, to],
        [record.path, 'wh_none'],
        ['/projects/proj_none', undefined],
      ]) {
        const answer = await service.manage('POST', `${path}/deliveries/recover`, { since, destination })
        expect([answer.status, answer.body.key]).toEqual([404, 'not_found'])
      }
      expect(
        (await service.manage('POST', `${other.path}/deliveries/recover`, { since })).body.reopened,
      ).toBe(0)
      expect(await record.row(row.id)).toEqual(row)
    })
  })
})
