import { afterEach, describe, expect, test } from 'vitest'
import { makeAuthority, makeSelfSigned } from '../../../test/certificates.ts'
import { freePort } from '../../../test/free-port.ts'
import { type RawReceiver, startRawReceiver } from '../../../test/raw-receiver.ts'
import { systemClock } from '../clock.ts'
import { createEgressPolicy, createTargetCheck, type ResolveHost } from './index.ts'

const authority = makeAuthority()
const HOST = 'hooks.example'
let receiver: RawReceiver | undefined
afterEach(async () => {
  await receiver?.close()
  receiver = undefined
})

const toLoopback: ResolveHost = async () => [
  { address: '127.0.0.1', family: 4 },
  { address: '10.0.0.4', family: 4 },
]

const check = (url: string, resolve = toLoopback, allow: readonly string[] = ['127.0.0.0/8']) =>
  createTargetCheck({
    policy: createEgressPolicy(allow),
    clock: systemClock,
    resolve,
    ca: authority.cert,
    deadlineMs: 500,
  })(url)

describe('a check of a target', () => {
  test('opens one connection, sends nothing and closes it', async () => {
    receiver = await startRawReceiver({})
    const url = `http://127.0.0.1:${receiver.port}/hook`
    expect(await check(url)).toEqual({
      allowed: true,
      reason: null,
      addresses: ['127.0.0.1'],
      tlsValidUntil: null,
      connectMs: expect.any(Number),
    })
    await expect.poll(() => receiver!.closed()).toBe(1)
    expect([receiver.connections(), receiver.received()]).toEqual([1, ''])
  })

  test('tells until when the certificate is valid, and shows only addresses that may be reached', async () => {
    const validTo = new Date(Math.floor(Date.now() / 1000) * 1000 + 5 * 86_400_000)
    receiver = await startRawReceiver({ certificate: authority.issue({ names: [HOST], validTo }) })
    expect(await check(`https://${HOST}:${receiver.port}/`)).toMatchObject({
      allowed: true,
      reason: null,
      addresses: ['127.0.0.1'],
      tlsValidUntil: validTo.getTime(),
    })
    await expect.poll(() => receiver!.closed()).toBe(1)
    expect(receiver.received()).toBe('')
  })

  test.each([
    [
      'has expired',
      () => authority.issue({ names: [HOST], validTo: new Date(Date.now() - 86_400_000) }),
      /expired/,
    ],
    ['is for another name', () => authority.issue({ names: ['other.example'] }), /is for other.example/],
    ['is self-signed', () => makeSelfSigned(HOST), /self-signed/],
  ])('says that a certificate %s', async (_, certificate, says) => {
    receiver = await startRawReceiver({ certificate: certificate() })
    const found = await check(`https://${HOST}:${receiver.port}/`)
    expect(found).toMatchObject({ allowed: true, reason: expect.stringMatching(says), connectMs: null })
    expect(found.tlsValidUntil).not.toBeNull()
  })

  test('says why there is no connection', async () => {
    const nobody = await check(`http://127.0.0.1:${await freePort()}/`)
    expect(nobody).toMatchObject({ allowed: true, reason: 'connection refused', connectMs: null })
    const unknown: ResolveHost = async () => {
      throw Object.assign(new Error('none'), { code: 'ENOTFOUND' })
    }
    expect(await check(`https://${HOST}/`, unknown)).toMatchObject({
      allowed: true,
      reason: `the name ${HOST} was not found`,
      addresses: [],
    })
    receiver = await startRawReceiver({})
    // It takes the connection and never begins TLS.
    expect(await check(`https://${HOST}:${receiver.port}/`)).toMatchObject({
      allowed: true,
      reason: `no connection to ${HOST} in time`,
    })
  })

  test('never connects to what deliveries may not reach', async () => {
    receiver = await startRawReceiver({})
    for (const [url, resolve, says] of [
      [`http://127.0.0.1:${receiver.port}/`, toLoopback, 'is on this machine'],
      [`https://127.0.0.1:${receiver.port}/`, toLoopback, 'is on this machine'],
      [
        `https://${HOST}:${receiver.port}/`,
        toLoopback,
        `${HOST} resolves to an address that is on this machine`,
      ],
      [`http://${HOST}:${receiver.port}/`, toLoopback, 'is plain http'],
      [`https://[::1]:${receiver.port}/`, toLoopback, 'is on this machine'],
    ] as const)
      expect(await check(url, resolve, []), url).toEqual({
        allowed: false,
        reason: expect.stringContaining(says),
        addresses: [],
        tlsValidUntil: null,
        connectMs: null,
      })
    expect(receiver.connections()).toBe(0)
  })
})
