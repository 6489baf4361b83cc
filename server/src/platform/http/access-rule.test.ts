import type { RouteOptions } from 'fastify'
import { describe, expect, test } from 'vitest'
import { accessRule } from './access-rule.ts'

const rule = (url: string, config?: RouteOptions['config']) =>
  accessRule({ method: 'GET', url, ...(config && { config }), handler: () => undefined })

describe('a route', () => {
  test('a route without an access rule cannot be registered', () => {
    for (const url of ['/', '/v1/vouchers', '/management/v1/projects'])
      for (const config of [
        undefined,
        {},
        { management: true },
        { oauth: true },
        { scope: 'vouchers' } as const,
      ])
        expect(() => rule(url, config)).toThrow(`GET ${url} has no access rule.`)
  })

  test.each([
    ['/v1/vouchers', 'vouchers'],
    ['/v1/vouchers/:id', 'vouchers'],
    ['/v1/skus', 'SKUs'],
    ['/client/v1/redeem', 'client_redeem'],
    ['/v1/unheard-of/:id', 'api'],
    ['/v1/:anything', 'api'],
    ['/v1/*', 'api'],
    ['/client/v1/*', 'client_api'],
  ])('a route of the API requires the scope of its path: %s %s', (url, scope) => {
    expect(rule(url, { access: 'scope' })).toEqual({ access: 'scope', scope })
  })

  test('a route may declare its scope, and must if its path has none', () => {
    expect(rule('/v1/loyalties/:id', { access: 'scope', scope: 'rewards' })).toMatchObject({
      scope: 'rewards',
    })
    expect(rule('/elsewhere', { access: 'scope', scope: 'api' })).toMatchObject({ scope: 'api' })
    expect(() => rule('/elsewhere', { access: 'scope' })).toThrow('requires a scope, and its path has none')
  })

  test('a route of the API is accessible by scope and in no other way', () => {
    for (const url of [
      '/v1/vouchers',
      '/v1/oauth',
      '/v1/oauthx/token',
      '/v1/*',
      '/client/v1/vouchers',
      '/client/v1/oauth/token',
    ])
      for (const access of ['public', 'operator', 'handler'] as const)
        for (const oauth of [true, false])
          expect(() => rule(url, { access, oauth }), `${access} ${url}`).toThrow(
            'its access must be by scope',
          )
  })

  test('a route of OAuth authenticates itself, and a route outside of the API keeps its rule', () => {
    expect(rule('/v1/oauth/token', { access: 'handler', oauth: true })).toEqual({
      access: 'handler',
      oauth: true,
    })
    expect(rule('/health/live', { access: 'public' })).toEqual({ access: 'public' })
    expect(rule('/management/v1/projects', { access: 'operator' })).toEqual({ access: 'operator' })
  })
})
