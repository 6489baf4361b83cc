import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCampaign } from '../../src/features/campaigns/index.ts'
import { createVault } from '../../src/platform/encryption.ts'
import { readEncryptionKeys } from '../../src/platform/encryption-key.ts'
import { randomBytes } from '../../src/platform/secrets.ts'
import { capturedLog } from '../captured-log.ts'
import { jeton } from '../command-line.ts'
import { eachEngine, type TestStore } from '../engines.ts'
import { type Answer, OPERATOR, startService } from '../service.ts'
import { TestClock } from '../test-clock.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const WIRE = 'customer.reward_redemptions.completed'
const URL = 'https://hooks.example.com/jeton'
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const SECRET = /^whsec_[0-9A-Za-z]{44}$/
const KEY = Buffer.alloc(32, 9).toString('base64')
const HEADER_VALUE = 'Bearer a-value-that-must-not-appear'

const WEBHOOK_FIELDS = [
  'active',
  'created_at',
  'description',
  'disabled_reason',
  'events',
  'health',
  'id',
  'name',
  'object',
  'previous_secret_until',
  'secret_last4',
  'target_url',
  'updated_at',
]
const DISTRIBUTION_FIELDS = [...WEBHOOK_FIELDS, 'campaign_id', 'event_name', 'headers'].sort()

type Kind = 'webhook' | 'distribution'
const KINDS: Kind[] = ['webhook', 'distribution']

eachEngine((engine) => {
  let service: TimedService
  let project: { id: string; name: string }
  let campaignId: string
  let otherCampaignId: string
  const { log, text: logged } = capturedLog({ level: 'trace' })
  const secrets: string[] = []

  beforeAll(async () => {
    service = await startTimedService(engine, { log, env: { JETON_ENCRYPTION_KEY: KEY } })
    project = await service.project('Club')
    campaignId = await newCampaign('Loyalty', 'LOYALTY_PROGRAM')
    otherCampaignId = await newCampaign('Coupons', 'DISCOUNT_COUPONS')
  })
  afterAll(() => service.stop())

  async function newCampaign(
    name: string,
    campaign_type: 'LOYALTY_PROGRAM' | 'DISCOUNT_COUPONS',
    projectId = project.id,
  ) {
    const voucher =
      campaign_type === 'LOYALTY_PROGRAM'
        ? { type: 'LOYALTY_CARD' as const, loyalty_card: { points: 0 } }
        : { type: 'DISCOUNT_VOUCHER' as const, discount: { type: 'AMOUNT', amount_off: 100 } }
    const fields = { name, campaign_type, voucher }
    const row = await service.service.db.transaction((tx) =>
      createCampaign({ random: randomBytes }, tx, { projectId, fields }),
    )
    return row.id
  }

  const pathOf = (kind: Kind, rest = '') => `/projects/${project.id}/${kind}s${rest}`
  const valid = (kind: Kind, more: object = {}) => ({
    target_url: URL,
    ...(kind === 'webhook' ? { events: [WIRE] } : { name: 'Tell the CRM', campaign_id: campaignId }),
    ...more,
  })
  async function create(kind: Kind, more: object = {}) {
    const answer = await service.manage('POST', pathOf(kind), valid(kind, more))
    expect(answer.status, answer.text).toBe(201)
    secrets.push(answer.body.secret)
    return answer.body
  }
  const change = async (kind: Kind, id: string, body: object) => {
    await service.advance(1)
    return service.manage('PUT', pathOf(kind, `/${id}`), body)
  }
  const read = async (kind: Kind, id: string) => (await service.manage('GET', pathOf(kind, `/${id}`))).body
  const verb = async (kind: Kind, id: string, name: string, body?: object) => {
    // Entries of the audit log of one moment have no order.
    await service.advance(1)
    return service.manage('POST', pathOf(kind, `/${id}/${name}`), body)
  }
  const audit = async (subject: string): Promise<{ action: string }[]> =>
    (await service.manage('GET', `/projects/${project.id}/audit-log?subject=${subject}&limit=100`)).body.data
  const rowOf = async (id: string) =>
    (await everythingIn(service.service.db))
      .destinations!.map((row) => JSON.parse(row))
      .find((row) => row.id === id)
  const vault = createVault(Buffer.from(KEY, 'base64'), randomBytes)
  const opened = (row: { project_id: string; id: string }, sealed: string) =>
    vault.open(sealed, `destinations/${row.project_id}/${row.id}/secret`)

  describe.each(KINDS)('a %s', (kind) => {
    test('a destination is created with the documented fields, and its secret is shown once', async () => {
      const created = await service.manage('POST', pathOf(kind), valid(kind, { description: 'to the CRM' }))
      expect(created.status).toBe(201)
      const { secret, ...shown } = created.body
      secrets.push(secret)
      expect(Object.keys(shown).sort()).toEqual(kind === 'webhook' ? WEBHOOK_FIELDS : DISTRIBUTION_FIELDS)
      expect(secret).toMatch(SECRET)
      expect(shown).toMatchObject({
        id: expect.stringMatching(kind === 'webhook' ? /^wh_\w{16}$/ : /^distr_\w{16}$/),
        object: kind,
        target_url: URL,
        events: [KIND],
        active: true,
        description: 'to the CRM',
        secret_last4: secret.slice(-4),
        previous_secret_until: null,
        disabled_reason: null,
        created_at: expect.stringMatching(ISO),
        updated_at: shown.created_at,
      })
      if (kind === 'distribution')
        expect(shown).toMatchObject({
          name: 'Tell the CRM',
          campaign_id: campaignId,
          event_name: null,
          headers: {},
        })
      expect(await read(kind, shown.id)).toEqual(shown)
      const [listed] = (await service.manage('GET', pathOf(kind))).body.data
      expect(listed).toEqual(shown)
    })

    test('a destination takes event kinds in both forms, and shows each kind once', async () => {
      expect((await create(kind, { events: [WIRE, KIND, WIRE] })).events).toEqual([KIND])
    })

    test('a destination can be created disabled', async () => {
      expect(await create(kind, { active: false })).toMatchObject({
        active: false,
        disabled_reason: 'disabled by an operator',
      })
    })

    test('a change of a destination keeps the fields that are not sent, including the secret', async () => {
      const { secret, ...before } = await create(kind, { description: 'old' })
      await service.advance(1000)
      const { status, body } = await change(kind, before.id, { target_url: 'https://other.example.com/' })
      expect(status).toBe(200)
      expect(body).toEqual({
        ...before,
        target_url: 'https://other.example.com/',
        updated_at: new Date(service.clock.now()).toISOString(),
      })
      expect((await change(kind, before.id, { description: null })).body).toMatchObject({
        description: null,
        target_url: 'https://other.example.com/',
      })
      const row = await rowOf(before.id)
      expect(opened(row, row.secret)).toBe(secret)
    })

    test('a change of a destination to its current values changes nothing, without an audit entry', async () => {
      const { secret: _, ...before } = await create(kind)
      await service.advance(1000)
      expect((await change(kind, before.id, { target_url: URL, active: true, events: [WIRE] })).body).toEqual(
        before,
      )
      expect((await verb(kind, before.id, 'enable')).body).toEqual(before)
      expect(await audit(before.id)).toHaveLength(1)
    })

    test('a destination is disabled and enabled by its actions and by a change', async () => {
      const { id } = await create(kind)
      const off = { active: false, disabled_reason: 'disabled by an operator' }
      const on = { active: true, disabled_reason: null }
      expect((await verb(kind, id, 'disable')).body).toMatchObject(off)
      expect((await verb(kind, id, 'disable')).body).toMatchObject(off)
      expect((await verb(kind, id, 'enable')).body).toMatchObject(on)
      expect((await change(kind, id, { active: false })).body).toMatchObject(off)
      expect((await change(kind, id, { active: true })).body).toMatchObject(on)
      expect((await audit(id)).map(({ action }) => action).reverse()).toEqual([
        `${kind}.created`,
        `${kind}.disabled`,
        `${kind}.enabled`,
        `${kind}.updated`,
        `${kind}.updated`,
      ])
    })

    test('a rotated secret is shown once, and the old one stays encrypted until the overlap ends', async () => {
      const { secret: first, ...before } = await create(kind)
      const rotated = await verb(kind, before.id, 'rotate-secret', { overlap_seconds: 60 })
      expect(rotated.status).toBe(200)
      const { secret: second } = rotated.body
      secrets.push(second)
      expect(second).toMatch(SECRET)
      expect(second).not.toBe(first)
      expect(rotated.body.secret_last4).toBe(second.slice(-4))
      expect(Object.keys(await read(kind, before.id))).not.toContain('secret')
      let row = await rowOf(before.id)
      expect([row.secret, row.previous_secret].map((one) => opened(row, one))).toEqual([second, first])
      expect(row.previous_until).toBe(service.clock.now() + 60_000)
      const until = new Date(service.clock.now() + 60_000).toISOString()
      expect((await read(kind, before.id)).previous_secret_until).toBe(until)

      await service.jump(61_000)
      await expect
        .poll(async () => {
          await service.advance(10_000)
          row = await rowOf(before.id)
          return [row.previous_secret, row.previous_until]
        })
        .toEqual([null, null])
      expect(opened(row, row.secret)).toBe(second)
    })

    test('a rotation keeps the old secret for a day by default, and not at all for 0 seconds', async () => {
      const { id } = await create(kind)
      secrets.push((await verb(kind, id, 'rotate-secret')).body.secret)
      expect((await rowOf(id)).previous_until).toBe(service.clock.now() + 86_400_000)
      secrets.push((await verb(kind, id, 'rotate-secret', { overlap_seconds: 0 })).body.secret)
      expect(await rowOf(id)).toMatchObject({ previous_secret: null, previous_until: null })
    })

    test('a deleted destination is gone for every action, and its secrets are gone from the store', async () => {
      const { id } = await create(kind)
      secrets.push((await verb(kind, id, 'rotate-secret')).body.secret)
      await service.advance(1)
      expect((await service.manage('DELETE', pathOf(kind, `/${id}`))).status).toBe(204)
      const answers: Answer[] = [
        await service.manage('GET', pathOf(kind, `/${id}`)),
        await service.manage('DELETE', pathOf(kind, `/${id}`)),
        await change(kind, id, { target_url: URL }),
        await verb(kind, id, 'enable'),
        await verb(kind, id, 'disable'),
        await verb(kind, id, 'rotate-secret'),
      ]
      for (const { status, body } of answers)
        expect([status, body.key, body.resource_type, body.resource_id]).toEqual([404, 'not_found', kind, id])
      expect(await rowOf(id)).toMatchObject({ secret: '', headers: '{}', previous_secret: null })
      const [last] = await audit(id)
      expect(last).toMatchObject({ action: `${kind}.deleted`, after: null, before: { id } })
    })

    test('a destination is not found under the other kind, in another project, or without a project', async () => {
      const { id } = await create(kind)
      const other = await service.project(`Other of ${kind}`)
      const otherKind = kind === 'webhook' ? 'distribution' : 'webhook'
      for (const path of [
        pathOf(otherKind, `/${id}`),
        `/projects/${other.id}/${kind}s/${id}`,
        `/projects/proj_none/${kind}s/${id}`,
      ])
        expect((await service.manage('GET', path)).status, path).toBe(404)
      expect((await service.manage('POST', `/projects/proj_none/${kind}s`, valid(kind))).status).toBe(404)
      expect((await service.manage('GET', `/projects/${other.id}/${kind}s`)).body.total).toBe(0)
    })

    test('destinations are listed newest first, by page and by state', async () => {
      const mine = await service.project(`Lists of ${kind}`)
      const path = `/projects/${mine.id}/${kind}s`
      const ownCampaign = await newCampaign('Own', 'LOYALTY_PROGRAM', mine.id)
      const body = valid(kind, kind === 'webhook' ? {} : { campaign_id: ownCampaign })
      for (let i = 0; i < 3; i++) {
        secrets.push(
          (await service.manage('POST', path, { ...body, active: i !== 1, description: `${i}` })).body.secret,
        )
        await service.advance(1000)
      }
      const of = ({ body }: Answer) => body.data.map((one: { description: string }) => one.description)
      expect(of(await service.manage('GET', path))).toEqual(['2', '1', '0'])
      expect(of(await service.manage('GET', `${path}?limit=2&page=2`))).toEqual(['0'])
      expect(of(await service.manage('GET', `${path}?active=true`))).toEqual(['2', '0'])
      expect(of(await service.manage('GET', `${path}?active=false`))).toEqual(['1'])
    })

    const badFields: [string, object, string | RegExp][] = [
      ['an unknown field', { secret: 'whsec_mine' }, '"secret" is not a field here'],
      ['no address', { target_url: undefined }, 'target_url is missing'],
      ['a number as address', { target_url: 7 }, 'target_url must be text'],
      ['a long address', { target_url: `${URL}${'x'.repeat(2000)}` }, 'target_url must be a web address'],
      ['plain http', { target_url: 'http://hooks.example.com' }, 'plain http'],
      ['this machine', { target_url: 'http://localhost:3000' }, 'http://localhost:3000 is on this machine'],
      ['a private address', { target_url: 'https://10.0.0.4' }, 'a private address'],
      ['a user name', { target_url: 'https://u:p@hooks.example.com' }, 'user name'],
      ['no kinds', { events: [] }, 'events must have at least 1'],
      ['an unknown kind', { events: ['customer.created'] }, 'must be one of: EVENTS.CUSTOMER.'],
      ['a kind that is none', { events: [7] }, /events.*must be text/],
      ['active in words', { active: 'yes' }, 'active must be true or false'],
      ['a long description', { description: 'x'.repeat(501) }, 'description must have at most 500'],
    ]
    test.each(badFields)(
      'a destination with %s is refused, at creation and by change',
      async (name, bad, says) => {
        const { id } = await create(kind)
        const before = (await everythingIn(service.service.db)).destinations
        const answers = [await service.manage('POST', pathOf(kind), valid(kind, bad))]
        if (name !== 'no address') answers.push(await change(kind, id, bad))
        for (const { status, body } of answers) {
          expect([400, body.message]).toEqual([status, expect.stringMatching(says)])
          expect(body.details).toBeTruthy()
        }
        expect((await everythingIn(service.service.db)).destinations).toEqual(before)
      },
    )

    test.each([
      [{ overlap_seconds: -1 }, 'overlap_seconds must be at least 0'],
      [{ overlap_seconds: 604_801 }, 'overlap_seconds must be at most 604800'],
      [{ overlap_seconds: 1.5 }, 'overlap_seconds must be a whole number'],
      [{ grace_seconds: 1 }, 'is not a field here'],
    ])('a rotation with %j is refused', async (body, says) => {
      const { id, secret_last4 } = await create(kind)
      const answer = await verb(kind, id, 'rotate-secret', body)
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(says)])
      expect((await read(kind, id)).secret_last4).toBe(secret_last4)
    })

    test('an empty change of a destination is no change, and its actions take no fields', async () => {
      const { id } = await create(kind)
      expect((await change(kind, id, {})).status).toBe(400)
      expect((await verb(kind, id, 'disable', { reason: 'x' })).status).toBe(400)
    })
  })

  test('the refusal of a local address names JETON_WEBHOOK_ALLOW', async () => {
    const { body } = await service.manage('POST', pathOf('webhook'), {
      target_url: 'http://127.0.0.1:3000/hook',
      events: [KIND],
    })
    expect(body.details).toContain('JETON_WEBHOOK_ALLOW=127.0.0.0/8')
  })

  describe('a distribution', () => {
    test('a distribution belongs to a loyalty campaign of the project, by id or name', async () => {
      expect((await create('distribution', { campaign_id: 'Loyalty' })).campaign_id).toBe(campaignId)
      const wrong: [string, number, string][] = [
        ['camp_none', 404, 'Not found: campaign "camp_none"'],
        [otherCampaignId, 400, 'must name a loyalty campaign'],
      ]
      const { id } = await create('distribution')
      for (const [campaign_id, status, says] of wrong)
        for (const answer of [
          await service.manage('POST', pathOf('distribution'), valid('distribution', { campaign_id })),
          await change('distribution', id, { campaign_id }),
        ])
          expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(says)])
      expect((await read('distribution', id)).campaign_id).toBe(campaignId)
    })

    test('a distribution is found by its campaign', async () => {
      const found = await service.manage('GET', pathOf('distribution', `?campaign=${campaignId}`))
      expect(found.body.total).toBeGreaterThan(0)
      expect((await service.manage('GET', pathOf('distribution', '?campaign=camp_none'))).body.total).toBe(0)
      expect((await service.manage('GET', pathOf('webhook', '?campaign=x'))).status).toBe(400)
    })

    test('a distribution masks its header values, and keeps values that are sent back masked', async () => {
      const headers = { authorization: HEADER_VALUE, 'x-tenant': 'seven' }
      const { id, headers: shown } = await create('distribution', { headers, event_name: 'reward.redeemed' })
      expect(shown).toEqual({ authorization: '•••', 'x-tenant': '•••' })
      const sealedBefore = JSON.parse((await rowOf(id)).headers)
      const changed = await change('distribution', id, { headers: { ...shown, 'x-more': 'more' } })
      expect(changed.body).toMatchObject({
        event_name: 'reward.redeemed',
        headers: { authorization: '•••', 'x-tenant': '•••', 'x-more': '•••' },
      })
      const sealed = JSON.parse((await rowOf(id)).headers)
      expect(sealed.authorization).toBe(sealedBefore.authorization)
      const place = `destinations/${project.id}/${id}/headers/authorization`
      expect(vault.open(sealed.authorization, place)).toBe(HEADER_VALUE)
      expect((await change('distribution', id, { headers: {} })).body.headers).toEqual({})
      expect((await change('distribution', id, { event_name: null })).body.event_name).toBeNull()
    })

    test.each([
      ['no name', { name: undefined }, 'name is missing'],
      ['a blank name', { name: ' ' }, 'name must be'],
      ['no campaign', { campaign_id: undefined }, 'campaign_id is missing'],
      ['the name of test events', { event_name: 'webhook.test' }, 'not webhook.test'],
      ['a blank event name', { event_name: ' ' }, 'event_name must be'],
      ['headers in a list', { headers: ['x'] }, 'headers must be an object'],
      ['a header of ours', { headers: { 'webhook-id': 'x' } }, '"webhook-id" is not allowed'],
      ['a header of traces', { headers: { traceparent: 'x' } }, '"traceparent" is not allowed'],
      ['a header of HTTP', { headers: { host: 'x' } }, '"host" is not allowed'],
      ['a header in capitals', { headers: { 'X-Tenant': 'x' } }, 'lower-case'],
      ['a header that is a number', { headers: { 'x-tenant': 7 } }, 'headers.x-tenant must be text'],
      ['an empty header', { headers: { 'x-tenant': '' } }, 'headers.x-tenant must be 1 to 2000'],
      [
        'a smuggled line',
        { headers: { 'x-tenant': `a\r\nhost: ${HEADER_VALUE}` } },
        'headers.x-tenant must be',
      ],
      [
        'too many headers',
        { headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, 'x'])) },
        'headers must have at most 20',
      ],
      ['a mask for nothing', { headers: { 'x-new': '•••' } }, 'no value is stored'],
    ])('a distribution with %s is refused, and no value is repeated', async (_, bad, says) => {
      const { status, body, text } = await service.manage(
        'POST',
        pathOf('distribution'),
        valid('distribution', bad),
      )
      expect([status, body.message]).toEqual([400, expect.stringContaining(says)])
      expect(text).not.toContain(HEADER_VALUE)
    })

    test('fields of a distribution are refused on a webhook', async () => {
      for (const field of ['campaign_id', 'event_name', 'headers'])
        expect(
          (await service.manage('POST', pathOf('webhook'), valid('webhook', { [field]: 'x' }))).status,
        ).toBe(400)
    })
  })

  test('the command line has every action of destinations, and shows a secret once', async () => {
    const { managementUrl } = service
    const env = {
      JETON_URL: managementUrl,
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
      JETON_PROJECT: project.id,
      XDG_CONFIG_HOME: '/nowhere',
    }
    const run = async (...argv: string[]) => {
      const { code, out, err } = await jeton(argv, { env })
      expect(code, err).toBe(0)
      return out
    }
    const shared = ['--target-url', URL, '--json']
    for (const [kind, own] of [
      ['webhook', ['--events', WIRE]],
      [
        'distribution',
        ['--name', 'By hand', '--campaign-id', 'Loyalty', '--headers', '{"x-tenant":"seven"}'],
      ],
    ] as const) {
      const { id, secret } = JSON.parse(await run(kind, 'create', ...own, ...shared))
      secrets.push(secret)
      expect(secret).toMatch(SECRET)
      expect(await run(kind, 'list')).toContain(id)
      expect(await run(kind, 'show', id)).not.toContain(secret)
      expect(await run(kind, 'update', id, '--description', 'changed')).toContain('changed')
      await run(kind, 'disable', id)
      await run(kind, 'enable', id)
      const rotated = JSON.parse(await run(kind, 'rotate', id, '--overlap-seconds', '60', '--json'))
      secrets.push(rotated.secret)
      expect(rotated.secret).not.toBe(secret)
      await run(kind, 'delete', id, '--yes')
      expect(await run(kind, 'list', '--all', '--quiet')).not.toContain(id)
    }
    expect(await run('event', 'list')).toBe('')
  })

  test('no webhook secret is in a list, a read, the audit log, the log or the store', async () => {
    expect(secrets.length).toBeGreaterThan(50)
    const answers = await Promise.all([
      ...KINDS.map((kind) => service.manage('GET', pathOf(kind, '?limit=100'))),
      service.manage('GET', `/projects/${project.id}/audit-log?limit=100`),
      service.manage('GET', '/audit-log?limit=100'),
    ])
    const everywhere = [
      ...answers.map(({ text }) => text),
      logged(),
      JSON.stringify(await everythingIn(service.service.db)),
    ].join('\n')
    expect(everywhere).toContain('secret_rotated')
    expect(logged()).toContain('/rotate-secret')
    for (const secret of [...secrets, HEADER_VALUE, KEY]) expect(everywhere).not.toContain(secret)
    expect(everywhere).not.toMatch(/whsec_[0-9A-Za-z]{8}/)
  })

  test('deleting a project deletes its webhook secrets at once, and the rest with the janitor', async () => {
    const mine = await service.project('Short-lived')
    const body = { target_url: URL, events: [KIND] }
    secrets.push((await service.manage('POST', `/projects/${mine.id}/webhooks`, body)).body.secret)
    await service.manage('DELETE', `/projects/${mine.id}`, { name: 'Short-lived' })
    const rows = async () =>
      (await everythingIn(service.service.db))
        .destinations!.map((row) => JSON.parse(row))
        .filter((row) => row.project_id === mine.id)
    expect(await rows()).toMatchObject([{ secret: '', deleted_at: service.clock.now() }])
    await service.jump(16 * 60_000)
    await expect
      .poll(async () => {
        await service.advance(10_000)
        return rows()
      })
      .toEqual([])
  })

  test('only addresses in JETON_WEBHOOK_ALLOW can be set besides public ones', async () => {
    const env = {
      ...(await engine.settings()),
      JETON_ENCRYPTION_KEY: KEY,
      JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
    }
    const open = await startService(env, { clock: new TestClock() })
    const { id } = await open.project('Open')
    const at = async (target_url: string) =>
      (await open.manage('POST', `/projects/${id}/webhooks`, { target_url, events: [KIND] })).status
    expect(await at('http://127.0.0.1:3000/hook')).toBe(201)
    expect(await at('http://localhost:3000/hook')).toBe(201)
    expect(await at('http://10.0.0.4/hook')).toBe(400)
    expect(await at('https://[::1]/hook')).toBe(400)
    await open.stop()
  })

  describe('the encryption key', () => {
    const target = { target_url: URL, events: [KIND] }
    async function started(store: TestStore, env: Record<string, string> = {}) {
      const running = await startService({ ...store.env, ...env }, { clock: new TestClock() })
      const { body } = await running.manage('GET', '/projects?name=Keys')
      const { id } = body.data[0] ?? (await running.project('Keys'))
      const path = `/projects/${id}/webhooks`
      return { ...running, path, create: () => running.manage('POST', path, target) }
    }

    test('with a replaced encryption key, reading and disabling work, and rotating stores a secret under the new key', async () => {
      const store = await engine.freshStore()
      const first = await started(store, { JETON_ENCRYPTION_KEY: KEY })
      const { id } = (await first.create()).body
      await first.stop()

      const other = Buffer.alloc(32, 3).toString('base64')
      const second = await started(store, { JETON_ENCRYPTION_KEY: other })
      expect((await second.manage('GET', `${second.path}/${id}`)).status).toBe(200)
      expect((await second.manage('POST', `${second.path}/${id}/disable`)).status).toBe(200)
      expect((await second.manage('POST', `${second.path}/${id}/rotate-secret`)).status).toBe(200)
      await second.stop()
    })

    if (engine.name === 'SQLite')
      test('the encryption key of an embedded store is a file for its owner only, and the only way to read the secrets', async () => {
        const store = await engine.freshStore()
        const folder = store.env.JETON_DATA_DIR!
        const running = await started(store)
        const { secret, id } = (await running.create()).body
        await running.stop()
        const file = join(folder, 'encryption.key')
        expect(statSync(file).mode & 0o777).toBe(0o600)
        const bytes = readdirSync(folder)
          .filter((name) => name !== 'encryption.key')
          .map((name) => readFileSync(join(folder, name)).toString('latin1'))
          .join()
        expect(bytes).toContain(id)
        for (const plain of ['whsec_', secret.slice(6), readFileSync(file, 'utf8').trim()])
          expect(bytes).not.toContain(plain)
        const [key] = readEncryptionKeys({ setting: undefined, folder })
        const db = await store.open()
        const row = JSON.parse((await everythingIn(db)).destinations![0]!)
        expect(
          createVault(key, randomBytes).open(row.secret, `destinations/${row.project_id}/${id}/secret`),
        ).toBe(secret)
      })
    else
      test('PostgreSQL requires an encryption key before a webhook can be created, and nothing else requires it', async () => {
        const running = await started(await engine.freshStore())
        const before = await everythingIn(running.service.db)
        const { status, body } = await running.create()
        expect([status, body.key]).toEqual([503, 'encryption_unavailable'])
        expect(body.message).toContain('JETON_ENCRYPTION_KEY is not set')
        expect(body.details).toContain('openssl rand -base64 32')
        expect(await everythingIn(running.service.db)).toEqual(before)
        expect((await running.manage('GET', running.path)).body.total).toBe(0)
        await running.stop()
      })
  })
})
