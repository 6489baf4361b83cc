import { afterAll, beforeAll, expect, test } from 'vitest'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import type { CompletedRedemption, KeyPair, TokenSource } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, testing } from './installed.ts'

let jeton: TestJeton
let key: KeyPair & { id: string }
let source: TokenSource
let api: typeof fetch

beforeAll(async () => {
  jeton = await testing.startJeton()
  key = await jeton.newKey()
  source = core.createTokenSource({ baseUrl: jeton.baseUrl, key, scope: ['redemptions'] })
  api = core.createFetch(source, { baseUrl: jeton.baseUrl })
})
afterAll(() => jeton.stop())

const data = redemptionData() as CompletedRedemption['data']

test('a reported redemption has one event, however often it is reported', async () => {
  const redemption = { source_id: 'order-1', completed_at: new Date(jeton.now()), data }
  const first = await core.reportRedemption(api, redemption)
  expect(first).toEqual({ eventId: expect.stringMatching(/^evcus_/), duplicate: false })
  expect(await core.reportRedemption(api, redemption)).toEqual({ ...first, duplicate: true })
})

test('another redemption with the same id is refused with its key', async () => {
  await core.reportRedemption(api, { source_id: 'order-2', data })
  const changed = { ...data, balance: { amount: -7 } }
  const error = await core
    .reportRedemption(api, { source_id: 'order-2', data: changed })
    .catch((one: unknown) => one)
  expect(core.JetonError.is(error, 'source_id_reused')).toBe(true)
})

test('a report whose token was revoked is sent again with a new token', async () => {
  await jeton.management.project(jeton.projectId).keys.revokeTokens(key.id)
  expect((await core.reportRedemption(api, { source_id: 'order-3', data })).duplicate).toBe(false)
})
