import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { payloadOf } from '../../src/features/deliveries/payload.ts'
import { insertDestination } from '../../src/features/webhooks/destination.store.ts'
import { createVault } from '../../src/platform/encryption.ts'
import { randomBytes } from '../../src/platform/secrets.ts'
import { jeton } from '../command-line.ts'
import {
  DELIVERED,
  type DeliveryRecord,
  EXHAUSTED,
  KIND,
  openRecord,
  type Wanted,
} from '../delivery-record.ts'
import { makeDestination } from '../destination.ts'
import { eachEngine } from '../engines.ts'
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
const STATUSES = ['pending', 'delivered', 'held', 'exhausted', 'cancelled'] as const
type Status = (typeof STATUSES)[number]

interface Listed {
  readonly id: string
  readonly status: Status
  readonly event_id: string
  readonly destination_id: string
  readonly next_attempt_at: string | null
  readonly created_at: string
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
  const idsIn = ({ body }: Answer): string[] => body.data.map(({ id }: Listed) => id)

  /** By its cursors, from the first page to the last. */
  async function wholeList(record: DeliveryRecord, filter: string, limit: number): Promise<Listed[]> {
    const found: Listed[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const answer = await list(record, `?limit=${limit}${filter}${cursor && `&cursor=${cursor}`}`)
      expect(answer.status, answer.text).toBe(200)
      found.push(...answer.body.data)
      cursor = answer.body.next_cursor
    }
    return found
  }

  describe('the list of deliveries', () => {
    /** One of each status, all of one event. */
    let record: DeliveryRecord
    const of = {} as Record<Status, string>
    let eventId: string
    let now: number
    const to = {} as Record<'active' | 'disabled' | 'deleted', string>

    beforeAll(async () => {
      record = await openRecord(service)
      for (const name of ['active', 'disabled', 'deleted'] as const) to[name] = await record.webhook()
      now = service.clock.now()
      const event = await record.event()
      eventId = event.id
      const add = async (status: Status, where: string, fields: Wanted) => {
        of[status] = (await record.delivery(where, fields, event)).id
      }
      const waiting = { next_attempt_at: now + 60_000, attempts_made: 1 }
      await add('pending', to.active, { ...waiting, created_at: now - 1 })
      await add('delivered', to.active, { ...DELIVERED, created_at: now - 2 })
      await add('held', to.disabled, { ...waiting, created_at: now - 3 })
      await add('exhausted', to.disabled, { ...EXHAUSTED, created_at: now - 4 })
      await add('cancelled', to.deleted, { ...waiting, created_at: now - 5 })
      await service.manage('POST', `${record.path}/webhooks/${to.disabled}/disable`)
      await service.manage('DELETE', `${record.path}/webhooks/${to.deleted}`)
    })

    test('deliveries are listed newest first, with the documented fields and no others', async () => {
      const { status, body } = await list(record)
      expect(status).toBe(200)
      expect(body).toMatchObject({ object: 'list', data_ref: 'data', total: 5, next_cursor: null })
      expect(body.data.map(({ id }: Listed) => id)).toEqual([
        of.pending,
        of.delivered,
        of.held,
        of.exhausted,
        of.cancelled,
      ])
      for (const one of body.data) expect(Object.keys(one)).toEqual(FIELDS)
      expect(body.data[0]).toEqual({
        id: of.pending,
        object: 'delivery',
        event_id: eventId,
        destination_id: to.active,
        status: 'pending',
        attempts_made: 1,
        next_attempt_at: iso(now + 60_000),
        created_at: iso(now - 1),
        event_kind: KIND,
        destination_url: 'https://hooks.example.com/jeton',
        last_attempt: null,
      })
    })

    test('the list of deliveries shows held and cancelled ones, and a next attempt only for pending ones', async () => {
      const { data } = (await list(record)).body as { data: Listed[] }
      for (const one of data) {
        expect(of[one.status]).toBe(one.id)
        expect(one.next_attempt_at === null).toBe(one.status !== 'pending')
      }
    })

    test.each(STATUSES)('the list of deliveries filtered by status %s has exactly those', async (status) => {
      for (const more of ['', `&event=${eventId}`]) {
        const answer = await list(record, `?status=${status}${more}`)
        expect([idsIn(answer), answer.body.total]).toEqual([[of[status]], 1])
        expect(answer.body.data[0].status).toBe(status)
      }
    })

    test('filters of deliveries combine destination, event and status', async () => {
      const found = async (query: string) => idsIn(await list(record, query))
      expect(await found(`?destination=${to.active}`)).toEqual([of.pending, of.delivered])
      expect(await found(`?destination=${to.disabled}`)).toEqual([of.held, of.exhausted])
      expect(await found(`?destination=${to.disabled}&status=held`)).toEqual([of.held])
      expect(await found(`?destination=${to.disabled}&status=pending`)).toEqual([])
      expect(await found(`?destination=${to.deleted}&status=cancelled`)).toEqual([of.cancelled])
      expect(await found(`?destination=${to.active}&event=${eventId}`)).toEqual([of.pending, of.delivered])
      expect(await found(`?destination=${to.active}&event=${eventId}&status=delivered`)).toEqual([
        of.delivered,
      ])
      for (const query of ['?destination=wh_none', '?event=evcus_none', '?destination=wh_none&status=held'])
        expect((await list(record, query)).body).toMatchObject({ data: [], total: 0, next_cursor: null })
    })

    test.each(['', '&status=held', '&event='])(
      'the time filter %j of deliveries includes its start and excludes its end',
      async (filter) => {
        const more = filter === '&event=' ? `${filter}${eventId}` : filter
        const at = (offset: number) => iso(now + offset)
        const all = await wholeList(record, more, 100)
        const meant = all.filter(({ created_at }) => created_at >= at(-4) && created_at < at(-1))
        const answer = await list(record, `?from=${at(-4)}&to=${at(-1)}${more}`)
        expect(answer.body).toMatchObject({ data: meant, total: meant.length })
        expect(meant.length).toBeGreaterThan(0)
      },
    )

    test('the list of deliveries shows changes of a destination at once', async () => {
      const own = await openRecord(service)
      const id = await own.webhook()
      await own.delivery(id)
      const statusAfter = async (method: string, verb: string) => {
        await service.manage(method, `${own.path}/webhooks/${id}${verb}`)
        return (await list(own)).body.data[0].status
      }
      expect(await statusAfter('POST', '/disable')).toBe('held')
      expect(await statusAfter('POST', '/enable')).toBe('pending')
      expect(await statusAfter('DELETE', '')).toBe('cancelled')
    })

    test.each([
      ['?status=failed', 'status must be one of'],
      ['?status=HELD', 'status must be one of'],
      ['?state=pending', 'state must be'],
      ['?webhook=wh_1', 'is not a field here'],
      ['?from=yesterday', 'from must be a time'],
      ['?limit=101', 'limit must be at most 100'],
      ['?cursor=nonsense', 'cursor is invalid'],
      ['?limit=100&page=101', 'page reaches only the 10000 newest'],
      ['?status=held&limit=100&page=101', 'page reaches only the 10000 newest'],
    ])('refuses %s', async (query, says) => {
      const { status, body } = await list(record, query)
      expect([status, body.message]).toEqual([400, expect.stringContaining(says)])
    })

    test('of a project that is not there is 404, and needs an operator', async () => {
      expect((await service.manage('GET', '/projects/proj_none/deliveries')).status).toBe(404)
      expect((await send(`${service.url}/management/v1${record.path}/deliveries`)).status).toBe(401)
      const other = await openRecord(service)
      expect((await list(other, `?destination=${to.active}`)).body.total).toBe(0)
      expect((await list(other, `?event=${eventId}`)).body.total).toBe(0)
    })
  })

  describe('a long list', () => {
    /** More destinations than are merged at once, and moments that many share: a page must not lose or repeat one. */
    const DESTINATIONS = 250
    let record: DeliveryRecord
    const meant: (Omit<Listed, 'next_attempt_at'> & { at: number })[] = []

    beforeAll(async () => {
      record = await openRecord(service)
      const event = await record.event()
      const { row } = makeDestination(createVault(Buffer.alloc(32), randomBytes), {
        targetUrl: 'https://x.test',
      })
      const start = service.clock.now()
      for (let i = 0; i < DESTINATIONS; i++) {
        const id = `wh_${String(i * 7919).padStart(16, i % 2 ? 'a' : 'Z')}`
        const state = (['active', 'disabled', 'deleted'] as const)[i % 3]!
        const own = { active: state === 'disabled' ? 0 : 1, deleted_at: state === 'deleted' ? start : null }
        await service.service.db.transaction((tx) =>
          insertDestination(tx, {
            ...row,
            kind: 'webhook',
            name: null,
            project_id: record.projectId,
            id,
            ...own,
          }),
        )
        const wanted = [{}, DELIVERED, EXHAUSTED].map((fields, j) => ({
          ...fields,
          created_at: start - ((i + j) % 5),
        }))
        for (const made of await record.deliveries(id, wanted, event)) {
          const ofPending = { active: 'pending', disabled: 'held', deleted: 'cancelled' } as const
          const status = made.status === 'pending' ? ofPending[state] : made.status
          const at = made.created_at
          meant.push({ ...made, status, at, created_at: iso(at) })
        }
      }
    })

    test.each(['', ...STATUSES.map((status) => `&status=${status}`)])(
      'with %j comes whole by its cursors, each delivery once and in order',
      async (filter) => {
        const wanted = meant.filter(({ status }) => !filter || filter.endsWith(`=${status}`))
        for (const limit of [17, 100]) {
          const found = await wholeList(record, filter, limit)
          expect(new Set(found.map(({ id }) => id))).toEqual(new Set(wanted.map(({ id }) => id)))
          expect(found).toHaveLength(wanted.length)
          const times = found.map(({ created_at }) => created_at)
          expect(times).toEqual([...times].sort().reverse())
        }
        expect((await list(record, `?limit=1${filter}`)).body.total).toBe(wanted.length)
      },
    )

    test.each(['', '&status=held', '&status=delivered'])(
      'a long list of deliveries with %j has the same pages by number',
      async (filter) => {
        const byCursor = (await wholeList(record, filter, 20)).map(({ id }) => id)
        const byPage: string[] = []
        for (let page = 1; byPage.length < byCursor.length; page++)
          byPage.push(...idsIn(await list(record, `?limit=20&page=${page}${filter}`)))
        expect(byPage).toEqual(byCursor)
      },
    )

    test.each(['', '&status=cancelled', '&status=exhausted'])(
      'a long list of deliveries with %j between two times is complete by its cursors, and is counted',
      async (filter) => {
        const [to, from] = [
          Math.max(...meant.map(({ at }) => at)),
          Math.min(...meant.map(({ at }) => at)) + 1,
        ]
        const wanted = meant.filter(
          ({ at, status }) => at >= from && at < to && (!filter || filter.endsWith(`=${status}`)),
        )
        expect(wanted.length).toBeGreaterThan(0)
        const times = `${filter}&from=${iso(from)}&to=${iso(to)}`
        const found = await wholeList(record, times, 23)
        expect(found.map(({ id }) => id).sort()).toEqual(wanted.map(({ id }) => id).sort())
        expect((await list(record, `?limit=1${times}`)).body.total).toBe(wanted.length)
      },
    )

    test('the deliveries of one event are complete by their cursors', async () => {
      const found = await wholeList(record, `&event=${meant[0]!.event_id}`, 100)
      expect(new Set(found.map(({ id }) => id)).size).toBe(meant.length)
      expect(found).toHaveLength(meant.length)
    })
  })

  describe('one delivery', () => {
    let record: DeliveryRecord
    beforeAll(async () => {
      record = await openRecord(service)
    })

    test('a delivery shows the sent bytes and every attempt in order', async () => {
      const event = await record.event({
        data: '{"customer":{"2":"b","1":"a","name":"Zoë \\u2028 </script>"}}',
      })
      const made = await record.delivery(await record.webhook(), { attempts_made: 2 }, event)
      const at = service.clock.now()
      await record.attempt(made, { number: 2, at: at + 60_000 })
      await record.attempt(made, { number: 1, at, status: null, response_body: null, error: 'no answer' })
      const { status, body } = await service.manage('GET', `${record.path}/deliveries/${made.id}`)
      expect(status).toBe(200)
      expect(Object.keys(body)).toEqual([...FIELDS, 'attempts', 'payload'])
      // A stored event is always what JSON.stringify made of it: so is this one but for the order of its numbers.
      const data = JSON.stringify(JSON.parse(event.data))
      expect(JSON.stringify(body.payload)).toBe(payloadOf(made, data))
      expect(body.payload.id).toBe(made.id)
      expect(body.attempts).toEqual([
        { at: iso(at), duration_ms: 12, status: null, response_body: null, error: 'no answer' },
        { at: iso(at + 60_000), duration_ms: 12, status: 200, response_body: 'thanks', error: null },
      ])
    })

    test('a delivery that was never sent has no attempts', async () => {
      const { id } = await record.delivery(await record.webhook())
      const { body } = await service.manage('GET', `${record.path}/deliveries/${id}`)
      expect(body).toMatchObject({ id, status: 'pending', attempts: [] })
    })

    test('a delivery of another project gets the same bytes as an unknown one', async () => {
      const { id } = await record.delivery(await record.webhook())
      const other = await openRecord(service)
      const asked: [string, string, object?][] = [
        ['GET', ''],
        ['POST', '/retry'],
      ]
      for (const [method, verb, body] of asked) {
        const foreign = await service.manage(method, `${other.path}/deliveries/${id}${verb}`, body)
        const none = await service.manage(method, `${other.path}/deliveries/whs_none${verb}`, body)
        expect([foreign.status, foreign.body.key]).toEqual([404, 'not_found'])
        const without = ({ text, body: { request_id } }: Answer, name: string) =>
          text.replaceAll(name, 'ID').replaceAll(request_id, 'REQUEST')
        expect(without(foreign, id)).toBe(without(none, 'whs_none'))
      }
      expect((await service.manage('GET', `/projects/proj_none/deliveries/${id}`)).status).toBe(404)
      expect(await record.audit(id)).toEqual([])
    })
  })
  test('the command line lists, shows, retries, replays, recovers and tests deliveries', async () => {
    const record = await openRecord(service)
    const to = await record.webhook()
    const now = service.clock.now()
    const made = await record.delivery(to, { ...EXHAUSTED, settled_at: now - 3_600_000 })
    const answer = `<h1>${'x'.repeat(500)}\u009b31m</h1>`
    await record.attempt(made, { number: 13, status: 500, response_body: answer, error: 'answered 500' })
    const failing = await record.delivery(to, { attempts_made: 1, next_attempt_at: now + 60_000 })
    await record.attempt(failing, { at: now, status: null, error: 'connection refused' })
    const env = {
      JETON_URL: service.managementUrl,
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
      JETON_PROJECT: record.projectId,
      XDG_CONFIG_HOME: '/nowhere',
      NO_COLOR: '1',
    }
    const typed = (line: string, isTTY = true) => jeton(line.split(' '), { env, isTTY, now })
    const run = async (line: string, isTTY = true) => {
      const { code, out, err } = await typed(line, isTTY)
      expect(code, err).toBe(0)
      // Nothing here is a secret, so nothing is said to be one.
      expect(err).toBe('')
      return out
    }

    expect(await run('delivery list')).toMatch(/CREATED .*STATUS .*NEXT ATTEMPT +LAST STATUS +LAST ERROR\n/)
    expect(await run('delivery list')).toMatch(/ 500 +answered 500\n/)
    expect(await run('delivery list --failing')).toMatch(
      new RegExp(`\\n[^\\n]* ${failing.id} [^\\n]* – +connection refused\\n$`),
    )
    expect(await run('delivery list --failing', false)).toMatch(/^[^\n]*\t\tconnection refused\n$/)
    expect(await run('delivery list --status exhausted --from 1d', false)).toContain(`${made.id}\texhausted`)
    expect(await run('delivery list --status held --quiet')).toBe('')
    const shown = await run(`delivery show ${made.id}`)
    // The problem comes first, and long fields come last.
    expect(shown).toMatch(/^status +exhausted\nattempts_made +13\n/)
    expect(shown).toMatch(/\ndestination_url +https:\/\/hooks.example.com\/jeton\n/)
    expect(shown.indexOf('answered 500')).toBeLessThan(shown.indexOf('PAYLOAD'))
    expect(shown.slice(shown.indexOf('PAYLOAD'))).toMatch(/^PAYLOAD\n\{\n {2}"id": "whs_[\s\S]*\n\}\n$/)
    expect(shown).toMatch(/AT .*RESPONSE BODY .*ERROR/)
    expect(shown).toMatch(/ 500 .*x{70,80}….* answered 500/)
    expect(shown).not.toContain('\u009b')
    expect(await run(`delivery show ${made.id}`, false)).toMatch(/^payload\t\{"id":"whs_/m)

    const dry = await typed(`delivery recover --since 2h --destination ${to} --dry-run`)
    expect([dry.code, dry.out]).toEqual([0, expect.stringMatching(/dry_run +true\nreopened +1\nheld +0/)])
    expect(dry.err).toBe(
      `1 failing delivery is not included: it is retried on schedule. To send now: jeton delivery recover --since ${iso(now - 7_200_000)} --destination ${to} --include failing --dry-run\n`,
    )
    const advised = /jeton (delivery recover .*)\n/.exec(dry.err)![1]!
    expect(await run(advised)).toMatch(/include +failing\ndry_run +true\nreopened +1/)
    expect(await run('delivery recover --since 30min --include failing')).toMatch(/reopened +1/)
    expect(await run('delivery recover --since 30min')).toMatch(/dry_run +false\nreopened +0/)
    expect(await run('delivery recover --since 2h --include exhausted,failing')).toMatch(/reopened +1/)
    expect(await run(`delivery retry ${made.id}`)).toMatch(/status +pending/)
    expect(await run(`event replay ${made.event_id}`)).toMatch(/reopened +0\nheld +0\nunchanged +1/)
    expect(await run(`webhook test ${to} --wait-ms 0`)).toMatch(
      /^status +pending\nattempts_made +0\n[\s\S]*\nattempt +–\n/,
    )
    for (const line of ['recover', 'retry', 'list'])
      expect(await run(`delivery ${line} --help`)).toContain(`jeton delivery ${line}`)
  })
})
