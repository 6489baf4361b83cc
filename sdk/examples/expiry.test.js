// A unit test that moves the server's clock: node --test expiry.test.js
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createFetch, createTokenSource } from '@jeton/sdk'
import { startJeton } from '@jeton/sdk/testing'

const jeton = await startJeton()
after(() => jeton.stop())

test('a client goes on with a new token after its token has expired', async () => {
  const key = await jeton.newKey({ permissions: ['rewards'] })
  const tokens = createTokenSource({ baseUrl: jeton.baseUrl, key, scope: ['rewards'] })
  const api = createFetch(tokens, { baseUrl: jeton.baseUrl })
  assert.equal((await api('/v1/rewards')).status, 200)
  const first = await tokens.get()

  await jeton.advance(900_000)

  assert.equal((await api('/v1/rewards')).status, 200)
  assert.notEqual((await tokens.get()).value, first.value)
})
