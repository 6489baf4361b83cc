import { createRequire } from 'node:module'
import { OAuth2Client, OAuth2HttpError } from '@badgateway/oauth2-client'
import axios, { AxiosError } from 'axios'
import { clientCredentials } from 'axios-oauth-client'
import ClientOAuth2 from 'client-oauth2'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { eachEngine } from '../engines.ts'
import { type Pair, startService, type TestService } from '../service.ts'

/*
 * OAuth clients of other authors, used as their documentation says. Each gets a token, introspects it, revokes it if it
 * can, and reports our errors as OAuth errors.
 */

/** `simple-oauth2` has no types. */
const { ClientCredentials } = createRequire(import.meta.url)('simple-oauth2') as {
  ClientCredentials: new (
    config: unknown,
  ) => {
    getToken(parameters: unknown): Promise<{
      token: Record<string, unknown>
      expired(windowSeconds?: number): boolean
      revoke(type: string): Promise<unknown>
    }>
  }
}

const errorOf = async <E>(promise: PromiseLike<unknown>): Promise<E> =>
  promise.then(
    () => expect.unreachable('it was not refused'),
    (error) => error,
  ) as Promise<E>

eachEngine((engine) => {
  let service: TestService
  let key: Pair & { client_id: string; path: string }
  let blocked: Pair
  let full: Pair
  let wrong: Pair

  beforeAll(async () => {
    service = await startService(await engine.settings(), { clock: systemClock })
    const project = await service.project('Club')
    key = await service.key(project.id, { permissions: ['rewards', 'vouchers'] })
    wrong = { appId: key.appId, appToken: 'wrong' }
    const blocking = await service.key(project.id)
    await service.manage('POST', `${blocking.path}/block`)
    blocked = blocking
    full = await service.key(project.id, { token_limit: 1 })
    await service.issue(full)
  })
  afterAll(() => service.stop())

  const isActive = async (token: string) => (await service.introspect(key, token)).body.active

  describe('openid-client', () => {
    const configured = ({ appId, appToken }: Pair, authentication: (secret: string) => openid.ClientAuth) =>
      openid.discovery(new URL(service.url), appId, undefined, authentication(appToken), {
        algorithm: 'oauth2',
        execute: [openid.allowInsecureRequests],
      })

    test.each([
      ['Basic', openid.ClientSecretBasic],
      ['the form', openid.ClientSecretPost],
    ])(
      'finds everything by discovery; gets, introspects and revokes a token with its pair in %s',
      async (_, authentication) => {
        const config = await configured(key, authentication)
        const token = await openid.clientCredentialsGrant(config, { scope: 'vouchers rewards' })
        expect(token).toMatchObject({ token_type: 'bearer', scope: 'vouchers rewards', expires_in: 900 })
        expect(token.expiresIn()).toBeGreaterThan(890)
        const asked = await openid.tokenIntrospection(config, token.access_token)
        expect(asked).toMatchObject({ active: true, scope: 'vouchers rewards', client_id: key.client_id })
        await openid.tokenRevocation(config, token.access_token)
        expect(await openid.tokenIntrospection(config, token.access_token)).toEqual({ active: false })
        await openid.tokenRevocation(config, token.access_token)
      },
    )

    test('openid-client calls a resource with its bearer token', async () => {
      const config = await configured(key, openid.ClientSecretBasic)
      const { access_token } = await openid.clientCredentialsGrant(config, { scope: 'vouchers' })
      const body = new URLSearchParams({ token: access_token })
      const url = new URL('/oauth/introspect', service.url)
      const answer = await openid.fetchProtectedResource(config, access_token, url, 'POST', body)
      expect(await answer.json()).toMatchObject({ active: true, access_token })
    })

    test('openid-client shows an invalid scope', async () => {
      const config = await configured(key, openid.ClientSecretBasic)
      const error = await errorOf<openid.ResponseBodyError>(
        openid.clientCredentialsGrant(config, { scope: 'voucher' }),
      )
      expect(error).toBeInstanceOf(openid.ResponseBodyError)
      expect([error.status, error.error]).toEqual([400, 'invalid_scope'])
      expect(error.error_description).toContain("Did you mean 'vouchers'?")
      expect(error.cause).toMatchObject({ key: 'invalid_scope' })
    })

    test('openid-client distinguishes a wrong from a blocked key pair, as an error with a form and as a challenge with Basic', async () => {
      const inForm = await errorOf<openid.ResponseBodyError>(
        openid.clientCredentialsGrant(await configured(wrong, openid.ClientSecretPost), {
          scope: 'vouchers',
        }),
      )
      expect([inForm.status, inForm.error]).toEqual([401, 'invalid_client'])
      const isBlocked = await errorOf<openid.ResponseBodyError>(
        openid.clientCredentialsGrant(await configured(blocked, openid.ClientSecretPost), {
          scope: 'vouchers',
        }),
      )
      expect([isBlocked.status, isBlocked.error, isBlocked.cause.key]).toEqual([
        401,
        'invalid_client',
        'api_key_blocked',
      ])
      const challenged = await errorOf<openid.WWWAuthenticateChallengeError>(
        openid.clientCredentialsGrant(await configured(wrong, openid.ClientSecretBasic), {
          scope: 'vouchers',
        }),
      )
      expect([challenged.status, challenged.cause[0]!.scheme]).toEqual([401, 'basic'])
      expect(await challenged.response.json()).toMatchObject({ error: 'invalid_client', key: 'unauthorized' })
    })

    test('openid-client shows that the token limit is reached, and for how long', async () => {
      const config = await configured(full, openid.ClientSecretPost)
      const error = await errorOf<openid.ResponseBodyError>(
        openid.clientCredentialsGrant(config, { scope: 'vouchers' }),
      )
      expect([error.status, error.error]).toEqual([429, 'temporarily_unavailable'])
      expect(Number(error.response.headers.get('retry-after'))).toBeGreaterThan(0)
    })
  })

  describe('oauth4webapi', () => {
    const insecure = { [oauth.allowInsecureRequests]: true }
    async function server(): Promise<oauth.AuthorizationServer> {
      const issuer = new URL(service.url)
      return oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
      )
    }

    test.each([
      ['Basic', oauth.ClientSecretBasic],
      ['the form', oauth.ClientSecretPost],
    ])('oauth4webapi accepts every response, with its key pair in %s', async (_, authentication) => {
      const as = await server()
      const client = { client_id: key.appId }
      const proof = authentication(key.appToken)
      const granted = await oauth.clientCredentialsGrantRequest(
        as,
        client,
        proof,
        { scope: 'rewards' },
        insecure,
      )
      const token = await oauth.processClientCredentialsResponse(as, client, granted)
      expect(token).toMatchObject({ token_type: 'bearer', scope: 'rewards', expires_in: 900 })
      const ask = async () =>
        oauth.processIntrospectionResponse(
          as,
          client,
          await oauth.introspectionRequest(as, client, proof, token.access_token, insecure),
        )
      expect(await ask()).toMatchObject({ active: true, scope: 'rewards' })
      await oauth.processRevocationResponse(
        await oauth.revocationRequest(as, client, proof, token.access_token, insecure),
      )
      expect(await ask()).toEqual({ active: false })
    })

    test('oauth4webapi shows errors of the response body', async () => {
      const [as, client] = [await server(), { client_id: key.appId }]
      const refused = async (secret: string, parameters: Record<string, string>) => {
        const answer = await oauth.clientCredentialsGrantRequest(
          as,
          client,
          oauth.ClientSecretPost(secret),
          parameters,
          insecure,
        )
        return errorOf<oauth.ResponseBodyError>(oauth.processClientCredentialsResponse(as, client, answer))
      }
      expect(await refused(key.appToken, { scope: 'api' })).toMatchObject({
        status: 400,
        error: 'invalid_scope',
      })
      expect(await refused(key.appToken, {})).toMatchObject({ status: 400, error: 'invalid_scope' })
      expect(await refused('wrong', { scope: 'vouchers' })).toMatchObject({
        status: 401,
        error: 'invalid_client',
      })
    })
  })

  describe('simple-oauth2', () => {
    const client = ({ appId, appToken }: Pair, options: Record<string, string>) =>
      new ClientCredentials({
        client: { id: appId, secret: appToken },
        auth: { tokenHost: service.url, tokenPath: '/v1/oauth/token', revokePath: '/v1/oauth/revoke' },
        options,
      })

    test.each([
      ['Basic, encoded', { authorizationMethod: 'header', credentialsEncodingMode: 'strict' }],
      ['Basic, not encoded', { authorizationMethod: 'header', credentialsEncodingMode: 'loose' }],
      ['the form', { authorizationMethod: 'body' }],
    ])(
      'simple-oauth2 gets and revokes a token with its key pair in %s, and knows its expiry',
      async (_, options) => {
        const token = await client(key, options).getToken({ scope: ['vouchers', 'rewards'] })
        expect(token.token).toMatchObject({
          token_type: 'Bearer',
          scope: 'vouchers rewards',
          expires_in: 900,
        })
        expect(await isActive(String(token.token.access_token))).toBe(true)
        await token.revoke('access_token')
        expect(await isActive(String(token.token.access_token))).toBe(false)
        expect([token.expired(), token.expired(901)]).toEqual([false, true])
      },
    )

    test('shows our errors with status and body', async () => {
      interface Refused {
        output: { statusCode: number }
        data: { payload: Record<string, unknown> }
      }
      const refused = (pair: Pair, scope: string) =>
        errorOf<Refused>(client(pair, { authorizationMethod: 'header' }).getToken({ scope }))
      const byScope = await refused(key, 'vouchers,rewards')
      expect([byScope.output.statusCode, byScope.data.payload.error]).toEqual([400, 'invalid_scope'])
      const byPair = await refused(wrong, 'vouchers')
      expect([byPair.output.statusCode, byPair.data.payload.error]).toEqual([401, 'invalid_client'])
    })
  })

  describe('@badgateway/oauth2-client', () => {
    const client = (
      { appId, appToken }: Pair,
      method: 'client_secret_basic' | 'client_secret_post' | 'client_secret_basic_interop',
    ) =>
      new OAuth2Client({
        server: service.url,
        discoveryEndpoint: '/.well-known/oauth-authorization-server',
        clientId: appId,
        clientSecret: appToken,
        authenticationMethod: method,
      })

    test.each(['client_secret_basic', 'client_secret_basic_interop', 'client_secret_post'] as const)(
      'finds everything by discovery; gets, introspects and revokes a token with %s',
      async (method) => {
        const own = client(key, method)
        const token = await own.clientCredentials({ scope: ['rewards', 'vouchers'] })
        expect(token.expiresAt! - Date.now()).toBeGreaterThan(840_000)
        expect(await own.introspect(token)).toMatchObject({
          active: true,
          scope: 'rewards vouchers',
          client_id: key.client_id,
        })
        await own.revoke(token)
        expect(await own.introspect(token)).toEqual({ active: false })
      },
    )

    test('shows our errors by their OAuth code', async () => {
      const refused = (pair: Pair, scope: string[]) =>
        errorOf<OAuth2HttpError>(client(pair, 'client_secret_basic').clientCredentials({ scope }))
      const byScope = await refused(key, ['everything'])
      expect(byScope).toBeInstanceOf(OAuth2HttpError)
      expect([byScope.httpCode, byScope.oauth2Code]).toEqual([400, 'invalid_scope'])
      expect(byScope.message).toContain('is not a scope')
      const byPair = await refused(wrong, ['vouchers'])
      expect([byPair.httpCode, byPair.oauth2Code]).toEqual([401, 'invalid_client'])
    })
  })

  describe('client-oauth2', () => {
    const client = ({ appId, appToken }: Pair, scopes: string[]) =>
      new ClientOAuth2({
        clientId: appId,
        clientSecret: appToken,
        accessTokenUri: `${service.url}/v1/oauth/token`,
        scopes,
      })

    test('client-oauth2 gets a token with its key pair in Basic, and signs an introspection with it', async () => {
      const token = await client(key, ['vouchers', 'rewards']).credentials.getToken()
      expect([token.tokenType, token.data.scope, token.expired()]).toEqual([
        'bearer',
        'vouchers rewards',
        false,
      ])
      const signed = token.sign({ url: `${service.url}/v1/oauth/introspect`, headers: {} })
      const headers = signed.headers as Record<string, string>
      const { body } = await service.form(
        '/v1/oauth/introspect',
        { token: token.accessToken },
        undefined,
        headers,
      )
      expect(body).toMatchObject({ active: true, access_token: token.accessToken })
    })

    test('client-oauth2 gets a token with X-App-Id and X-App-Token beside its own Basic', async () => {
      const headers = { 'X-App-Id': key.appId, 'X-App-Token': key.appToken }
      const token = await client(key, ['vouchers']).credentials.getToken({ headers })
      expect(await isActive(token.accessToken)).toBe(true)
    })

    test('shows our errors by their OAuth code', async () => {
      interface Refused extends Error {
        code: string
        body: Record<string, unknown>
      }
      const byScope = await errorOf<Refused>(client(key, ['everything']).credentials.getToken())
      expect([byScope.code, byScope.body.error, byScope.body.key]).toEqual([
        'EAUTH',
        'invalid_scope',
        'invalid_scope',
      ])
      const byPair = await errorOf<Refused>(client(wrong, ['vouchers']).credentials.getToken())
      expect([byPair.code, byPair.body.error]).toEqual(['EAUTH', 'invalid_client'])
    })
  })

  describe('axios-oauth-client', () => {
    const ask = ({ appId, appToken }: Pair, scope: string, headers: Record<string, string> = {}) =>
      clientCredentials(
        axios.create({ headers }),
        `${service.url}/v1/oauth/token`,
        appId,
        appToken,
      )(scope) as Promise<Record<string, unknown>>

    test('axios-oauth-client gets a token with its key pair in the form', async () => {
      const token = await ask(key, 'vouchers')
      expect(token).toMatchObject({ token_type: 'Bearer', scope: 'vouchers', expires_in: 900 })
      expect(await isActive(String(token.access_token))).toBe(true)
    })

    test('axios-oauth-client gets a token with X-App-Id and X-App-Token beside its own form', async () => {
      const token = await ask(key, 'rewards', { 'X-App-Id': key.appId, 'X-App-Token': key.appToken })
      expect(token.scope).toBe('rewards')
      const conflict = await errorOf<AxiosError<{ key: string }>>(
        ask(wrong, 'rewards', { 'X-App-Id': key.appId, 'X-App-Token': key.appToken }),
      )
      expect([conflict.response!.status, conflict.response!.data.key]).toEqual([
        400,
        'conflicting_credentials',
      ])
    })

    test('shows our errors with status and body', async () => {
      const error = await errorOf<AxiosError<{ error: string; details: string }>>(ask(key, 'reward'))
      expect(error).toBeInstanceOf(AxiosError)
      expect([error.response!.status, error.response!.data.error]).toEqual([400, 'invalid_scope'])
      expect(error.response!.data.details).toContain('rewards, vouchers')
    })
  })
})
