import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { makeHome, type Running, serveBinary } from '../binary.ts'
import { eachEngine } from '../engines.ts'
import { clientOf, OPERATOR, startService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const CLIENTS = 50
/** Kept connections would stay open for more than a minute. */
const WITHIN_MS = 30_000
/** After SIGTERM, requests on open connections are served for this long. */
const GRACE_MS = 300

/** One request on a kept connection. `reused` is true if the connection had a response before. */
function post(agent: Agent, url: string, headers: Record<string, string>, fields: Record<string, string>) {
  return new Promise<{ status: number; text: string; closes: boolean }>((resolve, reject) => {
    const body = new URLSearchParams(fields).toString()
    const type = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(body.length),
    }
    const sent = request(url, { method: 'POST', agent, headers: { ...headers, ...type } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        // A truncated response would have ended without being complete.
        if (!answer.complete) return reject(new Error('half an answer'))
        resolve({ status: answer.statusCode!, text, closes: answer.headers.connection === 'close' })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

eachEngine((engine) => {
  const cleanUps: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  async function serve(env: Readonly<Record<string, string>>): Promise<Running & { url: string }> {
    const { folder, remove } = makeHome()
    const operator = {
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
      JETON_SAMPLE: 'off',
    }
    cleanUps.push(remove)
    const running = await serveBinary({ home: folder, env: { ...operator, ...env } })
    cleanUps.push(() => running.stop('SIGKILL'))
    return running
  }

  test.each(['1', '2'])(
    'after SIGTERM under load with %s HTTP processes every sent request gets a valid response, no acknowledged write is lost, and the exit code is 0',
    async (workers) => {
      const env = { ...(await engine.settings()), JETON_WORKERS: workers }
      const running = await serve(env)
      const client = clientOf(running.url)
      const key = await client.key((await client.project('Busy')).id)
      const pair = { 'x-app-id': key.appId, 'x-app-token': key.appToken }
      const known = (await client.issue(key)).body.access_token
      const issued: string[] = []
      const faults: string[] = []
      let answered = 0
      let terminated = 0

      async function keepAsking(n: number): Promise<void> {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        for (let i = 0; ; i++) {
          const issues = i % 25 === n % 25 && issued.length < 700
          const path = issues ? '/v1/oauth/token' : '/v1/oauth/introspect'
          const fields: Record<string, string> = issues
            ? { grant_type: 'client_credentials', scope: 'vouchers' }
            : { token: known }
          const sentAt = performance.now()
          const answer = await post(agent, running.url + path, pair, fields).catch((error) => error as Error)
          if (answer instanceof Error) {
            // On a busy machine a client may be late by more than the grace period. Its refusal is correct.
            const inTime = terminated === 0 || sentAt < terminated + GRACE_MS
            return void (inTime && faults.push(`${path}: ${answer.message}`))
          }
          answered++
          const body = JSON.parse(answer.text)
          if (answer.status !== 200 || (!issues && body.active !== true))
            faults.push(`${path}: ${answer.status} ${answer.text}`)
          if (issues) issued.push(body.access_token)
          // The server says that this was the last response on this connection.
          if (answer.closes) return agent.destroy()
          if (answered > 1_000 && terminated === 0) {
            terminated = performance.now()
            running.child.kill('SIGTERM')
          }
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, (_, n) => keepAsking(n)))
      expect(await running.ended).toBe(0)
      expect(performance.now() - terminated).toBeLessThan(WITHIN_MS)
      expect(faults).toEqual([])
      expect(answered).toBeGreaterThan(1_000 + CLIENTS / 2)
      expect(issued.length).toBeGreaterThan(20)
      expect(running.stderr()).toBe('')
      expect(running.stdout()).not.toMatch(/"level":"(error|fatal)"/)

      const again = clientOf((await serve(env)).url)
      const verdicts = await Promise.all(
        issued.map(async (token) => (await again.introspect(key, token)).body.active),
      )
      expect(verdicts.every((active) => active)).toBe(true)
      const listed = await again.manage('GET', `${key.path}`)
      expect(listed.body.active_tokens).toBe(issued.length + 1)
      expect(listed.body.last_used_at).not.toBeNull()
    },
    60_000,
  )

  describe('during a shutdown', () => {
    const opened: Socket[] = []
    afterEach(() => {
      for (const socket of opened.splice(0)) socket.destroy()
    })

    /** A service in this process on a clock of its own, and a socket into it. */
    async function start() {
      const clock = new TestClock(Date.now())
      const service = await startService(await engine.settings(), { clock })
      const { hostname, port } = new URL(service.url)
      const open = () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(Number(port), hostname, () => resolve(socket))
          socket.on('error', () => undefined)
          opened.push(socket)
        })
      const refused = () =>
        new Promise<boolean>((resolve) => {
          const socket = connect(Number(port), hostname, () => resolve(false))
          socket.on('error', () => resolve(true))
          opened.push(socket)
        })
      return { clock, service, open, refused }
    }

    test('a shutdown waits for a request that has begun to arrive, and responds to it', async () => {
      const { clock, service, open, refused } = await start()
      const key = await service.key((await service.project('Slow')).id)
      const body = 'grant_type=client_credentials&scope=vouchers'
      const socket = await open()
      const answer = new Promise<string>((resolve) => {
        let text = ''
        socket.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        socket.on('close', () => resolve(text))
      })
      const head = `POST /v1/oauth/token HTTP/1.1\r\nhost: x\r\nx-app-id: ${key.appId}\r\nx-app-token: ${key.appToken}\r\n`
      const type = `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n`
      socket.write(head + type + body.slice(0, 10))
      // Another round trip: by then the first half has arrived.
      await service.manage('GET', '/projects')
      const stopped = service.service.stop()
      await clock.advance(300)
      await expect.poll(refused).toBe(true)
      socket.write(body.slice(10))
      expect(await answer).toMatch(/^HTTP\/1\.1 200 .*"access_token":"jtn_/s)
      await stopped
    })

    test.each([
      ['that never sent anything', ''],
      ['that sent half a head and no more', 'POST /v1/oauth/token HTTP/1.1\r\nhost: x\r\n'],
      [
        'that sent half a body and no more',
        'POST /v1/oauth/token HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\ngrant',
      ],
    ])('a client %s holds it up for seconds, not for ever', async (_, text) => {
      const { clock, service, open } = await start()
      const socket = await open()
      if (text) socket.write(text)
      await service.manage('GET', '/projects')
      let stopped = false
      void service.service.stop().then(() => (stopped = true))
      const began = performance.now()
      await expect
        .poll(
          async () => {
            await clock.advance(1_000)
            return stopped
          },
          { interval: 5 },
        )
        .toBe(true)
      // Only its own clock was moved: the server gives a client 10 s for its headers and 30 s for a request by the real one.
      expect(performance.now() - began).toBeLessThan(9_000)
    })
  })
})
