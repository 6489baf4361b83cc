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
  })

  test('a management route without a role cannot be registered, nor one that is not for operators', () => {
    const url = '/management/v1/projects/:project_id/keys'
    expect(rule(url, { access: 'operator', role: 'viewer' })).toEqual({ access: 'operator', role: 'viewer' })
    expect(() => rule(url, { access: 'operator' })).toThrow(`GET ${url} names no role.`)
    expect(() => rule(url, { access: 'operator', role: 'root' as never })).toThrow('names no role')
    for (const access of ['public', 'handler'] as const)
      expect(() => rule(url, { access, role: 'admin' })).toThrow('must be for operators')
    // Only POST of it, which signs in, authenticates itself.
    expect(() => rule('/management/v1/sessions', { access: 'handler' })).toThrow('must be for operators')
  })

  test('a management route names its project as the guard reads it, or says which operators it is for', () => {
    const viewer = { access: 'operator', role: 'viewer' } as const
    expect(() => rule('/management/v1/projects/:id/keys', viewer)).toThrow('":project_id"')
    expect(() => rule('/management/v1/projects/:project_ids', viewer)).toThrow('":project_id"')
    expect(() => rule('/management/v1/audit-log', viewer)).toThrow('does not say which operators')
    for (const projects of ['all', 'any'] as const)
      expect(rule('/management/v1/audit-log', { ...viewer, projects })).toMatchObject({ projects })
    expect(rule('/management/v1/operators', { access: 'operator', role: 'admin' })).toBeTruthy()
  })
})
