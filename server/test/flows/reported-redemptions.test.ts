import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { capturedLog } from '../captured-log.ts'
import { eachEngine } from '../engines.ts'
import { changed, type RedemptionData, redemptionData } from '../reported-redemption.ts'
import { type Answer, type Pair, send } from '../service.ts'
import { connectSql } from '../sql.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

const PATH = '/v1/redemptions/rewards'

eachEngine((engine) => {
  let service: TimedService
  let project: { id: string }
  let pair: Pair
  const { log, text: logged } = capturedLog({ level: 'debug' })
  beforeAll(async () => {
    service = await startTimedService(engine, { log, worker: false })
    project = await service.project('Club')
    pair = await service.key(project.id, { name: 'pos', permissions: ['redemptions'] })
  })
  afterAll(() => service.stop())

  const headersOf = ({ appId, appToken }: Pair) => ({ 'x-app-id': appId, 'x-app-token': appToken })
  const report = (body: unknown, headers: Record<string, string> = headersOf(pair)): Promise<Answer> =>
    send(service.url + PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const eventsOf = async (projectId = project.id): Promise<{ id: string; entity_id: string }[]> =>
    (await service.manage('GET', `/projects/${projectId}/events?limit=100`)).body.data
  const eventOf = async (id: string, projectId = project.id) =>
    (await service.manage('GET', `/projects/${projectId}/events/${id}`)).body

  describe('a redemption that was completed elsewhere', () => {
    test('a reported redemption becomes one event with exactly the reported fields and its reporter', async () => {
      const data = redemptionData('cust_first', 'camp_first')
      const answer = await report({ source_id: 'first', completed_at: '2026-01-15T12:30:00+01:00', data })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.body).toEqual({ event_id: expect.stringMatching(/^evcus_\w{19}$/), duplicate: false })
      const event = await eventOf(answer.body.event_id)
      expect(event).toEqual({
        id: answer.body.event_id,
        object: 'event',
        kind: 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED',
        type: 'customer.reward_redemptions.completed',
        version: '2024-01-01',
        entity_id: 'cust_first',
        campaign_id: 'camp_first',
        group_id: answer.headers.get('x-request-id'),
        event_source: { channel: 'API', api_key: { name: 'pos', app_id: pair.appId } },
        occurred_at: '2026-01-15T11:30:00.000Z',
        created_at: new Date(service.clock.now()).toISOString(),
        waiting: true,
        delivery_counts: { pending: 0, failing: 0, delivered: 0, held: 0, exhausted: 0, cancelled: 0 },
        data,
      })
      expect(Object.keys(event.data)).toEqual(Object.keys(data))
    })

    test('a report requires neither time nor campaign, and may name another campaign than its data', async () => {
      const plain = await eventOf(
        (await report({ source_id: 'plain', data: redemptionData() })).body.event_id,
      )
      expect(plain).toMatchObject({ occurred_at: plain.created_at, campaign_id: 'camp_3' })
      const nulls = { completed_at: null, campaign_id: null, data: { ...redemptionData(), campaign: null } }
      const { body } = await report({ source_id: 'nulls', ...nulls })
      expect(await eventOf(body.event_id)).toMatchObject({ campaign_id: null })
      const named = await report({ source_id: 'named', campaign_id: 'camp_9', data: redemptionData() })
      expect(await eventOf(named.body.event_id)).toMatchObject({ campaign_id: 'camp_9' })
    })

    test('unknown fields of a report are ignored, and the others are stored in the documented order', async () => {
      const { customer, ...rest } = redemptionData()
      const body = { source_id: 'more', unknown: 1, data: { unknown: 2, ...rest, customer } }
      const { data } = await eventOf((await report(body)).body.event_id)
      expect(Object.keys(data)).toEqual(Object.keys(redemptionData()))
    })

    test('a token with the scope may report a redemption', async () => {
      const token = (await service.issue(pair, 'redemptions')).body.access_token
      const body = { source_id: 'by token', data: redemptionData() }
      expect((await report(body, { authorization: `Bearer ${token}` })).status).toBe(200)
    })
  })

  describe('the same report again', () => {
    test('a repeated report returns the first event and writes no second one', async () => {
      const body = {
        source_id: 'twice',
        completed_at: '2026-01-15T11:30:00Z',
        data: redemptionData('cust_twice'),
      }
      const first = await report(body)
      const again = await report(body)
      expect(again.status).toBe(200)
      expect(again.body).toEqual({ event_id: first.body.event_id, duplicate: true })
      expect((await eventsOf()).filter((one) => one.entity_id === 'cust_twice')).toHaveLength(1)
    })

    test('a report with another key order or time format is the same report', async () => {
      const data = redemptionData('cust_order')
      const first = await report({ source_id: 'order', completed_at: '2026-01-15T11:30:00Z', data })
      const turned = Object.fromEntries(Object.entries(data).reverse())
      const body = {
        data: turned,
        completed_at: '2026-01-15T12:30:00.000+01:00',
        source_id: 'order',
        extra: 1,
      }
      expect((await report(body)).body).toEqual({ event_id: first.body.event_id, duplicate: true })
    })

    test('a report by another key of the project is the same report', async () => {
      const body = { source_id: 'shared', data: redemptionData('cust_shared') }
      const first = await report(body)
      const other = await service.key(project.id, { name: 'other' })
      expect((await report(body, headersOf(other))).body).toEqual({
        event_id: first.body.event_id,
        duplicate: true,
      })
    })

    test('50 concurrent equal reports write one event, and all return it', async () => {
      const body = { source_id: 'crowd', data: redemptionData('cust_crowd') }
      const answers = await Promise.all(Array.from({ length: 50 }, () => report(body)))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(new Set(answers.map((one) => one.body.event_id)).size).toBe(1)
      expect(answers.filter((one) => !one.body.duplicate)).toHaveLength(1)
      expect((await eventsOf()).filter((one) => one.entity_id === 'cust_crowd')).toHaveLength(1)
    })

    test('an equal report in another project is another redemption', async () => {
      const elsewhere = await service.project('Elsewhere')
      const other = await service.key(elsewhere.id)
      const body = { source_id: 'first', data: redemptionData('cust_elsewhere') }
      expect((await report(body, headersOf(other))).body).toMatchObject({ duplicate: false })
      expect(await eventsOf(elsewhere.id)).toHaveLength(1)
    })
  })

  describe('another report under the same source_id', () => {
    const changes: [string, (data: RedemptionData) => object][] = [
      ['data', (data) => ({ data: { ...data, balance: { amount: 1 } } })],
      ['time', (data) => ({ data, completed_at: '2026-01-15T11:30:00Z' })],
      ['campaign', (data) => ({ data, campaign_id: 'camp_other' })],
    ]
    test.each(changes)(
      'a report with the same source_id and another %s gets 409 and writes nothing',
      async (name, change) => {
        const data = redemptionData(`cust_other_${name}`)
        const first = await report({ source_id: `other ${name}`, data })
        const refused = await report({ source_id: `other ${name}`, ...change(data) })
        expect(refused.status).toBe(409)
        expect(refused.body).toMatchObject({
          key: 'source_id_reused',
          resource_type: 'event',
          resource_id: first.body.event_id,
        })
        expect((await eventsOf()).filter((one) => one.entity_id === `cust_other_${name}`)).toHaveLength(1)
        expect((await eventOf(first.body.event_id)).data).toEqual(data)
      },
    )

    test('of two bodies under one source_id in 50 concurrent reports, one wins for all', async () => {
      const bodies = [1, 2].map((amount) => ({
        source_id: 'rivals',
        data: { ...redemptionData('cust_rivals'), balance: { amount } },
      }))
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => report(bodies[i % 2])))
      const taken = answers.filter(({ status }) => status === 200)
      expect(taken).toHaveLength(25)
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(25)
      expect(new Set(taken.map((one) => one.body.event_id)).size).toBe(1)
      expect((await eventsOf()).filter((one) => one.entity_id === 'cust_rivals')).toHaveLength(1)
    })
  })

  describe('a report that is not right says which field, in words, and writes nothing', () => {
    const body = (path: string, value: unknown) => ({ source_id: 'wrong', data: changed(path, value) })
    const cases: [string, unknown, string | RegExp][] = [
      ['no body', '', 'source_id is missing'],
      ['no JSON', '{', 'not valid JSON'],
      ['a list', [], 'must be an object'],
      ['no source_id', { data: redemptionData() }, 'source_id is missing'],
      ['an empty source_id', { source_id: '', data: redemptionData() }, 'source_id must be 1 to 255'],
      [
        'a long source_id',
        { source_id: 'x'.repeat(256), data: redemptionData() },
        'source_id must be 1 to 255',
      ],
      ['a number as source_id', { source_id: 7, data: redemptionData() }, 'source_id must be text'],
      ['no data', { source_id: 'wrong' }, 'data is missing'],
      ['data that is text', { source_id: 'wrong', data: 'x' }, 'data must be an object'],
      [
        'a time in words',
        { source_id: 'wrong', completed_at: 'today', data: redemptionData() },
        'completed_at must be a time such as',
      ],
      [
        'a time that is none',
        { source_id: 'wrong', completed_at: '2026-02-31T25:00:00Z', data: redemptionData() },
        'completed_at must be a time such as',
      ],
      [
        'an empty campaign',
        { source_id: 'wrong', campaign_id: '', data: redemptionData() },
        'campaign_id must',
      ],
      ['no customer', body('customer', undefined), 'data.customer is missing'],
      ['customer null', body('customer', null), 'data.customer must be an object'],
      ['no holder', body('holder', undefined), 'data.holder is missing'],
      ['no customer id', body('customer.id', undefined), 'data.customer.id is missing'],
      ['empty customer id', body('customer.id', ''), 'data.customer.id must not be empty'],
      [
        'a balance in words',
        body('voucher.loyalty_card.balance', 'many'),
        'data.voucher.loyalty_card.balance must be a whole number',
      ],
      [
        'a state that is not complete',
        body('reward_redemption.state', 'PENDING'),
        'data.reward_redemption.state must be "COMPLETED"',
      ],
      [
        'another type of reward',
        body('reward.type', 'GIFT'),
        'data.reward.type must be one of: CAMPAIGN, COIN, MATERIAL',
      ],
      [
        'a time without milliseconds',
        body('reward.created_at', '2026-01-15T12:00:00Z'),
        'data.reward.created_at must be a time in UTC with milliseconds',
      ],
      ['a publication', body('publication', {}), 'data.publication must not be sent'],
      ['a null character', `{"source_id":"a\\u0000b","data":{}}`, 'null character'],
    ]
    test.each(cases)('%s', async (_, sent, says) => {
      const before = await everythingIn(service.service.db)
      const { status, body: error } = await report(sent as object)
      expect(status).toBe(400)
      expect(['invalid_payload', 'missing_parameters']).toContain(error.key)
      expect(error.message).toMatch(says)
      expect((await everythingIn(service.service.db)).events).toEqual(before.events)
      expect((await everythingIn(service.service.db)).reported_redemptions).toEqual(
        before.reported_redemptions,
      )
    })
  })

  describe('who may report', () => {
    test('only a key or token with the scope redemptions or api can report', async () => {
      const body = { source_id: 'who', data: redemptionData('cust_who') }
      const rewards = await service.key(project.id, { permissions: ['rewards', 'loyalties', 'events'] })
      expect(await report(body, {})).toMatchObject({ status: 401, body: { key: 'unauthorized' } })
      expect(await report(body, headersOf(rewards))).toMatchObject({
        status: 403,
        body: { key: 'insufficient_scope' },
      })
      const client = await service.key(project.id, { permissions: ['client_api'] })
      expect((await report(body, headersOf(client))).status).toBe(403)
      const all = await service.key(project.id, { permissions: ['api'] })
      expect((await report(body, headersOf(all))).status).toBe(200)
    })
  })

  describe('the guide', () => {
    const guide = readFileSync(new URL('../../../docs/guides/report-redemptions.md', import.meta.url), 'utf8')
    const blocks = (language: string): string[] =>
      [...guide.matchAll(new RegExp(`\\n\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map((match) => match[1]!)

    test('the report in the guide is accepted as written', async () => {
      const [example] = blocks('json')
      const first = await report(example!)
      expect(first.status, first.text).toBe(200)
      expect((await report(example!)).body).toEqual({ ...first.body, duplicate: true })
    })

    if (engine.name === 'PostgreSQL')
      test('the outbox of the guide reports each redemption once, also if its job dies before the commit', async () => {
        const [[createOutbox], [, takePoints, intoOutbox], [, unsent, markSent]] = blocks('sql').map(
          (block) =>
            block
              .replace(/--.*/g, '')
              .split(';')
              .map((one) => one.trim())
              .filter(Boolean),
        ) as [string[], string[], string[]]
        const body = { ...JSON.parse(blocks('json')[0]!), source_id: 'from the outbox' }
        // A database of the platform's own.
        const sql = connectSql((await engine.settings()).JETON_DATABASE_URL!)
        await sql.run(createOutbox!)
        await sql.run(`create table cards (id text, balance int); insert into cards values ('card', 500)`)
        await sql.transaction(async (run) => {
          await run(takePoints!, ['card', 100])
          await run(intoOutbox!.replace('$3', '$1'), [body])
        })
        const job = (dies: boolean) =>
          sql
            .transaction(async (run) => {
              const { rows } = await run(unsent!)
              const answers = await Promise.all(rows.map((row) => report(row.body)))
              await run(markSent!, [rows.map((row) => row.id)])
              if (dies) throw new Error('died')
              return answers.map((answer) => answer.body.duplicate)
            })
            .catch((error: Error) => error.message)
        expect([await job(true), await job(false), await job(false)]).toEqual(['died', [true], []])
        expect(await sql`select balance from cards`).toEqual([{ balance: 400 }])
        await sql.end()
      })
  })

  test('reported data is in no log', () => {
    expect(logged()).toContain(PATH)
    expect(logged()).not.toContain('zoe@example.com')
  })
})
