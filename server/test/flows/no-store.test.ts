import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { newFolder } from '../command-line.ts'
import { sendBytes, sendRaw } from '../raw-http.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
const PRIVATE = /^\/(v1|client\/v1|management)\//
const OPERATIONS = Object.entries(document.paths as Record<string, object>)
  .filter(([path]) => PRIVATE.test(path))
  .flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'x'),
    })),
  )

let service: TestService
let credentials: Record<string, string>
beforeAll(async () => {
  service = await startService({ JETON_DATA_DIR: newFolder('no-store') }, { clock: systemClock })
  const key = await service.key((await service.project('Private')).id)
  const operator = { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }
  credentials = { ...operator, 'x-app-id': key.appId, 'x-app-token': key.appToken }
})
afterAll(() => service.stop())

test('every response of /v1, /client/v1 and /management has no-store, with a credential or without', async () => {
  expect(OPERATIONS.length).toBeGreaterThan(80)
  const seen = new Set<number>()
  for (const { method, path } of OPERATIONS)
    for (const headers of [{}, credentials]) {
      const answer = await sendRaw(service.url, { method, path, headers })
      expect(answer.headers['cache-control'], `${method} ${path} ${answer.status}`).toBe('no-store')
      seen.add(answer.status)
    }
  // With fewer responses the test would prove little.
  expect([...seen]).toEqual(expect.arrayContaining([200, 400, 401, 404]))
}, 60_000)

const JSON_TYPE = { 'content-type': 'application/json' }
type Request = Parameters<typeof sendRaw>[1]
const REFUSED: [string, Request][] = [
  ['a path that is not there', { path: '/v1/nowhere' }],
  ['another path that is not there', { path: '/client/v1/nowhere' }],
  ['a management path that is not there', { path: '/management/v1/nowhere' }],
  ['the beginning of a path', { path: '/management' }],
  ['a method that is not there', { method: 'TRACE', path: '/v1/customers' }],
  ['a management method that is not there', { method: 'PUT', path: '/management/v1/projects' }],
  ['a rare method', { method: 'PROPFIND', path: '/management/v1/projects' }],
  ['a path that cannot be decoded', { path: '/v1/customers/%zz' }],
  ['a path that is too long', { path: `/v1/customers/${'x'.repeat(400)}` }],
  ['JSON that is none', { method: 'POST', path: '/v1/customers', headers: JSON_TYPE, body: '{' }],
  [
    'another media type',
    { method: 'POST', path: '/v1/customers', headers: { 'content-type': 'x/y' }, body: 'x' },
  ],
  [
    'a body that is too large',
    { method: 'POST', path: '/v1/customers', headers: JSON_TYPE, body: ' '.repeat(2 ** 21) },
  ],
]
test.each(REFUSED)('the refusal of %s has no-store', async (_, request) => {
  const answer = await sendRaw(service.url, { ...request, headers: { ...credentials, ...request.headers } })
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(answer.headers['cache-control']).toBe('no-store')
})

test('the refusal of a malformed HTTP request has no-store', async () => {
  const answer = await sendBytes(service.url, 'GET /v1/customers\r\n\r\n')
  expect([answer.status, answer.headers['cache-control']]).toEqual([400, 'no-store'])
})
