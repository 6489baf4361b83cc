import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { backUp } from '../../src/app/back-up.ts'
import { contentsOf } from '../../src/app/restore.ts'
import { startWorker } from '../../src/app/worker.ts'
import { listProcesses } from '../../src/features/processes/process.store.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { newFolder } from '../command-line.ts'
import { eachEngine, type TestEngine } from '../engines.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { type MultiProcess, type ServiceProcess, startProcesses } from '../multi-process.ts'
import { type Client, silentLog, startService } from '../service.ts'
import { startTimedService } from '../timed-service.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const processesOf = async ({ manage }: Client) => (await manage('GET', '/processes?limit=100')).body.data

/** Moves the time of the store and of some processes, while others are frozen. */
function timeOf(multiProcess: MultiProcess) {
  let movedMs = 0
  return {
    movedMs: () => movedMs,
    async advance(moving: readonly ServiceProcess[], ms: number): Promise<void> {
      await Promise.all(moving.map((process) => process.send({ kind: 'advance', ms })))
      movedMs += ms
      await multiProcess.setStoreTime(multiProcess.now() + movedMs)
    },
  }
}

/** Keeps the time moving until the request is answered. */
async function advanceUntil<T>(answer: Promise<T>, step: () => Promise<void>): Promise<T> {
  let isOver = false
  const done = answer.finally(() => (isOver = true))
  while (!isOver) await step()
  return done
}

/** A process and how to cut it off from its store: with PostgreSQL the connection is cut, with SQLite the process is frozen. */
async function startSeverable(engine: TestEngine, multiProcess: MultiProcess) {
  const url = multiProcess.store.env.JETON_DATABASE_URL
  if (engine.name === 'SQLite' || url === undefined) {
    const process = await multiProcess.start()
    return {
      process,
      canAnswer: false,
      cutOff: () => void process.child.kill('SIGSTOP'),
      restore: () => void process.child.kill('SIGCONT'),
    }
  }
  const through = new URL(url)
  const proxy = await startTcpProxy({ port: Number(through.port) })
  cleanUps.push(() => proxy.close())
  through.port = String(proxy.port)
  // An hour ahead: confirmation does not depend on the clock of any machine.
  const process = await multiProcess.start({
    clockAheadMs: 3_600_000,
    env: { JETON_DATABASE_URL: through.href },
  })
  return {
    process,
    canAnswer: true,
    cutOff() {
      proxy.setNetwork('refusing')
      proxy.cut()
    },
    restore: () => proxy.setNetwork('normal'),
  }
}

eachEngine((engine) => {
  test('blocking a key with wait_ms counts the processes that apply it, and not the one that is cut off from the store', async () => {
    const multiProcess = await startProcesses(engine, 2)
    cleanUps.push(() => multiProcess.close())
    const time = timeOf(multiProcess)
    const [first, second] = multiProcess.processes as [ServiceProcess, ServiceProcess]
    const third = await startSeverable(engine, multiProcess)
    const project = await first.project('Club')
    const [key, asker] = [await first.key(project.id), await first.key(project.id)]
    const token = (await first.issue(key)).body.access_token
    const activeAt = async (process: Client) => (await process.introspect(asker, token)).body.active
    for (const process of [first, second, third.process]) expect(await activeAt(process)).toBe(true)
    const block = async (waitMs: number) =>
      (await first.manage('POST', `${key.path}/block?wait_ms=${waitMs}`)).body.propagation
    const connected = [first, second]

    third.cutOff()
    expect((await block(0)).processes).toBe(3)
    await time.advance(connected, 1_000)
    await expect.poll(async () => (await block(0)).confirmed, { timeout: 15_000 }).toBe(2)
    expect(await activeAt(second)).toBe(false)
    if (third.canAnswer) expect(await activeAt(third.process)).toBe(true)
    const waited = await advanceUntil(block(3_000), () => time.advance(connected, 100))
    expect(waited).toMatchObject({ processes: 3, confirmed: 2, after_ms: expect.any(Number) })
    const missing = waited.by_process.filter(({ after_ms }: { after_ms: number | null }) => after_ms === null)
    expect(missing.map(({ pid }: { pid: number }) => pid)).toEqual([third.process.child.pid])
    expect(waited.after_ms).toBeGreaterThanOrEqual(3_000)

    third.restore()
    await third.process.send({ kind: 'advance', ms: time.movedMs() })
    const confirmed = async () => {
      await time.advance([...connected, third.process], 1_000)
      return (await block(0)).confirmed
    }
    await expect.poll(confirmed, { timeout: 15_000 }).toBe(3)
    expect(await activeAt(third.process)).toBe(false)
  }, 60_000)

  test('a change with wait_ms is answered as soon as every process applies it, and says after how long', async () => {
    const env = await engine.settings()
    const services = [
      await startService(env, { clock: systemClock }),
      await startService(env, { clock: systemClock }),
    ] as const
    for (const service of services) cleanUps.push(() => service.stop())
    const [first, second] = services
    const key = await first.key((await first.project('Club')).id)
    const changes: [string, string, unknown?][] = [
      ['POST', '/block'],
      ['POST', '/unblock'],
      ['POST', '/revoke-tokens'],
      ['PATCH', '', { permissions: ['vouchers'] }],
    ]
    for (const [method, verb, body] of changes) {
      const { status, body: changed } = await first.manage(method, `${key.path}${verb}?wait_ms=5000`, body)
      expect([verb, status, changed.propagation]).toEqual([
        verb,
        200,
        { processes: 2, confirmed: 2, after_ms: expect.any(Number), by_process: expect.any(Array) },
      ])
      const each: { id: string; after_ms: number }[] = changed.propagation.by_process
      const listed = (await processesOf(first)).map(({ id }: { id: string }) => id)
      expect(each.map(({ id }) => id).sort()).toEqual(listed.sort())
      // The process that answers comes first.
      expect(each.map(({ after_ms }) => after_ms)).toEqual([0, changed.propagation.after_ms])
      expect(changed.propagation.after_ms).toBeLessThan(5_000)
      // So that the second process has the key in its cache.
      if (verb === '/unblock') expect((await second.issue(key)).status).toBe(200)
    }
    expect(second.service.tokenCache.getKey(key.id)!.permissions).toEqual(['vouchers'])
    const { status, body } = await first.manage('POST', `${key.path}/block?wait_ms=5001`)
    expect([status, body.key]).toEqual([400, 'invalid_payload'])
  }, 60_000)

  test('a killed process is listed for 30 s after its last heartbeat, and counts as unconfirmed until it can no longer answer', async () => {
    const multiProcess = await startProcesses(engine, 2)
    cleanUps.push(() => multiProcess.close())
    const { advance } = timeOf(multiProcess)
    const [first, second] = multiProcess.processes as [ServiceProcess, ServiceProcess]
    const key = await first.key((await first.project('Club')).id)
    const pids = async () => (await processesOf(first)).map(({ pid }: { pid: number }) => pid)
    const propagation = async () => (await first.manage('POST', `${key.path}/block`)).body.propagation
    expect(new Set(await pids())).toEqual(new Set([first.child.pid, second.child.pid]))

    const gone = once(second.child, 'exit')
    second.child.kill('SIGKILL')
    await gone
    await advance([first], 29_999)
    expect(await pids()).toContain(second.child.pid)
    await advance([first], 1)
    expect(await pids()).not.toContain(second.child.pid)
    expect(await propagation()).toMatchObject({ processes: 2, confirmed: 1 })
    await advance([first], 5_000)
    expect(await propagation()).toMatchObject({ processes: 1, confirmed: 1 })
  }, 60_000)

  test('a process that stops is no longer listed, and a worker is listed but never waited for', async () => {
    const env = { ...(await engine.settings()), JETON_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
    const service = await startService(env, { clock: systemClock, worker: false })
    cleanUps.push(() => service.stop())
    const other = await startService(env, { clock: systemClock })
    const worker = await startWorker({ config: readConfig(env), clock: systemClock, log: silentLog() })
    const roles = async () => (await processesOf(service)).map(({ role }: { role: string }) => role).sort()
    await expect.poll(roles).toEqual(['both', 'http', 'worker'])
    const key = await service.key((await service.project('Club')).id)
    const { body } = await service.manage('POST', `${key.path}/block?wait_ms=5000`)
    expect(body.propagation).toMatchObject({ processes: 2, confirmed: 2 })
    const listed = await processesOf(service)
    expect(listed.find(({ role }: { role: string }) => role === 'worker')).toMatchObject({
      object: 'process',
      pid: process.pid,
      key_state_age_ms: null,
      cached_tokens: null,
      cache_hit_rate: null,
    })
    await worker.stop()
    await other.stop()
    expect(await roles()).toEqual(['http'])
  }, 60_000)

  test('a process reports its cache and the age of its key state, which grows while no heartbeat arrives', async () => {
    const service = await startTimedService(engine)
    cleanUps.push(() => service.stop())
    const key = await service.key((await service.project('Club')).id)
    const token = (await service.issue(key)).body.access_token
    for (let i = 0; i < 3; i++) await service.introspect(key, token)
    await service.advance(2_000)
    await expect
      .poll(async () => (await processesOf(service))[0])
      .toMatchObject({
        role: 'both',
        cached_tokens: 1,
        cache_hit_rate: 1,
        rss_bytes: expect.any(Number),
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      })
    const before = (await processesOf(service))[0]
    await service.jump(10_000)
    const after = (await processesOf(service))[0]
    expect(after.seen_at).toBe(before.seen_at)
    expect(after.key_state_age_ms - before.key_state_age_ms).toBe(10_000)
  })

  test('the reason of a block is in the audit log, without credentials in it, and is at most 200 characters long', async () => {
    const service = await startService(await engine.settings(), { clock: systemClock })
    cleanUps.push(() => service.stop())
    const project = await service.project('Club')
    const key = await service.key(project.id)
    const block = (reason: string) => service.manage('POST', `${key.path}/block`, { reason })
    expect((await block('x'.repeat(201))).status).toBe(400)
    expect((await block(' ')).status).toBe(400)
    expect((await block(`leaked: ${key.appToken}`)).body.state).toBe('blocked')
    const { body } = await service.manage('GET', `/projects/${project.id}/audit-log?action=api_key.blocked`)
    expect(body.data).toHaveLength(1)
    expect(body.data[0].after).toMatchObject({ state: 'blocked', reason: 'leaked: jta_•••' })
  })

  test('a store that lists processes and holds nothing else is empty for a restore', async () => {
    const store = await engine.freshStore()
    const env = { ...store.env, JETON_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
    const worker = await startWorker({ config: readConfig(env), clock: systemClock, log: silentLog() })
    cleanUps.push(() => worker.stop())
    const db = await store.open()
    const listed = async () => listProcesses(db, { now: await db.now(), withinMs: 30_000 })
    await expect.poll(async () => (await listed()).length).toBe(1)
    expect(await contentsOf(db)).toEqual([])
  })

  test('a backup holds neither processes nor what they have read', async () => {
    const store = await engine.freshStore()
    const service = await startService(store.env, { clock: systemClock })
    cleanUps.push(() => service.stop())
    expect(await processesOf(service)).toHaveLength(1)
    const file = join(newFolder('processes'), 'a.backup')
    const { tables } = await backUp(await store.open(), { file, now: Date.now() })
    expect([...tables.keys()].filter((name) => ['processes', 'key_state'].includes(name))).toEqual([])
    expect(tables.has('api_keys')).toBe(true)
  })
})
