import { networkInterfaces } from 'node:os'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { answerOf, type RawReceiver, startRawReceiver } from '../../../test/raw-receiver.ts'
import { normalizeIp } from '../addresses.ts'
import {
  createEgressPolicy,
  createSender,
  type EgressPolicy,
  type ResolveHost,
  type Sender,
} from './index.ts'

const HAS_IPV6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.family === 'IPv6')

/** Listens on every address of this machine, so that any spelling that reaches it is detected. */
let here: RawReceiver
let sender: Sender
beforeAll(async () => {
  here = await startRawReceiver({
    host: HAS_IPV6 ? '::' : '0.0.0.0',
    onRequest: (socket) => socket.end(answerOf('200 OK', 'reached', 'connection: close\r\n')),
  })
})
afterAll(() => here.close())
afterEach(() => sender.close())

interface Setup {
  readonly allow?: readonly string[]
  readonly policy?: EgressPolicy
  readonly resolve?: ResolveHost
}

function post(url: string, { allow = [], policy = createEgressPolicy(allow), resolve }: Setup = {}) {
  sender = createSender({ policy, ...(resolve && { resolve }) })
  return sender.send({ url, headers: {}, body: Buffer.from('{}') })
}

const addresses = (...list: string[]) =>
  list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
/** Resolves every name to these addresses. */
const leadingTo =
  (...list: string[]): ResolveHost =>
  () =>
    Promise.resolve(addresses(...list))

/** Expects that no connection was made and that the error contains the words. */
async function expectRefused(sending: ReturnType<typeof post>, words: string | RegExp): Promise<void> {
  const before = here.connections()
  const answer = await sending
  expect(answer).toMatchObject({ isBlocked: true, status: null, body: null })
  if (typeof words === 'string') expect(answer.error).toBe(words)
  else expect(answer.error).toMatch(words)
  expect(here.connections()).toBe(before)
}

const reachedSince = (before: number) => here.reachedAt.slice(before).map(normalizeIp)

/** An address of each class, with its description. */
const INSIDE: readonly [string, string][] = [
  ['127.0.0.1', 'on this machine'],
  ['127.255.255.254', 'on this machine'],
  ['::1', 'on this machine'],
  ['::ffff:127.0.0.1', 'on this machine'],
  ['::ffff:7f00:1', 'on this machine'],
  ['0.0.0.0', 'the unspecified address, which means this machine'],
  ['::', 'the unspecified address, which means this machine'],
  ['10.0.0.4', 'a private address'],
  ['172.16.0.1', 'a private address'],
  ['192.168.1.1', 'a private address'],
  ['::ffff:10.0.0.4', 'a private address'],
  ['fd00:ec2::254', 'a private address'],
  ['169.254.169.254', 'a link-local address, where clouds serve credentials'],
  ['fe80::1', 'a link-local address, where clouds serve credentials'],
  ['100.64.0.1', "an address inside a carrier's network"],
  ['::7f00:1', 'an IPv6 address that contains an IPv4 address'],
  ['::127.0.0.1', 'an IPv6 address that contains an IPv4 address'],
  ['64:ff9b::7f00:1', 'an IPv6 address that contains an IPv4 address'],
  ['64:ff9b::a00:4', 'an IPv6 address that contains an IPv4 address'],
  ['2002:7f00:1::', 'an IPv6 address that contains an IPv4 address'],
  ['2002:a00:4::1', 'an IPv6 address that contains an IPv4 address'],
  ['2001::1', 'an IPv6 address that contains an IPv4 address'],
  ['224.0.0.1', 'a multicast address'],
  ['ff02::1', 'a multicast address'],
  ['255.255.255.255', 'a reserved address'],
  ['192.0.2.1', 'an address for documentation only'],
]

describe.each(['http', 'https'])('by %s', (protocol) => {
  test.each(INSIDE)('%s is not reached', async (address, why) => {
    const host = address.includes(':') ? `[${address}]` : address
    const words = new RegExp(`^[\\da-f.:]+ is ${why}$`)
    await expectRefused(post(`${protocol}://${host}:${here.port}/`), words)
  })

  test.each(INSIDE)('a name that resolves to %s is not reached', async (address, why) => {
    const answer = post(`${protocol}://hooks.example:${here.port}/`, { resolve: leadingTo(address) })
    await expectRefused(answer, `hooks.example resolves to an address that is ${why}`)
  })

  test('a name that resolves only to private addresses is not reached', async () => {
    const resolve = leadingTo('10.0.0.4', '127.0.0.1', '::1', '0.0.0.0')
    const answer = post(`${protocol}://hooks.example:${here.port}/`, { resolve })
    await expectRefused(answer, 'hooks.example resolves to an address that is a private address')
  })
})

/** The URL standard allows many spellings of 127.0.0.1. */
const SPELLINGS = [
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
]

test.each(SPELLINGS)('%s is not reached', async (host) => {
  await expectRefused(post(`http://${host}:${here.port}/`), '127.0.0.1 is on this machine')
})

test('localhost, resolved by the system, is not reached', async () => {
  const words = 'localhost resolves to an address that is on this machine'
  await expectRefused(post(`http://localhost:${here.port}/`), words)
})

test('plain HTTP reaches only listed addresses, also by name', async () => {
  const words = 'is reached by plain http, which is allowed only for addresses in JETON_WEBHOOK_ALLOW'
  const elsewhere = { allow: ['127.0.0.0/8'] }
  await expectRefused(post('http://8.8.8.8/', elsewhere), `8.8.8.8 ${words}`)
  const named = post('http://hooks.example/', { ...elsewhere, resolve: leadingTo('8.8.8.8') })
  await expectRefused(named, `hooks.example ${words}`)
})

describe('allowed addresses are reached', () => {
  const six = HAS_IPV6 ? ['[::1]', '[::ffff:127.0.0.1]'] : []
  test.each(['127.0.0.1', ...six, 'localhost', ...SPELLINGS])('%s', async (host) => {
    const url = `http://${host}:${here.port}/`
    const answer = await post(url, { allow: ['127.0.0.0/8', '::1'] })
    expect(answer).toMatchObject({ status: 200, body: 'reached', error: null, isBlocked: false })
  })

  test('of several addresses of a name only the allowed one is reached', async () => {
    const allow = ['127.0.0.2']
    const resolve = leadingTo('127.0.0.1', '::1', '127.0.0.2', '10.0.0.4')
    const before = here.reachedAt.length
    const answer = await post(`http://hooks.example:${here.port}/`, { allow, resolve })
    expect(answer).toMatchObject({ status: 200, error: null })
    expect(reachedSince(before)).toEqual(['127.0.0.2'])
  })
})

describe('DNS rebinding', () => {
  test('a connection goes to the address that was checked, or is not made', async () => {
    let asked = 0
    // The first answer is allowed, the next is not, and so on: a second lookup would get a blocked address.
    const resolve: ResolveHost = async () => addresses(asked++ % 2 === 0 ? '127.0.0.2' : '127.0.0.1')
    const policy = createEgressPolicy(['127.0.0.2'])
    sender = createSender({ policy, resolve })
    const before = here.reachedAt.length
    const send = () =>
      sender.send({ url: `http://hooks.example:${here.port}/`, headers: {}, body: Buffer.from('{}') })
    for (let turn = 0; turn < 5; turn++) {
      expect(await send()).toMatchObject({ status: 200, isBlocked: false })
      expect(await send()).toMatchObject({ status: null, isBlocked: true })
    }
    expect(asked).toBe(10)
    expect(reachedSince(before)).toEqual(new Array(5).fill('127.0.0.2'))
  })

  /** Simulates a fault between check and connection: the second check blocks the address. */
  const forgetful = (): EgressPolicy => {
    let judged = 0
    return { ...createEgressPolicy(['127.0.0.1']), check: () => (judged++ === 0 ? 'allowed' : 'loopback') }
  }

  test.each(['http', 'https'])(
    'by %s: the peer is checked before the first byte is sent',
    async (protocol) => {
      let bytes = 0
      const raw = await startRawReceiver({
        onConnection: (socket) => socket.on('data', (chunk) => (bytes += chunk.length)),
      })
      try {
        const url = `${protocol}://hooks.example:${raw.port}/`
        const answer = await post(url, { policy: forgetful(), resolve: leadingTo('127.0.0.1') })
        const words = 'hooks.example resolves to an address that is on this machine'
        expect(answer).toMatchObject({ isBlocked: true, error: words })
        await expect.poll(() => raw.closed()).toBe(1)
        expect(bytes).toBe(0)
      } finally {
        await raw.close()
      }
    },
  )
})
