import { describe, expect, test } from 'vitest'
import { startWorker } from '../../src/app/worker.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { capturedLog } from '../captured-log.ts'
import { eachEngine } from '../engines.ts'
import { moveUntil, send, silentLog, startService } from '../service.ts'
import { TestClock } from '../test-clock.ts'
import { FAULTS } from '../unwritable-store.ts'

/** More than the time between two probes. */
const PROBED_AGAIN_MS = 5_000

eachEngine((engine) => {
  describe.each(FAULTS[engine.name]!)('with $name', ({ reason, begin, end }) => {
    test('a service that cannot write is not ready, logs the reason of its 503s, and recovers by itself', async () => {
      const store = await engine.freshStore()
      const clock = new TestClock()
      const captured = capturedLog({ level: 'info' })
      const service = await startService(store.env, { clock, log: captured.log, worker: false })
      const { db } = service.service
      const readiness = () => send(`${service.url}/health/ready`)
      const project = await service.project('Club')
      expect((await readiness()).status).toBe(200)

      await begin(store, db)
      await clock.advance(PROBED_AGAIN_MS)
      const create = () => service.manage('POST', `/projects/${project.id}/api-keys`, { name: 'more' })
      let refused = await create()
      // The first writes may fit into pages that exist.
      const createAgain = async () => {
        refused = await create()
        return refused.status
      }
      await expect.poll(createAgain).toBe(503)
      const notReady = await readiness()
      expect([notReady.status, notReady.body.message]).toEqual([503, `Not ready: ${reason}.`])
      expect(notReady.headers.get('retry-after')).toBe('5')
      expect((await send(`${service.url}/health/live`)).status).toBe(200)
      expect((await service.manage('GET', '/projects')).status).toBe(200)
      expect(refused.body.message).toBe(`Jeton cannot write to its store: ${reason}.`)
      const lines = captured
        .text()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      const logged = lines.find(({ request_id }) => request_id === refused.headers.get('x-request-id'))
      expect(logged).toMatchObject({ status: 503, reason: expect.stringMatching(/full|read-?only/) })
      expect(lines.filter(({ msg }) => msg === 'the store accepts no writes')).toHaveLength(1)

      await end?.(store, db)
      expect((await readiness()).status).toBe(503)
      await expect
        .poll(async () => {
          await clock.advance(PROBED_AGAIN_MS)
          return (await readiness()).status
        })
        .toBe(end ? 200 : 503)
      if (end) expect((await create()).status).toBe(201)
      await service.stop()
    })
  })

  test('a service notices a read-only store without a write request', async () => {
    const store = await engine.freshStore()
    const clock = new TestClock()
    const service = await startService(store.env, { clock, worker: false })
    const fault = FAULTS[engine.name]!.at(-1)!
    expect((await send(`${service.url}/health/ready`)).status).toBe(200)
    await fault.begin(store, service.service.db)
    await expect
      .poll(async () => {
        await clock.advance(PROBED_AGAIN_MS)
        return (await send(`${service.url}/health/ready`)).status
      })
      .toBe(503)
    await service.stop()
  })

  test('a worker that cannot write is not ready', async () => {
    const store = await engine.freshStore()
    const config = readConfig({
      ...store.env,
      JETON_MANAGEMENT_PORT: '0',
      JETON_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
    })
    const clock = new TestClock()
    const worker = await startWorker({ config, clock, log: silentLog() })
    const fault = FAULTS[engine.name]!.at(-1)!
    expect((await send(`${worker.url}/health/ready`)).status).toBe(200)
    await fault.begin(store, worker.db)
    await expect
      .poll(async () => {
        await clock.advance(PROBED_AGAIN_MS)
        return (await send(`${worker.url}/health/ready`)).body.message
      })
      .toBe(`Not ready: ${fault.reason}.`)
    await moveUntil(clock, worker.stop())
  })
})
