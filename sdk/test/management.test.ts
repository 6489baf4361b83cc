import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestJeton } from '../src/testing/index.ts'
import { managing, testing } from './installed.ts'

let jeton: TestJeton
beforeAll(async () => {
  jeton = await testing.startJeton()
})
afterAll(() => jeton.stop())

const project = () => jeton.management.project(jeton.projectId)

test('a secret masks itself in text, logs and JSON, and is read only with reveal', async () => {
  const key = await project().keys.create({ name: 'masked' })
  const secret = key.app_token.reveal()
  expect(secret).toMatch(/^jta_/)
  const shown = [
    String(key.app_token),
    `${key.app_token}`,
    JSON.stringify(key),
    inspect(key, { depth: 9, showHidden: true }),
    inspect(key.app_token, { customInspect: false, showHidden: true }),
    JSON.stringify(structuredClone(JSON.parse(JSON.stringify(key)))),
    Object.values(key.app_token).join(),
  ]
  for (const text of shown) expect(text).not.toContain(secret)
  expect(String(key.app_token)).toBe(`•••${secret.slice(-4)}`)
  expect(key.app_token).toBeInstanceOf(managing.Secret)
})

test('every secret that the API shows once is masked', async () => {
  const webhook = await project().webhooks.create({
    target_url: 'https://hooks.example.com/',
    events: ['customer.reward_redemptions.completed'],
  })
  expect(webhook.secret.reveal()).toMatch(/^whsec_/)
  expect((await project().webhooks.rotate(webhook.id)).secret.reveal()).toMatch(/^whsec_/)
  const operator = await jeton.management.operators.create({ name: 'second' })
  expect(operator.token.reveal()).toMatch(/^jtm_/)
  expect((await jeton.management.operators.regenerate(operator.id)).token.reveal()).toMatch(/^jtm_/)
  const key = await project().keys.create({ name: 'regenerated' })
  expect((await project().keys.regenerate(key.id, { grace_seconds: 60 })).app_token.reveal()).toMatch(/^jta_/)
})

test('a list is iterated over all pages, by page number and by cursor', async () => {
  const { id } = await jeton.management.projects.create({ name: 'Pages' })
  const { keys } = jeton.management.project(id)
  for (let i = 0; i < 120; i++) await keys.create({ name: `key ${i}` })
  const names: string[] = []
  for await (const { name } of keys.list()) names.push(name)
  expect(new Set(names).size).toBe(120)
  const actions: string[] = []
  const audit = jeton.management.project(id).audit.list()
  for await (const { action } of audit) actions.push(action)
  expect(actions).toHaveLength(121)
  const first = await audit.page({ limit: 50 })
  const second = await audit.page({ limit: 50, after: first.next })
  expect([first.data.length, second.data.length]).toEqual([50, 50])
  expect(second.data[0]!.id).not.toBe(first.data[0]!.id)
})

test('a list whose items are changed while it is read misses none', async () => {
  const { id } = await jeton.management.projects.create({ name: 'Changing' })
  const { keys } = jeton.management.project(id)
  for (let i = 0; i < 105; i++) await keys.create({ name: `key ${i}` })
  for await (const key of keys.list({ state: 'active' })) await keys.block(key.id, { reason: 'never used' })
  expect((await keys.list({ state: 'active' }).page()).total).toBe(0)
})

test('filters, bodies and waits reach the server under their own names', async () => {
  const key = await jeton.newKey()
  const blocked = await project().keys.block(key.id, { reason: 'leaked', wait_ms: 1_000 })
  expect([blocked.state, blocked.propagation !== undefined]).toEqual(['blocked', true])
  const from = new Date(jeton.now() - 60_000)
  const { data } = await project().audit.list({ action: 'api_key.blocked', from }).page()
  expect(data.length).toBeGreaterThan(0)
  expect(
    (
      await project()
        .audit.list({ from: new Date(jeton.now() + 60_000) })
        .page()
    ).data,
  ).toEqual([])
})

test('an operation without an answer resolves, and a refusal is a JetonError with its key', async () => {
  const webhook = await project().webhooks.create({
    target_url: 'https://hooks.example.com/x',
    events: ['customer.reward_redemptions.completed'],
  })
  expect(await project().webhooks.delete(webhook.id)).toBeUndefined()
  const missing = await project()
    .webhooks.get(webhook.id)
    .catch((error: unknown) => error)
  expect(managing.JetonError.is(missing, 'not_found')).toBe(true)
  const { name } = await jeton.management.projects.create({ name: 'Twice' })
  const twice = await jeton.management.projects.create({ name }).catch((error: unknown) => error)
  expect(managing.JetonError.is(twice, 'duplicate_found')).toBe(true)
  const stranger = managing.createManagement({ baseUrl: jeton.baseUrl, id: 'x', token: 'y' })
  const refused = await stranger.whoami.get().catch((error: unknown) => error)
  expect(managing.JetonError.is(refused, 'unauthorized')).toBe(true)
  const nobody = managing.createManagement({ baseUrl: 'http://127.0.0.1:1', id: 'x', token: 'y' })
  await expect(nobody.whoami.get()).rejects.toBeInstanceOf(managing.JetonUnavailable)
})

test('an id that is missing or that would name another path is refused before a request is sent', async () => {
  for (const id of ['', '.', '..', undefined as never]) {
    expect(() => project().keys.delete(id)).toThrow(TypeError)
  }
  expect(() => jeton.management.project('')).toThrow(TypeError)
  const error = await project()
    .keys.get('../../projects')
    .catch((one: unknown) => one)
  expect(managing.JetonError.is(error, 'not_found')).toBe(true)
})

test('refused requests can be explained by their id', async () => {
  const error = await project()
    .keys.get('key_none')
    .catch((one: unknown) => one)
  expect(managing.JetonError.is(error)).toBe(true)
  const response = await fetch(`${jeton.baseUrl}/gateway/authorize?scope=rewards`)
  const requestId = response.headers.get('x-request-id')!
  expect((await jeton.management.refusals.get(requestId)).step).toBe('bearer_missing')
})
