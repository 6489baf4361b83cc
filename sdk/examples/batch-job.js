// A batch job that gives its token back: node batch-job.js
import { createFetch, createTokenSource, JetonError } from '@jeton/sdk'

const { JETON_URL, APP_ID, APP_TOKEN } = process.env

const tokens = createTokenSource({
  baseUrl: JETON_URL,
  key: { appId: APP_ID, appToken: APP_TOKEN },
  scope: ['customers'],
})
const api = createFetch(tokens, { baseUrl: JETON_URL })

try {
  const response = await api('/v1/customers?limit=100')
  const { total } = await response.json()
  console.log(`${total} customers`)
} catch (error) {
  if (!JetonError.is(error, 'token_limit_reached')) throw error
  console.error(`no token is free for ${Math.ceil(error.retryAfterMs / 1000)} s: ${error.docUrl}`)
  process.exitCode = 75
} finally {
  // In Node 24, `await using tokens = createTokenSource(…)` does the same.
  await tokens.close()
}
