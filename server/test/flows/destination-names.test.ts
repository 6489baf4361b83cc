import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jeton } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { openShop, type Shop } from '../loyalty.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const TARGET = {
  target_url: 'https://hooks.example.com/x',
  events: ['customer.reward_redemptions.completed'],
}
const RACERS = 8

eachEngine((engine) => {
  let service: TestService
  let shop: Shop

  beforeAll(async () => {
    const env = { ...(await engine.settings()), JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') }
    service = await startService(env, { clock: new TestClock(), worker: false })
    shop = await openShop(service)
  })
  afterAll(() => service.stop())

  const manage = (method: string, path: string, body?: unknown) =>
    service.manage(method, `/projects/${shop.projectId}${path}`, body)
  const webhook = async (more: object = {}) =>
    (await manage('POST', '/webhooks', { ...TARGET, ...more })).body
  const distribution = async (more: object = {}) =>
    (await manage('POST', '/distributions', { ...TARGET, campaign_id: shop.campaign.id, ...more })).body

  describe('the name of a webhook', () => {
    test('the name of a webhook is optional, can be changed and removed, and is free again after that', async () => {
      const unnamed = await webhook()
      expect(unnamed.name).toBeNull()
      const path = `/webhooks/${unnamed.id}`
      expect((await manage('PUT', path, { name: 'first' })).body.name).toBe('first')
      expect((await manage('PUT', path, { description: 'x' })).body.name).toBe('first')
      expect((await manage('PUT', path, { name: null })).body.name).toBeNull()
      const other = await webhook({ name: 'first' })
      expect(other.name).toBe('first')
      await manage('DELETE', `/webhooks/${other.id}`)
      expect((await webhook({ name: 'first' })).name).toBe('first')
      expect((await manage('GET', '/webhooks?name=first')).body.total).toBe(1)
    })

    test('the name of a webhook is refused with 409 if another webhook of the project has it, and nothing is changed', async () => {
      await webhook({ name: 'taken' })
      const other = await webhook()
      const refusals = [
        await manage('POST', '/webhooks', { ...TARGET, name: 'taken' }),
        await manage('PUT', `/webhooks/${other.id}`, { name: 'taken', description: 'not stored' }),
      ]
      for (const { status, body } of refusals)
        expect([status, body.key, body.message]).toEqual([
          409,
          'duplicate_found',
          'The project already has a webhook named "taken".',
        ])
      const { health, ...shown } = (await manage('GET', `/webhooks/${other.id}`)).body
      expect(shown).toMatchObject({ name: null, description: null, updated_at: other.updated_at })
    })

    test('the name of a webhook may be used in another project and by a distribution', async () => {
      await webhook({ name: 'shared' })
      const elsewhere = await openShop(service)
      const path = `/projects/${elsewhere.projectId}/webhooks`
      expect((await service.manage('POST', path, { ...TARGET, name: 'shared' })).status).toBe(201)
      expect((await distribution({ name: 'shared' })).name).toBe('shared')
    })

    test('the name of a webhook selects it on the command line, and is in the list', async () => {
      const { id } = await webhook({ name: 'by-name' })
      const env = {
        ...{ JETON_URL: service.url, JETON_MANAGEMENT_ID: OPERATOR.id, XDG_CONFIG_HOME: '/nowhere' },
        ...{ JETON_MANAGEMENT_TOKEN: OPERATOR.token, JETON_PROJECT: shop.projectId },
      }
      expect((await jeton(['webhook', 'show', 'by-name', '--json'], { env })).out).toContain(id)
      expect((await jeton(['webhook', 'list', '--all'], { env })).out).toContain(`${id}\tby-name\t`)
    })
  })

  describe('requests at once', () => {
    const codesOf = async (path: string, body: object) => {
      const all = await Promise.all(Array.from({ length: RACERS }, () => manage('POST', path, body)))
      return all.map(({ status }) => status).sort()
    }
    const ONE = [201, ...new Array(RACERS - 1).fill(409)]

    test('only one of several requests at once creates a webhook of a name', async () => {
      expect(await codesOf('/webhooks', { ...TARGET, name: 'raced' })).toEqual(ONE)
    })
    test('only one of several requests at once with unique_name creates a key of a name', async () => {
      const body = { name: 'raced', permissions: ['rewards'] }
      expect(await codesOf('/api-keys?unique_name=true', body)).toEqual(ONE)
      // A deleted key does not take its name.
      const { id } = (await manage('GET', '/api-keys?name=raced')).body.data[0]
      await manage('DELETE', `/api-keys/${id}`)
      expect((await manage('POST', '/api-keys?unique_name=true', body)).status).toBe(201)
      expect((await manage('POST', '/api-keys', body)).status).toBe(201)
    })
    test('only one of several requests at once with unique_name creates a distribution of a name', async () => {
      const body = { ...TARGET, name: 'raced', campaign_id: shop.campaign.id }
      expect(await codesOf('/distributions?unique_name=true', body)).toEqual(ONE)
      expect((await manage('POST', '/distributions', body)).status).toBe(201)
    })
    test('only one of several requests at once gives its webhook a name', async () => {
      const ids = await Promise.all(Array.from({ length: RACERS }, async () => (await webhook()).id))
      const all = await Promise.all(ids.map((id) => manage('PUT', `/webhooks/${id}`, { name: 'renamed' })))
      expect(all.map(({ status }) => status).sort()).toEqual([200, ...new Array(RACERS - 1).fill(409)])
    })
  })

  test('campaigns are found by name without an API key', async () => {
    const { body } = await manage('GET', `/campaigns?name=${encodeURIComponent(shop.campaign.name)}`)
    expect(body.data).toMatchObject([{ id: shop.campaign.id, name: shop.campaign.name, object: 'campaign' }])
    expect((await manage('GET', '/campaigns?name=nothing')).body.data).toEqual([])
  })

  test('header values are compared without being shown, and nothing is changed', async () => {
    const made = await distribution({ name: 'headers', headers: { authorization: 'Bearer a', 'x-b': 'b' } })
    const compare = async (headers: object) => {
      const { text } = await manage('POST', `/distributions/${made.id}/compare-headers`, { headers })
      expect(text).not.toContain('Bearer')
      return JSON.parse(text).different
    }
    expect(await compare({ authorization: 'Bearer a', 'x-b': 'b' })).toEqual([])
    expect(await compare({ authorization: 'Bearer b', 'x-b': 'b' })).toEqual(['authorization'])
    expect(await compare({ authorization: 'Bearer a', 'x-c': 'b' })).toEqual(['x-b', 'x-c'])
    expect((await manage('GET', `/distributions/${made.id}`)).body.updated_at).toBe(made.updated_at)
    expect((await manage('POST', '/distributions/distr_none/compare-headers', { headers: {} })).status).toBe(
      404,
    )
  })
})
