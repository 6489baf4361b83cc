import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFolder } from '../command-line.ts'
import { startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

let service: TestService
beforeAll(async () => {
  service = await startService({ JETON_DATA_DIR: newFolder('one-answer') }, { clock: new TestClock() })
})
afterAll(() => service.stop())

/** All bytes that a connection receives after it has sent every piece and closed its side. */
async function conversation(pieces: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(service.url)
  const socket = connect({ host: hostname, port: Number(port) })
  let heard = ''
  socket.setEncoding('latin1').on('data', (chunk) => (heard += chunk))
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await expect.poll(() => heard).toContain('HTTP/1.1')
    socket.write(piece)
  }
  if (!socket.destroyed) socket.end()
  await closed
  return heard
}

const statusesIn = (heard: string): string[] =>
  [...heard.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1]!)

const HOST = 'Host: 127.0.0.1\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'

test('a request that was refused before its body, and then breaks off, gets no second response', async () => {
  const refused = `POST /v1/customers HTTP/1.1\r\n${HOST}${JSON_TYPE}Content-Length: 50\r\n\r\n{"name"`
  // A proxy that shares the connection would take the second for the response to its next request.
  expect(statusesIn(await conversation([refused]))).toEqual(['401'])
})

test('a request that was refused before its malformed body gets no second response', async () => {
  const head = `POST /v1/customers HTTP/1.1\r\n${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`
  expect(statusesIn(await conversation([head, 'not a chunk\r\n\r\n']))).toEqual(['401'])
})

test('a malformed request behind one in flight closes the connection after that response', async () => {
  const heard = await conversation([`GET /health/live HTTP/1.1\r\n${HOST}\r\n\u0000\u0001 no HTTP\r\n\r\n`])
  expect(statusesIn(heard)).toEqual(['200'])
  expect(heard).toContain('"status":"live"')
})

test('a malformed request after a completed response gets 400', async () => {
  const heard = await conversation([`GET /health/live HTTP/1.1\r\n${HOST}\r\n`, 'no HTTP\r\n\r\n'])
  expect(statusesIn(heard)).toEqual(['200', '400'])
  expect(heard).toContain('invalid_payload')
})

test('a malformed body behind requests in flight closes the connection after their responses', async () => {
  const form = `${HOST}Content-Type: application/x-www-form-urlencoded\r\n`
  const first = `POST /v1/oauth/token HTTP/1.1\r\n${form}X-App-Id: x\r\nX-App-Token: y\r\nContent-Length: 4\r\n\r\na=bc`
  const broken = `POST /v1/oauth/token HTTP/1.1\r\n${form}Transfer-Encoding: chunked\r\n\r\nzz\r\n`
  const heard = await conversation([first + broken])
  expect(statusesIn(heard)).toEqual(['401'])
  const third = await conversation([`GET /health/live HTTP/1.1\r\n${HOST}\r\n${first}${broken}`])
  expect(statusesIn(third)).toEqual(['200', '401'])
})

test('a body that breaks off gets one response, 400', async () => {
  const form = 'Content-Type: application/x-www-form-urlencoded\r\n'
  const heard = await conversation([
    `POST /v1/oauth/token HTTP/1.1\r\n${HOST}${form}Content-Length: 50\r\n\r\ngrant_type`,
  ])
  expect(statusesIn(heard)).toEqual(['400'])
})
