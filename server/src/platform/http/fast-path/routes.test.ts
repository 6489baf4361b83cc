import { expect, test } from 'vitest'
import type { RouteRule } from '../app.ts'
import { FastRoutes } from './routes.ts'

const rule = {} as RouteRule
const route = (config: object) =>
  ({ url: '/v1/keys', method: 'GET', handler: () => undefined, config }) as never

test('the fast path refuses to register a management route, whose caller addresses it does not check', () => {
  const routes = new FastRoutes()
  const fast = () => undefined
  expect(() => routes.add(route({ fast, management: true }), rule)).toThrow('/v1/keys is for operators')
  expect(routes.find('GET /v1/keys')).toBeUndefined()
  routes.add(route({ fast }), rule)
  expect(routes.find('GET /v1/keys')).toMatchObject({ method: 'GET', url: '/v1/keys' })
})
