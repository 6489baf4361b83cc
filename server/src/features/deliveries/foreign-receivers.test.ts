import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeDestination } from '../../../test/destination.ts'
import {
  accepts,
  type Check,
  PLATFORM,
  type SignedRequest,
  STANDARD,
} from '../../../test/foreign-receivers.ts'
import { type Receiver, startReceiver } from '../../../test/receiver.ts'
import { hasWebhookServer, startWebhookServer } from '../../../test/webhook-server.ts'
import { REWARD_REDEMPTION_COMPLETED } from '../../contract/event-kinds.ts'
import { createVault } from '../../platform/encryption.ts'
import { createEgressPolicy, createSender, type Sender } from '../../platform/outbound/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { sendDelivery } from './send-delivery.ts'

const BODY = JSON.stringify({
  id: 'whs_1',
  type: REWARD_REDEMPTION_COMPLETED,
  data: { customer: { name: 'Zoë 🎁 "quoted" \\ / \u2028' }, n: 0.1, none: null },
})
const vault = createVault(Buffer.alloc(32, 1), randomBytes)
let receiver: Receiver
let sender: Sender
beforeAll(async () => {
  receiver = await startReceiver()
  sender = createSender({ policy: createEgressPolicy(['127.0.0.0/8']) })
})
afterAll(() => Promise.all([receiver.close(), sender.close()]))

type Made = ReturnType<typeof makeDestination>

const deliver = ({ row: target }: Made, nowMs = Date.now()) =>
  sendDelivery(
    { sender, vault },
    {
      deliveryId: 'whs_1',
      kind: REWARD_REDEMPTION_COMPLETED,
      attempt: 1,
      body: Buffer.from(BODY),
      target,
      nowMs,
    },
  )

/** Sends over a real connection, and returns the received request. */
async function sent(destination: Made, nowMs?: number): Promise<SignedRequest> {
  expect((await deliver(destination, nowMs)).outcome).toBe('delivered')
  const { headers, body } = receiver.received.at(-1)!
  return { headers: headers as Record<string, string>, body }
}

const made = (previousUntil?: number) =>
  makeDestination(vault, { targetUrl: receiver.url, ...(previousUntil && { previousUntil }) })

function holdsWhatWasSigned(check: Check): void {
  test('accepts a delivery', async () => {
    const destination = made()
    expect(await accepts(check, destination.secret, await sent(destination))).toBe(true)
  })

  test('rejects a changed byte', async () => {
    const destination = made()
    const request = await sent(destination)
    for (const body of [request.body.replace('0.1', '0.2'), request.body.replace('whs_1', 'whs_2')])
      expect(await accepts(check, destination.secret, { ...request, body })).toBe(false)
  })

  test('rejects a wrong secret', async () => {
    const [destination, other] = [made(), made()]
    expect(await accepts(check, other.secret, await sent(destination))).toBe(false)
  })
}

describe.each(Object.entries(STANDARD))('%s', (_, { check, checksTime }) => {
  holdsWhatWasSigned(check)

  test('rejects another id and another time', async () => {
    const destination = made()
    const request = await sent(destination)
    const later = String(Number(request.headers['webhook-timestamp']) + 1)
    for (const [name, value] of [
      ['webhook-id', 'whs_2'],
      ['webhook-timestamp', later],
    ] as const) {
      const headers = { ...request.headers, [name]: value }
      expect(await accepts(check, destination.secret, { ...request, headers })).toBe(false)
    }
  })

  if (checksTime)
    test('rejects an old signature', async () => {
      const destination = made()
      const request = await sent(destination, Date.now() - 600_000)
      expect(await accepts(check, destination.secret, request)).toBe(false)
    })

  test('accepts either secret during a rotation', async () => {
    const destination = made(Date.now() + 60_000)
    const request = await sent(destination)
    expect(await accepts(check, destination.secret, request)).toBe(true)
    expect(await accepts(check, destination.previousSecret, request)).toBe(true)
    expect(await accepts(check, made().secret, request)).toBe(false)
  })
})

describe.each(Object.entries(PLATFORM))('%s', (_, check) => {
  holdsWhatWasSigned(check)

  test('accepts the new secret immediately during a rotation', async () => {
    const destination = made(Date.now() + 60_000)
    const request = await sent(destination)
    expect(await accepts(check, destination.secret, request)).toBe(true)
    expect(await accepts(check, destination.previousSecret, request)).toBe(false)
  })
})

const missing = hasWebhookServer ? '' : ': skipped, since it is not installed (apt-get install -y webhook)'
describe.skipIf(!hasWebhookServer)(`Debian's webhook server${missing}`, () => {
  test('accepts a delivery, and rejects a changed byte and a wrong secret', async () => {
    const owner = made()
    const server = await startWebhookServer(owner.secret)
    const towards = (destination: Made) => ({
      ...destination,
      row: { ...destination.row, target_url: server.url },
    })
    const names = ['content-type', 'x-voucherify-signature'] as const
    try {
      expect(await deliver(towards(owner))).toMatchObject({ outcome: 'delivered', status: 200 })
      expect(server.accepted().map((text) => JSON.parse(text))).toEqual([JSON.parse(BODY)])
      // This server reports a wrong signature as its own error.
      expect(await deliver(towards(made()))).toMatchObject({ outcome: 'failed', status: 500 })

      const { headers, body } = await sent(owner)
      const relay = async (relayed: string) => {
        const kept = Object.fromEntries(names.map((name) => [name, headers[name]!]))
        return (await fetch(server.url, { method: 'POST', headers: kept, body: relayed })).status
      }
      expect(await relay(body)).toBe(200)
      expect(await relay(body.replace('0.1', '0.2'))).toBe(500)
      expect(server.accepted()).toHaveLength(2)
    } finally {
      await server.stop()
    }
  })
})
