import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { eachEngine, type TestEngine } from '../engines.ts'
import { accepts, PLATFORM, type SignedRequest, STANDARD } from '../foreign-receivers.ts'
import { openShop } from '../loyalty.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { startService, type TestService } from '../service.ts'
import { hasWebhookServer, startWebhookServer } from '../webhook-server.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const WIRE = 'customer.reward_redemptions.completed'

/** Redeems, and returns the delivery that arrived and the secret that the receiver was given. */
async function redeemedAt(service: TestService, receiver: Receiver) {
  const shop = await openShop(service)
  const wanted = { target_url: receiver.url, events: [WIRE] }
  const { body: webhook } = await service.manage('POST', `/projects/${shop.projectId}/webhooks`, wanted)
  const card = await shop.member(500)
  const reward = await shop.material({ price: 100 })
  const before = receiver.received.length
  expect((await shop.redeem(card.code, reward.id)).status).toBe(200)
  const received = await receiver.receivedAtLeast(before + 1)
  const { headers, body } = received.at(-1)!
  return {
    shop,
    secret: webhook.secret as string,
    request: { headers: headers as Record<string, string>, body } satisfies SignedRequest,
    path: `/projects/${shop.projectId}/webhooks/${webhook.id}`,
    redeem: () => shop.redeem(card.code, reward.id),
  }
}

eachEngine((engine: TestEngine) => {
  let service: TestService
  let receiver: Receiver
  let sent: Awaited<ReturnType<typeof redeemedAt>>

  beforeAll(async () => {
    receiver = await startReceiver()
    service = await startService({ ...(await engine.settings()), ...ENV }, { clock: systemClock })
    sent = await redeemedAt(service, receiver)
  })
  afterAll(async () => {
    await service.stop()
    await receiver.close()
  })

  const checks = [
    ...Object.entries(STANDARD).map(([name, { check }]) => [name, check] as const),
    ...Object.entries(PLATFORM),
  ]
  test.each(checks)(
    '%s accepts an event of a running server, and rejects a changed byte and a wrong secret',
    async (_, check) => {
      const { secret, request } = sent
      expect(await accepts(check, secret, request)).toBe(true)
      const changed = { ...request, body: request.body.replace('"balance":400', '"balance":500') }
      expect(changed.body).not.toBe(request.body)
      expect(await accepts(check, secret, changed)).toBe(false)
      const other = `${secret.slice(0, -4)}${secret.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
      expect(await accepts(check, other, request)).toBe(false)
    },
  )

  const dated = Object.entries(STANDARD).filter(([, { checksTime }]) => checksTime)
  test.each(dated)('%s rejects an event whose timestamp is too old', async (_, { check }) => {
    const { secret, request } = sent
    const realNow = Date.now
    // The receiver's clock, ten minutes on.
    Date.now = () => realNow() + 600_000
    try {
      expect(await accepts(check, secret, request)).toBe(false)
    } finally {
      Date.now = realNow
    }
  })

  const missing = hasWebhookServer ? '' : ': skipped, since it is not installed (apt-get install -y webhook)'
  describe.skipIf(!hasWebhookServer)(`Debian's webhook server${missing}`, () => {
    test('the webhook server of Debian accepts an event of a running server, and none that another secret signed', async () => {
      const { path, redeem, secret } = sent
      const right = await startWebhookServer(secret)
      const wrong = await startWebhookServer(`${secret.slice(0, -4)}AAAA`)
      try {
        const newest = async () => {
          const { body } = await service.manage('GET', `${path.split('/webhooks')[0]}/deliveries?limit=1`)
          return body.data[0] as { id: string; attempts_made: number }
        }
        for (const { url } of [right, wrong]) {
          await service.manage('PUT', path, { target_url: url })
          const before = await newest()
          await redeem()
          let last = before
          while (last.id === before.id || last.attempts_made === 0) last = await newest()
        }
        expect(right.accepted()).toHaveLength(1)
        expect(JSON.parse(right.accepted()[0]!).event.type).toBe(WIRE)
        expect(wrong.accepted()).toEqual([])
      } finally {
        await Promise.all([right.stop(), wrong.stop()])
      }
    })
  })
})
