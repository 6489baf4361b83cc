import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signedCurl } from './signed-curl.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const EVENT = { kind: 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED', version: '2024-01-01' }

test('the copied command sends the exact body with a signature that receivers accept, and contains no secret', async () => {
  const verdicts: unknown[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    verdicts.push(new Webhook(SECRET).verify(body, request.headers as Record<string, string>), body)
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const payload = { id: 'whs_1', name: `Ada's "mug" $(id) \\ <b> – 100 %\n\u202e`, points: 100 }
  const body = JSON.stringify(payload)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=1&b='`
  const delivery = { id: 'whs_1', destination_url: url, attempts: [], attempts_made: 0 } as never
  const command = signedCurl(EVENT, delivery, body)
  expect(command).not.toContain(SECRET)
  try {
    await promisify(execFile)('bash', ['-ec', command], { env: { ...process.env, WEBHOOK_SECRET: SECRET } })
  } finally {
    server.close()
  }
  expect(verdicts).toEqual([payload, body])
})
