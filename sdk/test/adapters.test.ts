import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Guard } from '../src/guard/index.ts'
import type { KeyPair } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, forExpress, forFastify, forHono, guarding, testing } from './installed.ts'
import { startProxy, type TestProxy } from './proxy.ts'

interface Running {
  readonly url: string
  close(): void
}

const portOf = (address: unknown): number => (address as AddressInfo).port

async function startExpress(guard: Guard): Promise<Running> {
  const app = express()
  app.get('/rewards', forExpress.requireScope(guard, 'rewards'), (request, response) => {
    response.json(Reflect.get(request, 'jeton'))
  })
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { url: `http://127.0.0.1:${portOf(server.address())}`, close: () => server.close() }
}

async function startFastify(guard: Guard): Promise<Running> {
  const app = fastify()
  await app.register(forFastify.jeton, { guard })
  app.get('/rewards', { config: { scope: 'rewards' } }, async (request) => Reflect.get(request, 'jeton'))
  app.get('/public', { config: { scope: false as never } }, async () => 'open')
  app.get('/bug', { config: { scope: false as never } }, async (request) => Reflect.get(request, 'jeton'))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { url: `http://127.0.0.1:${portOf(app.server.address())}`, close: () => void app.close() }
}

async function startHono(guard: Guard): Promise<Running> {
  const app = new Hono()
  const address = (context: Parameters<typeof getConnInfo>[0]) => getConnInfo(context).remote.address
  app.get('/rewards', forHono.requireScope(guard, 'rewards', { address }), (c) => c.json(c.get('jeton')))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve as () => void))
  return { url: `http://127.0.0.1:${portOf(server.address())}`, close: () => void server.close() }
}

let jeton: TestJeton
let proxy: TestProxy
let token: string
let restricted: string

beforeAll(async () => {
  jeton = await testing.startJeton()
  proxy = await startProxy(jeton.baseUrl)
  const issue = async (key: KeyPair) =>
    (await core.createTokenSource({ baseUrl: jeton.baseUrl, key, scope: ['rewards'] }).get()).value
  token = await issue(await jeton.newKey())
  const key = await jeton.newKey()
  restricted = await issue(key)
  await jeton.management.project(jeton.projectId).keys.update(key.id, { ip_whitelist: ['203.0.113.7'] })
})
afterAll(async () => {
  await proxy.close()
  await jeton.stop()
})
beforeEach(() => {
  proxy.behaviour = 'forward'
  proxy.requests.length = 0
})

describe.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Hono', startHono],
])('%s', (_, start) => {
  let running: Running
  beforeAll(async () => {
    running = await start(
      guarding.createGuard({ baseUrl: proxy.url, projectId: jeton.projectId, maxAgeMs: 0 }),
    )
  })
  afterAll(() => running.close())

  const call = (headers: Record<string, string> = {}) => fetch(`${running.url}/rewards`, { headers })
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` })

  test('a guarded route lets a valid token in and knows its caller', async () => {
    const response = await call(bearer(token))
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ projectId: jeton.projectId, scope: ['rewards'] })
  })

  test('a guarded route refuses with status, challenge and body of Jeton, and runs no handler', async () => {
    const missing = await call()
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(missing.headers.get('cache-control')).toBe('no-store')
    expect(await missing.json()).toMatchObject({ code: 401, key: 'unauthorized' })
    expect((await call(bearer('jtn_x'))).status).toBe(401)
    proxy.behaviour = 'refuse'
    const unavailable = await call(bearer(token))
    expect([unavailable.status, unavailable.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await fetch(`${running.url}/rewards`, { method: 'HEAD' })).status).toBe(401)
  })

  test('a guarded route takes the address from the socket, and never from a header', async () => {
    const forged = { ...bearer(restricted), 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7' }
    expect((await call(forged)).status).toBe(403)
    expect(proxy.requests[0]!.headers['x-forwarded-for']).toBe('127.0.0.1')
  })
})

test('in Fastify a route without a scope cannot be registered, and a public one has no caller', async () => {
  const guard = guarding.createGuard({ baseUrl: proxy.url, projectId: jeton.projectId })
  const app = fastify()
  await app.register(forFastify.jeton, { guard })
  expect(() => app.get('/forgotten', async () => 'open')).toThrow('needs config.scope')
  const { url, close } = await startFastify(guard)
  expect(await (await fetch(`${url}/public`)).text()).toBe('open')
  expect((await fetch(`${url}/bug`)).status).toBe(500)
  expect((await fetch(`${url}/nothing`)).status).toBe(404)
  close()
})

test('in Fastify a route that was registered before the plugin is refused', async () => {
  const app = fastify()
  app.get('/early', async () => 'open')
  await app.register(forFastify.jeton, {
    guard: guarding.createGuard({ baseUrl: proxy.url, projectId: jeton.projectId }),
  })
  expect((await app.inject('/early')).statusCode).toBe(500)
})

test('in Express an address that cannot be read ends in an error and not in the route', async () => {
  const guard = guarding.createGuard({ baseUrl: proxy.url, projectId: jeton.projectId })
  const app = express()
  const address = () => {
    throw new Error('no address')
  }
  app.get(
    '/rewards',
    forExpress.requireScope(guard, 'rewards', { address }),
    (_, response) => void response.send('in'),
  )
  app.use((error: Error, _: unknown, response: express.Response, __: unknown) => {
    response.status(500).send(error.message)
  })
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const response = await fetch(`http://127.0.0.1:${portOf(server.address())}/rewards`)
  expect([response.status, await response.text()]).toEqual([500, 'no address'])
  server.close()
})
