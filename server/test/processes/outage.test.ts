import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { madeUpToken } from '../made-up-token.ts'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { type Answer, type Pair, send, startService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const INACTIVE = '{"active":false}'
/** "Within seconds": the deadline of a statement, and what the network and a busy machine may add. */
const SECONDS_MS = 20_000
const RESUMES_WITHIN_MS = 15_000

async function timed(asking: Promise<Answer>): Promise<Answer & { ms: number }> {
  const began = performance.now()
  const answer = await asking
  return { ...answer, ms: performance.now() - began }
}

describe('while PostgreSQL is down', () => {
  let postgres: PostgresServer
  let env: Record<string, string>

  beforeAll(async () => {
    postgres = await startPostgres()
    env = { JETON_DATABASE_URL: postgres.url() }
  })
  afterAll(() => postgres.remove())

  /** Expects 503 with `Retry-After` and without internals. */
  function expectUnavailable(answer: Answer & { ms: number }): void {
    expect([answer.status, answer.body?.key]).toEqual([503, 'temporarily_unavailable'])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.text).not.toContain('"active"')
    expect(answer.text).not.toMatch(/postgres|ECONN|sql|127\.0\.0\.1:(?!\d+\/docs)/i)
    expect(answer.ms).toBeLessThan(SECONDS_MS)
  }

  test('without PostgreSQL, cached tokens stay active for at most 30 s, others get 503, and none is reported inactive', async () => {
    const clock = new TestClock(Date.now())
    const service = await startService(env, { clock })
    const project = await service.project('Club')
    const [key, stranger] = [await service.key(project.id), await service.key(project.id)]
    const { changeFeed } = service.service
    await changeFeed.pollChanges()
    const token = (await service.issue(key)).body.access_token
    const bearer = { authorization: `Bearer ${token}` }
    const revoked = (await service.issue(key)).body.access_token
    await service.form('/v1/oauth/revoke', { token: revoked }, key)
    expect((await service.introspect(key, token)).body.active).toBe(true)
    await changeFeed.pollChanges()

    await postgres.stop()
    for (let seconds = 0; seconds < 30; seconds += 5) {
      const answer = await service.introspect(key, token)
      expect([answer.status, answer.body.active], `after ${seconds} s`).toEqual([200, true])
      const self = await service.form('/v1/oauth/introspect', { token }, undefined, bearer)
      expect(self.body.active).toBe(true)
      expect((await service.introspect(key, 'malformed')).text).toBe(INACTIVE)
      expect((await service.introspect(key, revoked)).text).toBe(INACTIVE)
      expect((await send(`${service.url}/health/ready`)).status).toBe(200)
      await clock.advance(seconds === 25 ? 4_999 : 5_000)
    }

    // Answers that need the store: unknown tokens, keys that are not cached, secrets that the cache would refuse.
    const made = madeUpToken(project.id)
    expectUnavailable(await timed(service.introspect(key, made)))
    expectUnavailable(await timed(service.introspect(stranger, token)))
    expectUnavailable(await timed(service.issue({ appId: key.appId, appToken: 'perhaps new' })))
    expectUnavailable(await timed(service.issue(key)))
    expectUnavailable(await timed(service.form('/v1/oauth/revoke', { token }, key)))
    expectUnavailable(await timed(service.manage('POST', `${key.path}/block`)))

    await clock.advance(1)
    expectUnavailable(await timed(service.introspect(key, token)))
    expectUnavailable(await timed(service.form('/v1/oauth/introspect', { token }, undefined, bearer)))
    expectUnavailable(await timed(service.introspect(key, made)))
    expect((await send(`${service.url}/health/ready`)).status).toBe(503)
    expect((await send(`${service.url}/health/live`)).status).toBe(200)

    await postgres.start()
    await expect
      .poll(
        () =>
          changeFeed.pollChanges().then(
            () => 'looked',
            () => 'failed',
          ),
        { timeout: RESUMES_WITHIN_MS },
      )
      .toBe('looked')
    expect((await service.introspect(key, token)).body.active).toBe(true)
    expect((await service.introspect(key, revoked)).text).toBe(INACTIVE)
    expect((await send(`${service.url}/health/ready`)).status).toBe(200)
    await service.stop()
  })

  test('a service recovers by itself after a crash of PostgreSQL and loses no acknowledged write', async () => {
    const service = await startService(env, { clock: systemClock })
    const keys = await Promise.all(
      Array.from({ length: 6 }, async (_, i) => service.key((await service.project(`Busy ${i}`)).id)),
    )
    const acknowledged: { key: Pair; token: string }[] = []
    const statuses = new Set<number>()
    let slowestMs = 0
    let firstAfterMs = Number.POSITIVE_INFINITY
    let backAt: number | undefined
    let over = false

    async function work(key: Pair): Promise<void> {
      while (!over) {
        const sentAt = performance.now()
        const answer = await service.issue(key)
        slowestMs = Math.max(slowestMs, performance.now() - sentAt)
        statuses.add(answer.status)
        if (answer.status === 200) {
          acknowledged.push({ key, token: answer.body.access_token })
          if (backAt !== undefined && sentAt > backAt)
            firstAfterMs = Math.min(firstAfterMs, performance.now() - backAt)
        } else await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }

    const working = Promise.all(keys.map(work))
    await expect.poll(() => acknowledged.length).toBeGreaterThan(200)
    await postgres.kill()
    await expect.poll(() => statuses.has(503)).toBe(true)
    const before = acknowledged.length
    await postgres.start()
    backAt = performance.now()
    await expect.poll(() => firstAfterMs, { timeout: RESUMES_WITHIN_MS }).toBeLessThan(RESUMES_WITHIN_MS)
    over = true
    await working

    expect(statuses).toEqual(new Set([200, 503]))
    expect(slowestMs).toBeLessThan(SECONDS_MS)
    expect(acknowledged.length).toBeGreaterThan(before)
    // A process without a cache must find every one of them in the store.
    const fresh = await startService(env, { clock: systemClock })
    const verdicts = await Promise.all(
      acknowledged.map(async ({ key, token }) => (await fresh.introspect(key, token)).body.active),
    )
    expect(verdicts.filter((active) => active !== true)).toEqual([])
    await Promise.all([service.stop(), fresh.stop()])
  })
})
