import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Certificate, makeAuthority, makeSelfSigned } from '../../../test/certificates.ts'
import { answerOf, startRawReceiver } from '../../../test/raw-receiver.ts'
import { createEgressPolicy, createSender, type Sender } from './index.ts'

const DAY_MS = 86_400_000
const fromNow = (days: number) => new Date(Date.now() + days * DAY_MS)
const authority = makeAuthority()
const names = ['hooks.example']

let sender: Sender
beforeAll(() => {
  sender = createSender({
    policy: createEgressPolicy(['127.0.0.0/8']),
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ca: authority.cert,
  })
})
afterAll(() => sender.close())

const post = (port: number) =>
  sender.send({ url: `https://hooks.example:${port}/a?b=c`, headers: {}, body: Buffer.from('{}') })

/** Sends to a receiver with this certificate, and returns the outcomes and the received requests. */
async function meet(certificate: Certificate) {
  const receiver = await startRawReceiver({
    certificate,
    onRequest: (socket) => socket.write(answerOf('200 OK', 'ok')),
  })
  const first = await post(receiver.port)
  // A connection is free for the next request a moment after its response has ended.
  await sleep(10)
  const answers = [first, await post(receiver.port)]
  await receiver.close()
  return { answers, receiver }
}

test('a receiver with a good certificate is reached, and its connection used again', async () => {
  const { answers, receiver } = await meet(authority.issue({ names: ['other.example', ...names] }))
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: 'ok', error: null })
  expect(receiver.connections()).toBe(1)
})

test('a host that had a valid certificate before must present one on every new connection', async () => {
  const receiver = await startRawReceiver({
    certificate: authority.issue({ names }),
    onRequest: (socket) => socket.end(answerOf('200 OK', 'ok', 'connection: close\r\n')),
  })
  for (let turn = 0; turn < 3; turn++) expect((await post(receiver.port)).status).toBe(200)
  expect(receiver.connections()).toBe(3)
  await receiver.close()
  const other = await meet(makeSelfSigned('hooks.example'))
  expect(other.answers[0]!.error).toBe('certificate is self-signed')
})

test('every connection makes a full handshake, so that each certificate is checked', async () => {
  const resumed: boolean[] = []
  const receiver = await startRawReceiver({
    certificate: authority.issue({ names }),
    onConnection: (socket) => void resumed.push((socket as TLSSocket).isSessionReused()),
    onRequest: (socket) => socket.end(answerOf('200 OK', 'ok', 'connection: close\r\n')),
  })
  for (let turn = 0; turn < 3; turn++) expect(await post(receiver.port)).toMatchObject({ status: 200 })
  expect(resumed).toEqual([false, false, false])
  await receiver.close()
})

test('a name with a trailing dot is sent without it in SNI, and its certificate is accepted', async () => {
  const asked: unknown[] = []
  const receiver = await startRawReceiver({
    certificate: authority.issue({ names }),
    onConnection: (socket) => void asked.push((socket as TLSSocket & { servername: string }).servername),
    onRequest: (socket) => socket.write(answerOf('200 OK', 'ok')),
  })
  const url = `https://hooks.example.:${receiver.port}/`
  const outcome = await sender.send({ url, headers: {}, body: Buffer.from('{}') })
  expect(outcome).toMatchObject({ status: 200, error: null })
  expect(asked).toEqual(['hooks.example'])
  await receiver.close()
})

const many = ['a.example', '*.b.example', 'c.example', 'd.example']
const UNTRUSTED =
  'certificate is not trusted: its authority is unknown here, or an intermediate certificate is missing'
test.each([
  ['expired', { validFrom: fromNow(-30), validTo: fromNow(-3.5) }, 'certificate expired 3 days ago'],
  ['expired', { validFrom: fromNow(-30), validTo: fromNow(-1.2) }, 'certificate expired 1 day ago'],
  ['expired', { validFrom: fromNow(-30), validTo: fromNow(-0.1) }, 'certificate expired 2 hours ago'],
  [
    'expired',
    { validFrom: fromNow(-30), validTo: new Date(Date.now() - 2_000) },
    'certificate expired 1 minute ago',
  ],
  ['not yet valid', { validFrom: fromNow(1), validTo: fromNow(2) }, 'certificate is not valid yet'],
  [
    'of another name',
    { names: ['other.example'] },
    'certificate is for other.example, not for hooks.example',
  ],
  [
    'of many other names',
    { names: many },
    'certificate is for a.example, *.b.example, c.example, …, not for hooks.example',
  ],
])('a certificate that is %s is refused with an explanation', async (_, wanted, error) => {
  const { answers, receiver } = await meet(authority.issue({ names, ...wanted }))
  for (const answer of answers) expect(answer).toMatchObject({ status: null, error, isBlocked: false })
  expect(receiver.received()).toBe('')
})

test.each([
  ['self-signed', makeSelfSigned('hooks.example'), 'certificate is self-signed'],
  ['from an unknown authority', makeAuthority('Another authority').issue({ names }), UNTRUSTED],
  ['from a forger', makeAuthority().issue({ names }), UNTRUSTED],
])('a certificate that is %s is refused with an explanation', async (_, certificate, error) => {
  const { answers, receiver } = await meet(certificate)
  for (const answer of answers) expect(answer).toMatchObject({ status: null, error, isBlocked: false })
  expect(receiver.received()).toBe('')
})

test('a receiver that speaks plain HTTP on an HTTPS port is reported as such', async () => {
  const server = createServer((_, response) => response.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { error } = await post((server.address() as AddressInfo).port)
  expect(error).toBe('does not speak TLS on this port; is it plain http?')
  await new Promise((resolve) => server.close(resolve))
})

test('a receiver that closes or stays silent during the TLS handshake is reported as such', async () => {
  const closing = await startRawReceiver({
    onConnection: (socket) => socket.once('data', () => socket.end()),
  })
  expect((await post(closing.port)).error).toBe('closed the connection during the TLS handshake')
  await closing.close()
  const silent = await startRawReceiver({})
  const hasty = createSender({ policy: createEgressPolicy(['127.0.0.1']), deadlineMs: 3_000 })
  const url = `https://127.0.0.1:${silent.port}/`
  const { error } = await hasty.send({ url, headers: {}, body: Buffer.from('{}') })
  expect(error).toBe('no TLS within 3 s (connected, but the handshake did not end)')
  await expect.poll(() => silent.closed()).toBe(1)
  await Promise.all([silent.close(), hasty.close()])
})
