import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { SupervisorLink } from '../../src/platform/http-processes/index.ts'
import { makeHome, type Running, runBinary, sampleKeyIn, serveBinary } from '../binary.ts'
import { childrenOf, isAlive } from '../child-processes.ts'
import { eachEngine } from '../engines.ts'
import { halfRequest, refuses } from '../half-request.ts'
import { connectToEveryProcess, type KeepAliveClient } from '../keep-alive-client.ts'
import { startReceiver } from '../receiver.ts'
import { redemptionData } from '../reported-redemption.ts'
import { clientOf, OPERATOR, type Pair, send, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const PROCESSES = 2
const SETTINGS = {
  JETON_WORKERS: String(PROCESSES),
  JETON_MANAGEMENT_ID: OPERATOR.id,
  JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  JETON_SAMPLE: 'off',
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const headersOf = ({ appId, appToken }: Pair) => ({ ...FORM, 'x-app-id': appId, 'x-app-token': appToken })
const issueOf = (pair: Pair) => ({
  method: 'POST',
  path: '/v1/oauth/token',
  headers: headersOf(pair),
  body: 'grant_type=client_credentials&scope=vouchers',
})
const introspectOf = (pair: Pair, token: string) => ({
  method: 'POST',
  path: '/v1/oauth/introspect',
  headers: headersOf(pair),
  body: `token=${token}`,
})

const value = (metrics: string, series: string): number =>
  Number(
    metrics
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')
      .at(-1),
  )

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function newHome(): string {
  const { folder, remove } = makeHome()
  cleanUps.push(remove)
  return folder
}

const killedAtTheEnd = <R extends Running>(running: R): R => {
  cleanUps.push(() => running.stop('SIGKILL'))
  return running
}

const everyProcess = (connections: ReadonlyMap<number, readonly KeepAliveClient[]>): KeepAliveClient[] =>
  [...connections.values()].map((own) => own[0]!)

function closeAll(connections: ReadonlyMap<number, readonly KeepAliveClient[]>): void {
  for (const connection of [...connections.values()].flat()) connection.close()
}

eachEngine((engine) => {
  const start = async (env: Readonly<Record<string, string>> = {}) =>
    killedAtTheEnd(
      await serveBinary({ home: newHome(), env: { ...SETTINGS, ...(await engine.settings()), ...env } }),
    )

  describe('two HTTP processes on one port', () => {
    const home = makeHome()
    let running: Running & { url: string }
    let connections: Map<number, KeepAliveClient[]>
    let client: ReturnType<typeof clientOf>

    beforeAll(async () => {
      const env = { ...SETTINGS, ...(await engine.settings()) }
      running = await serveBinary({ home: home.folder, env })
      client = clientOf(running.url)
      connections = await connectToEveryProcess(running.url, { processes: PROCESSES, each: 8 })
    })
    afterAll(async () => {
      closeAll(connections)
      await running.stop('SIGKILL')
      home.remove()
    })

    test('two HTTP processes issue exactly 1,000 tokens for 1,500 concurrent requests', async () => {
      const project = await client.project('Crowded')
      const key = await client.key(project.id)
      const asking = [...connections.values()].flatMap((own) => own.slice(0, 8))
      const statuses: number[] = []
      let left = 1_500
      async function keepAsking(connection: KeepAliveClient): Promise<void> {
        while (left-- > 0) statuses.push((await connection.request(issueOf(key))).status)
      }
      await Promise.all(asking.map(keepAsking))
      const count = (status: number) => statuses.filter((one) => one === status).length
      expect([count(200), count(429)]).toEqual([1_000, 500])
      const { body } = await client.manage('GET', `/projects/${project.id}`)
      expect(body.active_tokens).toBe(1_000)
    })

    test('an HTTP process knows the tokens and blocks of the other', async () => {
      const project = await client.project('Blocked')
      const [key, asker] = [await client.key(project.id), await client.key(project.id)]
      const [first, second] = everyProcess(connections) as [KeepAliveClient, KeepAliveClient]
      for (const [blocking, other] of [
        [first, second],
        [second, first],
      ] as const) {
        const issued = await blocking.request(issueOf(key))
        const token = JSON.parse(issued.text).access_token
        const isActive = async (connection: KeepAliveClient) =>
          JSON.parse((await connection.request(introspectOf(asker, token))).text).active
        expect([await isActive(blocking), await isActive(other)]).toEqual([true, true])
        const operator = { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }
        const path = `/management/v1${key.path}`
        await blocking.request({ method: 'POST', path: `${path}/block`, headers: operator })
        expect(await isActive(blocking)).toBe(false)
        await expect.poll(() => isActive(other), { interval: 20 }).toBe(false)
        await blocking.request({ method: 'POST', path: `${path}/unblock`, headers: operator })
      }
    })

    test('every HTTP process returns the metrics of all', async () => {
      const count = async (connection: KeepAliveClient) => {
        const { text } = await connection.request({ path: '/metrics' })
        return [value(text, 'jeton_workers'), text.match(/^# TYPE jeton_workers gauge$/gm)?.length]
      }
      for (const connection of everyProcess(connections))
        expect(await count(connection)).toEqual([PROCESSES, 1])
    })

    test('two HTTP processes send each event once, whichever of them wrote it', async () => {
      const receiver = await startReceiver()
      cleanUps.push(() => receiver.close())
      const project = await client.project('Told once')
      const { appId, appToken } = await client.key(project.id)
      const hook = { target_url: receiver.url, events: ['customer.reward_redemptions.completed'] }
      expect((await client.manage('POST', `/projects/${project.id}/webhooks`, hook)).status).toBe(201)
      const headers = { 'content-type': 'application/json', 'x-app-id': appId, 'x-app-token': appToken }
      const asking = [...connections.values()].flatMap((own) => own.slice(0, 8))
      const reported = asking.flatMap((connection, n) =>
        Array.from({ length: 25 }, async (_, i) => {
          const body = JSON.stringify({ source_id: `${n}.${i}`, data: redemptionData() })
          const answer = await connection.request({
            method: 'POST',
            path: '/v1/redemptions/rewards',
            headers,
            body,
          })
          return JSON.parse(answer.text).event_id as string
        }),
      )
      const events = await Promise.all(reported)
      await receiver.receivedAtLeast(events.length)
      const delivered = async () =>
        (await client.manage('GET', `/projects/${project.id}/deliveries?status=delivered`)).body.total
      await expect.poll(delivered).toBe(events.length)
      const sent = receiver.received.map(({ payload }) => payload.event.id)
      expect(sent.sort()).toEqual(events.sort())
    })

    test('a killed HTTP process is replaced, and no request to the other fails', async () => {
      const key = await client.key((await client.project('Killed')).id)
      const token = (await client.issue(key)).body.access_token
      const [killed, spared] = [...connections.keys()] as [number, number]
      const before = value((await send(`${running.url}/metrics`)).text, 'jeton_token_cache_hits_total')
      const faults: unknown[] = []
      let going = true
      const asking = connections.get(spared)!.map(async (connection) => {
        while (going) {
          const { status, text } = await connection.request(introspectOf(key, token)).catch((error) => error)
          if (status !== 200 || JSON.parse(text).active !== true) faults.push([status, text])
        }
      })
      process.kill(killed, 'SIGKILL')
      await expect.poll(() => isAlive(killed)).toBe(false)
      for (const connection of connections.get(killed)!) connection.close()
      const replaced = () => childrenOf(running).length === PROCESSES && !childrenOf(running).includes(killed)
      await expect.poll(replaced).toBe(true)
      // The new one serves as well.
      const successor = childrenOf(running).find((pid) => pid !== spared)!
      const fresh = async () =>
        (await connectToEveryProcess(running.url, { processes: 2, each: 1 })).has(successor)
      await expect.poll(() => fresh().catch(() => false)).toBe(true)
      going = false
      await Promise.all(asking)
      expect(faults).toEqual([])
      const { text } = await send(`${running.url}/metrics`)
      expect([value(text, 'jeton_workers'), value(text, 'jeton_workers_replaced_total')]).toEqual([
        PROCESSES,
        1,
      ])
      expect(value(text, 'jeton_token_cache_hits_total')).toBeGreaterThanOrEqual(before)
      expect(running.stdout()).toMatch(
        new RegExp(`"pid":${killed},"signal":"SIGKILL".*"msg":"an HTTP process ended"`),
      )
    })
  })

  test('a start with several HTTP processes migrates once, creates one operator, reports once, and listens on the same ports in each', async () => {
    const { env } = await engine.emptyStore()
    const running = await start({ ...env, JETON_MANAGEMENT_PORT: '0', JETON_HOST: '127.0.0.2' })
    await running.printed(engine.name === 'SQLite' ? /Ctrl-C/ : /JETON_PUBLIC_URL/)
    expect(running.stdout().match(/ready/g)).toHaveLength(1)
    if (engine.name === 'PostgreSQL') {
      const ready = JSON.parse(running.stdout().split('\n')[0]!)
      expect([ready.msg, ready.applied_now, ready.processes]).toEqual(['ready', ready.migrations, PROCESSES])
    } else expect(running.stdout()).toContain(`workers     ${PROCESSES} HTTP processes on one port`)
    const connections = await connectToEveryProcess(running.url, { processes: PROCESSES, each: 1 })
    cleanUps.push(() => closeAll(connections))
    for (const connection of everyProcess(connections)) {
      expect((await connection.request({ path: '/health/ready' })).status).toBe(200)
      expect((await connection.request({ path: '/management/v1/projects' })).status).toBe(404)
    }
    const managementUrl = /(?:reference {3}|"management_url":")(http:[\d./:]+:\d+)/.exec(
      running.stdout(),
    )![1]!
    const managing = await connectToEveryProcess(managementUrl, { processes: PROCESSES, each: 1 })
    cleanUps.push(() => closeAll(managing))
    expect([...managing.keys()].sort()).toEqual([...connections.keys()].sort())
    const { body } = await clientOf(managementUrl).manage('GET', '/audit-log?action=operator.created')
    expect(body.total).toBe(1)
  })

  test('SIGTERM waits for a request that has begun to arrive in any HTTP process, and a second SIGTERM does not', async () => {
    const running = await start()
    const connections = await connectToEveryProcess(running.url, { processes: PROCESSES, each: 1 })
    const processes = childrenOf(running)
    closeAll(connections)
    const open = await Promise.all(Array.from({ length: 8 }, () => halfRequest(running.url)))
    // A process that responds on a later connection has accepted the earlier ones.
    closeAll(await connectToEveryProcess(running.url, { processes: PROCESSES, each: 1 }))
    running.child.kill('SIGTERM')
    await expect.poll(() => refuses(running.url)).toBe(true)
    expect(processes.map(isAlive)).toEqual([true, true])
    const answers = open.slice(0, 4).map(({ finish }) => finish())
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(1)
    await expect.poll(() => processes.map(isAlive)).toEqual([false, false])
    for (const { socket } of open) socket.destroy()
  })

  test('HTTP processes end when their primary is killed, and free the port', async () => {
    const running = await start()
    const processes = childrenOf(running)
    expect(processes.map(isAlive)).toEqual([true, true])
    await running.stop('SIGKILL')
    await expect.poll(() => processes.map(isAlive)).toEqual([false, false])
    expect(await refuses(running.url)).toBe(true)
  })
})

/** The links of two processes to a supervisor that only relays notifications. */
function linkedPair(): [SupervisorLink, SupervisorLink] {
  const heards: ((topic: string) => void)[][] = [[], []]
  const link = (own: number): SupervisorLink => ({
    notifications: {
      send(topic) {
        for (const heard of heards[1 - own]!) heard(topic)
      },
      onReceived: (heard) => void heards[own]!.push(heard),
    },
    ready: () => undefined,
    totalText: async () => undefined,
    reportMetrics: () => undefined,
    onStop: () => undefined,
  })
  return [link(0), link(1)]
}

test('HTTP processes on SQLite notify each other of a change without delay', async () => {
  const { folder, remove } = makeHome()
  const env = { JETON_DATA_DIR: folder }
  const services = []
  for (const supervisorLink of linkedPair())
    services.push(await startService(env, { clock: new TestClock(), supervisorLink }))
  const [a, b] = services as [TestService, TestService]
  const project = await a.project('Told')
  const [key, asker] = [await a.key(project.id), await a.key(project.id)]
  const token = (await a.issue(key)).body.access_token
  expect((await b.introspect(asker, token)).body.active).toBe(true)
  await a.manage('POST', `${key.path}/block`)
  await expect.poll(async () => (await b.introspect(asker, token)).body).toEqual({ active: false })
  // Without the supervisor no process knows the total, and a part must not be shown as the total.
  expect((await send(`${b.url}/metrics`)).status).toBe(503)
  await Promise.all([a.stop(), b.stop()])
  remove()
})

test('the secret of a first start is created once, and every HTTP process accepts it', async () => {
  const running = killedAtTheEnd(await serveBinary({ home: newHome(), env: { JETON_WORKERS: '2' } }))
  await running.printed(/Ctrl-C/)
  expect(running.stdout().match(/its secret/g)).toHaveLength(1)
  const pair = sampleKeyIn(running.stdout())
  const connections = await connectToEveryProcess(running.url, { processes: 2, each: 1 })
  for (const connection of everyProcess(connections)) {
    expect((await connection.request(issueOf(pair))).status).toBe(200)
    connection.close()
  }
  expect(await running.stop()).toBe(0)
  expect(running.stderr()).toBe('')
})

test.each([
  ['one process', '1', ['2']],
  ['several processes', '2', ['1', '2']],
])(
  'a port on which a Jeton with %s listens is refused, also to a Jeton with several',
  async (_, processes, others) => {
    const running = killedAtTheEnd(await serveBinary({ home: newHome(), env: { JETON_WORKERS: processes } }))
    await running.printed(/Ctrl-C/)
    const { port } = new URL(running.url)
    for (const second of others) {
      const failed = killedAtTheEnd(
        runBinary({ home: newHome(), env: { JETON_PORT: port, JETON_WORKERS: second } }),
      )
      expect(await failed.ended).toBe(78)
      expect(failed.stdout()).toBe('')
      expect(failed.stderr()).toMatch(
        new RegExp(
          `^Port ${port} is taken by pid \\d+ \\(.+\\)\\. Use another: JETON_PORT=\\d+ npm start\\n$`,
        ),
      )
    }
  },
  60_000,
)
