import { afterAll, beforeAll, expect, test } from 'vitest'
import { callApi, type Session } from '../../src/cli/call-api.ts'
import { openDemo } from '../../src/cli/demo/demo-project.ts'
import { DemoTraffic } from '../../src/cli/demo/demo-traffic.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { jeton, newFolder, startJeton } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'
import { startTimedService } from '../timed-service.ts'

const ENV = { JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') }
const POLLING = { timeout: 20_000, interval: 100 }

eachEngine((engine) => {
  let service: TestService
  beforeAll(async () => {
    const settings = { ...(await engine.settings()), ...ENV, JETON_WEBHOOK_ALLOW: '127.0.0.0/8' }
    service = await startService(settings, { clock: systemClock })
  })
  afterAll(() => service.stop())

  const surroundings = () => ({
    env: {
      JETON_URL: service.url,
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
      XDG_CONFIG_HOME: newFolder('demo'),
    },
  })
  const remove = () => jeton(['demo', '--remove'], surroundings())
  const list = async (path: string): Promise<Record<string, never>[]> =>
    (await service.manage('GET', `${path}${path.includes('?') ? '&' : '?'}limit=100`)).body.data
  const projects = async () => (await list('/projects')).map(({ id, name }) => ({ id, name }))
  const valuesOf = async (path: string, field: string) => new Set((await list(path)).map((row) => row[field]))

  test('jeton demo fills its project with traffic of every kind, goes on after a stop, and is removed', async () => {
    const first = startJeton(['demo'], surroundings())
    const [, id] = await first.printed(/^Project "Demo" \((proj_\w+)\): 6 API keys, 12 customers/)
    await expect
      .poll(() => valuesOf(`/projects/${id}/deliveries`, 'status'), POLLING)
      .toEqual(new Set(['delivered', 'pending', 'held']))
    await expect
      .poll(() => valuesOf(`/projects/${id}/refusals`, 'step'), POLLING)
      .toEqual(
        new Set(['scope_insufficient', 'address_not_allowed', 'key_blocked', 'key_limit', 'secret_wrong']),
      )
    const stopped = await first.stop()
    expect(stopped.code).toBe(0)
    expect(stopped.out).toMatch(
      /\n0:\d\d {2}\d+ tokens {2}\d+ introspections {2}\d+ calls {2}\d+ redemptions/,
    )
    expect(stopped.out).toContain('jeton demo --remove')
    const counts = async () => {
      const { length } = await list(`/projects/${id}/events`)
      const keys = await list(`/projects/${id}/api-keys`)
      return { events: length, keys: keys.length, webhooks: (await list(`/projects/${id}/webhooks`)).length }
    }
    const before = await counts()
    expect(before).toMatchObject({ keys: 6, webhooks: 3 })

    const second = startJeton(['demo'], { ...surroundings(), isTTY: true })
    await second.printed(/\r.*[1-9]\d* redemptions/)
    expect((await second.stop()).code).toBe(0)
    expect(await projects()).toEqual([{ id, name: 'Demo' }])
    const after = await counts()
    expect(after).toEqual({ ...before, events: expect.any(Number) })
    expect(after.events).toBeGreaterThan(before.events)

    expect(await remove()).toMatchObject({ code: 0, err: 'Removed project "Demo".\n' })
    expect(await projects()).toEqual([])
    expect(await remove()).toMatchObject({ code: 0, err: 'There is no project "Demo".\n' })
  })

  test('jeton demo ends with a reason when its project is removed meanwhile', async () => {
    const running = startJeton(['demo'], surroundings())
    await running.printed(/Ctrl-C/)
    expect((await remove()).code).toBe(0)
    const { code, err } = await running.ended
    expect([code, err]).toEqual([1, expect.stringContaining('no longer work: it was removed')])
  })

  test('jeton demo uses tokens that are still active, so that calls are refused for their scope and not for their age', async () => {
    const own = await startTimedService(engine, { env: ENV, worker: false })
    const connection = { url: own.url, apiUrl: own.url, credential: () => ({ ...OPERATOR, from: 'here' }) }
    const session = { connection, call: (request) => callApi(connection as never, request) } as Session
    const project = await openDemo(session, 'http://127.0.0.1:9/hook')
    const traffic = new DemoTraffic(session, project)
    for (let step = 0; step < 60; step++) {
      if (step % 20 === 0) await own.jump(16 * 60_000)
      await traffic.step(step)
    }
    const { body } = await own.manage('GET', `/projects/${project.id}/refusals?limit=100`)
    const steps = body.data.map(({ step }: { step: string }) => step)
    expect(steps).toContain('scope_insufficient')
    expect(steps).not.toContain('bearer_inactive')
    await own.stop()
  })

  test('jeton demo neither changes nor deletes a project Demo of somebody else', async () => {
    const { id } = await service.project('Demo')
    await service.key(id, { name: 'mine' })
    for (const flags of [[], ['--remove']]) {
      const { code, err } = await jeton(['demo', ...flags], surroundings())
      expect([code, err]).toEqual([1, expect.stringContaining(`jeton project update ${id} --name`)])
    }
    expect(await list(`/projects/${id}/api-keys`)).toMatchObject([{ name: 'mine' }])
    await service.manage('DELETE', `/projects/${id}`, { name: 'Demo' })
  })
})

test('jeton demo says how to receive events where the server sends only to public addresses', async () => {
  const service = await startService({ JETON_DATA_DIR: newFolder('demo') }, { clock: systemClock })
  const env = {
    JETON_URL: service.url,
    JETON_MANAGEMENT_ID: OPERATOR.id,
    JETON_MANAGEMENT_TOKEN: OPERATOR.token,
    XDG_CONFIG_HOME: newFolder('demo'),
  }
  const running = startJeton(['demo'], { env })
  await running.printed(/JETON_WEBHOOK_ALLOW=127\.0\.0\.0\/8 npm start/)
  expect((await running.stop()).code).toBe(0)
  await service.stop()
})
