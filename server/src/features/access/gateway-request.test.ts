import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { Problem } from '../../contract/problem.ts'
import { badGatewayUrl, type GatewayRequest, parseGatewayRequest } from './gateway-request.ts'

/** A request as Node passes it on: values of a repeated header are joined. */
function ask(url: string, ...sent: (readonly [string, string])[]): GatewayRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of sent) {
    const lower = name.toLowerCase()
    headers[lower] = headers[lower] === undefined ? value : `${headers[lower]}, ${value}`
  }
  return parseGatewayRequest({ url, headers, rawHeaders: sent.flat() } as unknown as IncomingMessage)
}

function refusal(url: string, ...sent: (readonly [string, string])[]): Problem {
  try {
    ask(url, ...sent)
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('the call was not refused')
}

const GATEWAY = '/gateway/authorize'

describe('the path of the call', () => {
  test('comes from X-Original-URI, from X-Forwarded-Uri, or from the rest of the path, without its query', () => {
    const questions = [
      ask(GATEWAY, ['X-Original-URI', '/v1/vouchers/x?a=b']),
      ask(GATEWAY, ['x-forwarded-uri', '/v1/vouchers/x']),
      ask(`${GATEWAY}/v1/vouchers/x?a=b`),
      ask(
        `${GATEWAY}/v1/vouchers/x`,
        ['X-ORIGINAL-URI', '/v1/vouchers/x?1'],
        ['X-Forwarded-Uri', '/v1/vouchers/x?2'],
      ),
    ]
    for (const { requiredScopes } of questions) expect(requiredScopes).toEqual(['vouchers'])
  })

  test.each([
    [GATEWAY, ['X-Original-URI', '/v1/vouchers'], ['X-Forwarded-Uri', '/v1/campaigns']],
    [`${GATEWAY}/v1/vouchers`, ['X-Original-URI', '/v1/campaigns']],
    [`${GATEWAY}/v1/vouchers`, ['X-Forwarded-Uri', '/v1/vouchers/']],
    [`${GATEWAY}/v1/vouchers`, ['X-Original-URI', '']],
    [`${GATEWAY}/`, ['X-Original-URI', '/v1/vouchers']],
  ] as [string, ...[string, string][]][])('is refused if two sources differ: %j %j', (url, ...sent) => {
    expect(refusal(url, ...sent)).toMatchObject({
      status: 403,
      key: 'insufficient_scope',
      refusal: { step: 'gateway_path' },
    })
  })

  test('is refused if one source was sent twice, even with the same value', () => {
    for (const name of ['X-Original-URI', 'X-Forwarded-Uri'])
      for (const again of [name, name.toLowerCase()])
        expect(refusal(GATEWAY, [name, '/v1/vouchers'], [again, '/v1/vouchers']).message).toContain(
          'more than once',
        )
  })

  test('is refused if it is outside of the API or ambiguous', () => {
    for (const path of [
      '/',
      '/v2/vouchers',
      '/v1/vouchers/../campaigns',
      '/v1//vouchers',
      '/v1/x%2fy',
      ' /v1/vouchers',
      'http://h/v1/vouchers',
    ])
      for (const problem of [
        refusal(GATEWAY, ['X-Original-URI', path]),
        refusal(GATEWAY, ['X-Forwarded-Uri', path]),
      ])
        expect([problem.status, problem.refusal]).toEqual([403, { step: 'gateway_path' }])
  })

  test('is shortened in the response', () => {
    const { description } = ask(
      GATEWAY,
      ['X-Original-URI', `/v1/vouchers/${'x'.repeat(7_000)}`],
      ['X-Original-Method', 'POST'],
    )
    expect(description).toMatch(/^POST \/v1\/vouchers\/x+$/)
    expect(description.length).toBeLessThan(250)
  })
})

describe('?scope=', () => {
  test('decides if no path is sent, with one scope or several', () => {
    expect(ask(`${GATEWAY}?scope=vouchers`).requiredScopes).toEqual(['vouchers'])
    expect(ask(`${GATEWAY}?scope=vouchers%20client_redeem&x=y`).requiredScopes).toEqual([
      'vouchers',
      'client_redeem',
    ])
    expect(ask(`${GATEWAY}?scope=vouchers+SKUs`).requiredScopes).toEqual(['vouchers', 'SKUs'])
  })

  test('is ignored if a path is sent in any form', () => {
    expect(ask(`${GATEWAY}?scope=vouchers`, ['X-Original-URI', '/v1/campaigns']).requiredScopes).toEqual([
      'campaigns',
    ])
    expect(
      ask(`${GATEWAY}?scope=vouchers`, ['X-Forwarded-Uri', '/v1/campaigns?scope=vouchers']).requiredScopes,
    ).toEqual(['campaigns'])
    expect(ask(`${GATEWAY}/v1/campaigns?scope=vouchers`).requiredScopes).toEqual(['campaigns'])
    expect(refusal(`${GATEWAY}/?scope=vouchers`).status).toBe(403)
    expect(refusal(`${GATEWAY}?scope=vouchers`, ['X-Original-URI', '']).status).toBe(403)
  })

  test.each([
    '',
    '?',
    '?scope',
    '?scope=',
    '?scope=%20',
    '?scope=nothing',
    '?scope=Vouchers',
    '?scope=vouchers,campaigns',
    '?scope=vouchers%20',
    '?scope=vouchers&scope=vouchers',
    '?scope=vouchers&scope=',
    '?SCOPE=vouchers',
    '?scope=*',
    '?scope=__proto__',
    '?%73cope=%',
  ])('without a valid scope is refused: %j', (query) =>
    expect(refusal(GATEWAY + query)).toMatchObject({ status: 403, refusal: { step: 'gateway_path' } }),
  )
})

test('a gateway path that cannot be decoded gets 403, and other paths do not', () => {
  expect(badGatewayUrl(`${GATEWAY}/v1/%`)?.status).toBe(403)
  expect(badGatewayUrl('/v1/%')).toBeUndefined()
})
