// One of many processes that share a token: waits for the start, gets the token, prints its digest, and closes.
import { createHash } from 'node:crypto'
import { createTokenSource } from '@jeton/sdk'
import { fileStore } from './file-store.mjs'

const { JETON_URL, APP_ID, APP_TOKEN, STORE } = process.env
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
const source = createTokenSource({
  baseUrl: JETON_URL,
  key: { appId: APP_ID, appToken: APP_TOKEN },
  scope: ['rewards'],
  store: fileStore(STORE),
  timeoutMs: 30_000,
})
const { value } = await source.get()
process.stdout.write(`${createHash('sha256').update(value).digest('hex')}\n`)
await source.close()
process.exit(0)
