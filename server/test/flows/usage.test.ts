import { afterAll, beforeAll, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { OPERATOR, send, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const HOUR_MS = 60 * 60_000

interface Series {
  key: string | null
  total: number | null
  points: [number, number | null][]
}

eachEngine((engine) => {
  const clock = new TestClock(Date.UTC(2026, 0, 15, 12))
  const services: TestService[] = []
  let project: { id: string }

  let env: Readonly<Record<string, string>>

  beforeAll(async () => {
    env = await engine.settings()
    for (let i = 0; i < 3; i++) services.push(await startService(env, { clock, worker: false }))
    project = await services[0]!.project('Club')
  })
  afterAll(() => Promise.all(services.map((service) => service.stop())))

  async function usage(query: string): Promise<{ series: Series[]; total: number | null; step: string }> {
    for (const service of services) await service.manage('GET', `/projects/${project.id}/usage?metric=calls`)
    const { status, body } = await services[0]!.manage('GET', `/projects/${project.id}/usage?${query}`)
    expect([status, body.object], JSON.stringify(body)).toEqual([200, 'usage'])
    return body
  }
  const totals = ({ series }: { series: Series[] }) =>
    Object.fromEntries(series.map(({ key, total }) => [key ?? 'all', total]))

  test('usage of three processes equals what the clients counted, by key and by reason', async () => {
    const [reader, writer] = [
      await services[0]!.key(project.id, { name: 'reader', permissions: ['vouchers'] }),
      await services[0]!.key(project.id, { name: 'writer', permissions: ['vouchers'] }),
    ]
    const counted = { issued: 0, introspected: 0, allowed: 0, refused: 0 }
    for (let i = 0; i < 120; i++) {
      const service = services[i % 3]!
      const key = i % 4 === 0 ? writer : reader
      const issued = await service.issue(key)
      expect(issued.status).toBe(200)
      counted.issued++
      const token = issued.body.access_token
      await service.introspect(reader, token)
      counted.introspected++
      const authorize = (path: string) =>
        send(`${service.url}/gateway/authorize`, {
          headers: { authorization: `Bearer ${token}`, 'x-original-uri': path },
        })
      expect((await authorize('/v1/vouchers')).status).toBe(200)
      counted.allowed++
      expect((await authorize('/v1/campaigns')).status).toBe(403)
      counted.refused++
      if (i % 40 === 39) await clock.advance(60_000)
    }
    expect((await services[1]!.form('/v1/oauth/token', {}, { ...reader, appToken: 'wrong' })).status).toBe(
      401,
    )
    expect((await services[1]!.issue({ appId: crypto.randomUUID(), appToken: 'x' })).status).toBe(401)

    expect(totals(await usage('metric=tokens_issued&by=key'))).toEqual({ [reader.id]: 90, [writer.id]: 30 })
    const minutes = await usage('metric=tokens_issued&step=minute&from=2026-01-15T12:00:00Z')
    expect(minutes.series[0]!.points.map(([, count]) => count)).toEqual([40, 40, 40])
    expect(minutes.total).toBe(counted.issued)
    expect(totals(await usage('metric=introspections&by=key'))).toEqual({ [reader.id]: counted.introspected })
    expect(totals(await usage('metric=calls&by=key'))).toEqual({ [reader.id]: 90, [writer.id]: 30 })
    expect((await usage('metric=refusals')).total).toBe(counted.refused + 1)
    expect(totals(await usage('metric=refusals&by=reason'))).toEqual({
      scope_insufficient: counted.refused,
      secret_wrong: 1,
    })
    expect(totals(await usage('metric=refusals&by=key'))).toEqual({ [reader.id]: 91, [writer.id]: 30 })
    const { body } = await services[0]!.manage('GET', '/usage')
    expect(totals(body)).toEqual({ app_id_unknown: 1 })
  })

  test('active tokens are sampled once a minute by one process, and a minute without a sample is null', async () => {
    const { series } = await usage('metric=active_tokens&by=key&step=minute&from=2026-01-15T12:00:00Z')
    expect(series).toHaveLength(2)
    const levels = series.flatMap(({ points }) => points.map(([, level]) => level))
    expect(levels.some((level) => level !== null && level > 0)).toBe(true)
    await clock.advance(10 * 60_000)
    const later = await usage('metric=active_tokens&step=minute&from=2026-01-15T12:00:00Z')
    const project = later.series[0]!.points.map(([, level]) => level)
    expect(Math.max(...project.map((level) => level ?? 0))).toBe(120)
  })

  test('minutes are removed after 48 hours and hours after 90 days', async () => {
    const noon = Date.UTC(2026, 0, 15, 12)
    const range = 'from=2026-01-15T12:00:00Z&to=2026-01-15T13:00:00Z'
    const counts = async (service: TestService) => {
      const total = async (step: string) =>
        (await service.manage('GET', `/projects/${project.id}/usage?metric=calls&step=${step}&${range}`)).body
          .total
      return [await total('minute'), await total('hour')]
    }
    expect(await counts(services[0]!)).toEqual([120, 120])
    for (const [later, expected] of [
      [49 * HOUR_MS, [0, 120]],
      [91 * 24 * HOUR_MS, [0, 0]],
    ] as const) {
      const laterClock = new TestClock(noon + later)
      const service = await startService(env, { clock: laterClock, worker: false })
      await laterClock.advance(20_000)
      await expect.poll(() => counts(service)).toEqual(expected)
      await service.stop()
    }
  })

  test.each([
    ['metric=nothing', /metric/],
    ['metric=calls&by=reason', /cannot be split by reason/],
    ['metric=calls&from=2026-01-15&to=2026-01-14', /from must be before to/],
    ['metric=calls&step=minute&from=2025-01-01', /steps/],
    ['metric=calls&by=key&step=minute', /at most 360 minutes; this range has 1440/],
  ])('the query %s is refused with a sentence that says why', async (query, message) => {
    const { status, body } = await services[0]!.manage('GET', `/projects/${project.id}/usage?${query}`)
    expect(status).toBe(400)
    expect(`${body.message} ${body.details}`).toMatch(message)
  })

  test('usage of a project is for operators alone', async () => {
    const url = `${services[0]!.url}/management/v1/projects/${project.id}/usage?metric=calls`
    expect((await send(url)).status).toBe(401)
    expect((await send(url, { headers: { 'x-management-id': OPERATOR.id } })).status).toBe(401)
  })
})
