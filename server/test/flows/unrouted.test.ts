import { readFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { newFolder } from '../command-line.ts'
import { type RawAnswer, sendRaw } from '../raw-http.ts'
import { startService, type TestService } from '../service.ts'

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
/** Every path of the API with its methods. The gateway answers by any method. */
const PATHS = Object.entries(document.paths as Record<string, object>)
  .filter(([path]) => path !== '/gateway/authorize')
  .map(([path, operations]) => ({
    path: path.replaceAll(/\{\w+\}/g, 'x'),
    methods: Object.keys(operations).map((method) => method.toUpperCase()),
  }))
/** Node answers CONNECT by closing the connection. */
const ALL_METHODS = METHODS.filter((method) => method !== 'CONNECT')
const RARE = ['QUERY', 'PROPFIND', 'LOCK', 'PURGE', 'M-SEARCH']

const services: TestService[] = []
const start = async (env: Record<string, string> = {}) => {
  const service = await startService(
    { JETON_DATA_DIR: newFolder('unrouted'), ...env },
    { clock: systemClock, worker: false },
  )
  services.push(service)
  return service
}
afterAll(() => Promise.all(services.map((service) => service.stop())))

const said = ({ status, body }: RawAnswer) => [status, body?.key]

describe('a method that a path does not have', () => {
  let service: TestService
  let pair: Record<string, string>
  beforeAll(async () => {
    service = await start()
    const key = await service.key((await service.project('Methods')).id)
    pair = { 'x-app-id': key.appId, 'x-app-token': key.appToken }
  })

  test('an unsupported method gets 405 with the allowed ones, also a rare method', async () => {
    expect(PATHS.length).toBeGreaterThan(60)
    for (const { path, methods } of PATHS)
      for (const method of [...RARE, 'TRACE']) {
        const answer = await sendRaw(service.url, { method, path, headers: pair })
        expect(said(answer), `${method} ${path}`).toEqual([405, 'method_not_allowed'])
        expect(answer.headers.allow!.split(', ').sort(), path).toEqual(methods.toSorted())
      }
  }, 60_000)

  test('an unsupported method on an OAuth endpoint gets an OAuth error, also with a query or another spelling', async () => {
    for (const path of [
      '/v1/oauth/token',
      '/v1/oauth/token?a=b',
      '/v1/%6fauth/token',
      'http://x/v1/oauth/token',
    ]) {
      const [common, rare] = await Promise.all(
        ['PUT', 'QUERY'].map((method) => sendRaw(service.url, { method, path })),
      )
      expect(rare!.body).toMatchObject({ key: 'method_not_allowed', error: 'invalid_request' })
      expect(Object.keys(rare!.headers)).toEqual(Object.keys(common!.headers))
    }
  })

  test('an unsupported method reveals no API path to an unknown caller', async () => {
    for (const method of [...RARE, 'PUT'])
      expect(said(await sendRaw(service.url, { method, path: '/v1/vouchers/x' })), method).toEqual([
        401,
        'unauthorized',
      ])
  })

  test('any method on an unknown path gets 404', async () => {
    for (const method of [...RARE, 'PUT'])
      for (const path of ['/nowhere', '/v1/oauth/token/', '/v1/oauth/tokens', `/events/${'x'.repeat(301)}`])
        expect(said(await sendRaw(service.url, { method, path })), `${method} ${path}`).toEqual([
          404,
          'not_found',
        ])
  })
})

describe('JETON_MANAGEMENT_ALLOW', () => {
  const BELOW = ['', '/', '/v1/projects', '/v1/projects/x', '/v1/nowhere', '/v1/projects?limit=1']
  const SPELLINGS = ['/management', '/%6danagement', '/m%61nagement', 'http://x/management']

  test('JETON_MANAGEMENT_ALLOW hides every path below /management from other addresses, for any method', async () => {
    const service = await start({ JETON_MANAGEMENT_ALLOW: '10.0.0.0/8' })
    const paths = SPELLINGS.flatMap((spelling) => BELOW.map((path) => spelling + path))
    for (const path of [...paths, '/management/%zz', 'http://x/management/%zz'])
      for (const method of ALL_METHODS.filter((one) => one !== 'HEAD')) {
        const answer = await sendRaw(service.url, { method, path })
        expect(said(answer), `${method} ${path}`).toEqual([403, 'ip_not_allowed'])
        expect(answer.headers.allow).toBeUndefined()
      }
    for (const path of ['/metrics', '/docs', '/openapi.json'])
      for (const method of ['POST', 'PROPFIND'])
        expect((await sendRaw(service.url, { method, path })).status, `${method} ${path}`).toBe(403)
    expect((await sendRaw(service.url, { path: '/managements' })).status).toBe(404)
  }, 60_000)

  test('JETON_MANAGEMENT_ALLOW lets listed addresses see the paths below /management', async () => {
    const service = await start({ JETON_MANAGEMENT_ALLOW: '127.0.0.1' })
    const asked: [string, string, number][] = [
      ['PUT', '/management/v1/projects', 405],
      ['QUERY', '/management/v1/projects', 405],
      ['GET', '/management/v1/nowhere', 404],
      ['GET', '/management/%zz', 400],
    ]
    for (const [method, path, status] of asked)
      expect((await sendRaw(service.url, { method, path })).status, `${method} ${path}`).toBe(status)
  })

  test('JETON_MANAGEMENT_ALLOW does not matter on a listener without management', async () => {
    const service = await start({ JETON_MANAGEMENT_ALLOW: '10.0.0.0/8', JETON_MANAGEMENT_PORT: '0' })
    const path = '/management/v1/projects'
    expect((await sendRaw(service.url, { path })).status).toBe(404)
    expect((await sendRaw(service.managementUrl, { path })).status).toBe(403)
  })
})
