import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/platform/database/index.ts'
import { type ConcurrentResponse, issueConcurrently, statuses, tokensOf } from '../concurrent-requests.ts'
import { eachEngine } from '../engines.ts'
import { type MultiProcess, startProcesses } from '../multi-process.ts'

interface Tables {
  tokens: { project_id: string; expires_at: number; revoked_at: number | null }
}

const LIFETIME_MS = 900_000

/** The expected `Retry-After` if the oldest token was issued at `issuedAt`. */
const retryAfter = (issuedAt: number, now: number): string =>
  String(Math.ceil((Math.floor(issuedAt / 1000) * 1000 + LIFETIME_MS - now) / 1000))

const refused = (answers: readonly ConcurrentResponse[]) => answers.filter(({ status }) => status !== 200)
const waits = (answers: readonly ConcurrentResponse[]) =>
  new Set(refused(answers).map(({ headers }) => headers['retry-after']))

eachEngine((engine) => {
  let multiProcess: MultiProcess
  let db: Database
  let [a, b]: MultiProcess['processes'] = []

  beforeAll(async () => {
    multiProcess = await startProcesses(engine, 4)
    db = await multiProcess.store.open()
    ;[a, b] = multiProcess.processes
  })
  afterAll(() => multiProcess.close())

  /** Active at the latest time that the store has ever issued at: no clock in use is behind it. */
  async function activeAtLeast(projectId: string): Promise<number> {
    const { latest } = await db
      .read<Tables>()
      .selectFrom('tokens')
      .select((eb) => eb.fn.max('expires_at').as('latest'))
      .executeTakeFirstOrThrow()
    const { active } = await db
      .read<Tables>()
      .selectFrom('tokens')
      .select((eb) => eb.fn.countAll<number>().as('active'))
      .where('project_id', '=', projectId)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', Number(latest) - LIFETIME_MS)
      .executeTakeFirstOrThrow()
    return active
  }

  const shownActive = async (projectId: string): Promise<number> =>
    (await a!.manage('GET', `/projects/${projectId}`)).body.active_tokens

  /** Other processes learn of a change within two seconds. */
  async function spread(): Promise<void> {
    await multiProcess.advance(1_000)
    await Promise.all(multiProcess.processes.map((process) => process.pollChanges()))
  }

  describe('a project', () => {
    test('a project issues exactly 1,000 tokens for 3,000 concurrent requests at four processes, and 1,000 again after 900 s', async () => {
      await multiProcess.advance(350)
      const project = await a!.project('Crowded')
      const key = await a!.key(project.id)
      const issuedAt = multiProcess.now()
      const first = await issueConcurrently(multiProcess.processes, 3_000, key)
      expect(statuses(first)).toEqual({ 200: 1_000, 429: 2_000 })
      expect(new Set(tokensOf(first)).size).toBe(1_000)
      expect(refused(first).every(({ body }) => body.key === 'token_limit_reached')).toBe(true)
      expect(waits(first)).toEqual(new Set([retryAfter(issuedAt, multiProcess.now())]))
      expect(await shownActive(project.id)).toBe(1_000)

      await multiProcess.advance(LIFETIME_MS - 1_000)
      const early = await issueConcurrently(multiProcess.processes, 40, key)
      expect([statuses(early), waits(early)]).toEqual([{ 429: 40 }, new Set(['1'])])

      // The exact millisecond at which the first thousand expires.
      await multiProcess.advance(Math.floor(issuedAt / 1000) * 1000 + LIFETIME_MS - multiProcess.now())
      expect(await shownActive(project.id)).toBe(0)
      const second = await issueConcurrently(multiProcess.processes, 3_000, key)
      expect(statuses(second)).toEqual({ 200: 1_000, 429: 2_000 })
      expect(waits(second)).toEqual(new Set([retryAfter(multiProcess.now(), multiProcess.now())]))
      expect(await shownActive(project.id)).toBe(1_000)
    })

    test('a project never has 1,001 active tokens, however the clocks of its processes differ and jump', async () => {
      const project = await a!.project('Jumping')
      const key = await a!.key(project.id)
      const [minute, hour] = [60_000, 3_600_000]
      const rounds = [
        [0, 0, 0, 0],
        [-hour, 5 * minute, 0, -30],
        [10 * minute, -2 * hour, 700, 5 * minute],
        [0, -hour, -minute, 0],
        [-hour, -hour, 14 * minute, -hour],
      ]
      let granted = 0
      for (const [round, offsets] of rounds.entries()) {
        await Promise.all(
          multiProcess.processes.map((one, i) =>
            one.send({ kind: 'set', now: multiProcess.now() + offsets[i]! }),
          ),
        )
        if (round % 2 === 1) await Promise.all(multiProcess.processes.map((process) => process.pollChanges()))
        const answers = await issueConcurrently(multiProcess.processes, 400, key)
        expect(
          Object.keys(statuses(answers)).filter((status) => status !== '200' && status !== '429'),
        ).toEqual([])
        granted += tokensOf(answers).length
        expect(await activeAtLeast(project.id)).toBeLessThanOrEqual(1_000)
      }
      await Promise.all(
        multiProcess.processes.map((process) => process.send({ kind: 'set', now: multiProcess.now() })),
      )
      // PostgreSQL has the one clock, and no time has passed by it; with SQLite the processes' own clock is the store's.
      if (engine.name === 'PostgreSQL') expect(granted).toBe(1_000)
      expect(granted).toBeGreaterThanOrEqual(1_000)
      await Promise.all(multiProcess.processes.map((process) => process.pollChanges()))
      for (const { manage } of multiProcess.processes)
        expect((await manage('GET', `/projects/${project.id}`)).body.active_tokens).toBeLessThanOrEqual(1_000)
    })
  })

  describe('a key with a limit of its own', () => {
    test('a key with a limit of its own has exactly that many active tokens, and leaves the rest to its project', async () => {
      const project = await a!.project('Careless')
      const careless = await a!.key(project.id, { token_limit: 50 })
      const other = await b!.key(project.id)
      const issuedAt = multiProcess.now()
      const answers = await issueConcurrently(multiProcess.processes, 600, [careless, careless, other])
      const own = answers.filter((_, i) => i % 3 !== 2)
      const others = answers.filter((_, i) => i % 3 === 2)
      expect([statuses(own), statuses(others)]).toEqual([{ 200: 50, 429: 350 }, { 200: 200 }])
      expect(waits(own)).toEqual(new Set([retryAfter(issuedAt, multiProcess.now())]))
      expect(await shownActive(project.id)).toBe(250)

      await multiProcess.advance(LIFETIME_MS)
      const again = await issueConcurrently(multiProcess.processes, 200, careless)
      expect(statuses(again)).toEqual({ 200: 50, 429: 150 })
      expect(waits(again)).toEqual(new Set([retryAfter(multiProcess.now(), multiProcess.now())]))
    })

    test('a key at its limit gets the seconds until its own oldest token expires', async () => {
      const project = await a!.project('Two ages')
      const key = await a!.key(project.id, { token_limit: 2 })
      const other = await a!.key(project.id)
      await a!.issue(other)
      await multiProcess.advance(100_000)
      const oldest = multiProcess.now()
      await a!.issue(key)
      await multiProcess.advance(60_500)
      await b!.issue(key)
      const answer = await b!.issue(key)
      expect(answer.status).toBe(429)
      expect(answer.headers.get('retry-after')).toBe(retryAfter(oldest, multiProcess.now()))
    })

    test('a lowered limit refuses until enough tokens expired, and a raised limit applies at once in every process', async () => {
      const project = await a!.project('Lowered')
      const key = await a!.key(project.id, { token_limit: 10 })
      const [first, later] = [multiProcess.now(), multiProcess.now() + 100_000]
      expect(statuses(await issueConcurrently(multiProcess.processes, 6, key))).toEqual({ 200: 6 })
      await multiProcess.advance(100_000)
      expect(statuses(await issueConcurrently(multiProcess.processes, 8, key))).toEqual({ 200: 4, 429: 4 })

      await a!.manage('PATCH', key.path, { token_limit: 3 })
      const lowered = await issueConcurrently(multiProcess.processes, 8, key)
      expect([statuses(lowered), waits(lowered)]).toEqual([
        { 429: 8 },
        new Set([retryAfter(first, multiProcess.now())]),
      ])
      // Six have expired and four are left: still one too many.
      await multiProcess.advance(LIFETIME_MS - 100_000)
      const four = await issueConcurrently(multiProcess.processes, 8, key)
      expect([statuses(four), waits(four)]).toEqual([
        { 429: 8 },
        new Set([retryAfter(later, multiProcess.now())]),
      ])

      await a!.manage('PATCH', key.path, { token_limit: 6 })
      const raised = await issueConcurrently([b!], 8, key)
      expect([statuses(raised), waits(raised)]).toEqual([
        { 200: 2, 429: 6 },
        new Set([retryAfter(later, multiProcess.now())]),
      ])
      await a!.manage('PATCH', key.path, { token_limit: null })
      expect(statuses(await issueConcurrently([b!], 20, key))).toEqual({ 200: 20 })
    })

    test('a limit that is set later counts earlier tokens', async () => {
      const project = await a!.project('Set late')
      const key = await a!.key(project.id)
      expect(statuses(await issueConcurrently(multiProcess.processes, 5, key))).toEqual({ 200: 5 })
      await b!.manage('PATCH', key.path, { token_limit: 7 })
      await multiProcess.advance(5_000)
      const answers = await issueConcurrently(multiProcess.processes, 12, key)
      expect([statuses(answers), waits(answers)]).toEqual([{ 200: 2, 429: 10 }, new Set(['895'])])
    })
  })

  describe('capacity is free at once', () => {
    test('revoking a token in any process frees its capacity at once', async () => {
      const project = await a!.project('Revoked')
      const key = await a!.key(project.id, { token_limit: 3 })
      const tokens = tokensOf(await issueConcurrently(multiProcess.processes, 9, key))
      expect(tokens).toHaveLength(3)
      expect((await b!.form('/v1/oauth/token/revoke', { token: tokens[0]! }, key)).status).toBe(204)
      expect(statuses(await issueConcurrently(multiProcess.processes, 8, key))).toEqual({ 200: 1, 429: 7 })
      const { body } = await a!.manage('GET', `/projects/${project.id}/tokens`)
      expect((await a!.manage('DELETE', `/projects/${project.id}/tokens/${body.data[0].id}`)).status).toBe(
        204,
      )
      expect(statuses(await issueConcurrently(multiProcess.processes, 8, key))).toEqual({ 200: 1, 429: 7 })
    })

    test('blocking or deleting keys of a full project, or revoking their tokens, frees exactly their capacity', async () => {
      const project = await a!.project('Full')
      const [blocked, deleted, leaked, asking] = await Promise.all([1, 2, 3, 4].map(() => a!.key(project.id)))
      expect(statuses(await issueConcurrently(multiProcess.processes, 500, blocked!))).toEqual({ 200: 500 })
      expect(statuses(await issueConcurrently(multiProcess.processes, 300, deleted!))).toEqual({ 200: 300 })
      expect(statuses(await issueConcurrently(multiProcess.processes, 300, leaked!))).toEqual({
        200: 200,
        429: 100,
      })
      await a!.manage('POST', `${blocked!.path}/block`)
      expect(statuses(await issueConcurrently(multiProcess.processes, 520, asking!))).toEqual({
        200: 500,
        429: 20,
      })
      await a!.manage('DELETE', deleted!.path)
      expect(statuses(await issueConcurrently(multiProcess.processes, 320, asking!))).toEqual({
        200: 300,
        429: 20,
      })
      await b!.manage('POST', `${leaked!.path}/revoke-tokens`)
      expect(statuses(await issueConcurrently(multiProcess.processes, 220, leaked!))).toEqual({
        200: 200,
        429: 20,
      })
      await spread()
      expect(await shownActive(project.id)).toBe(1_000)
      // Unblocking makes no token active again, so none counts.
      await a!.manage('POST', `${blocked!.path}/unblock`)
      expect(await shownActive(project.id)).toBe(1_000)
      expect((await b!.issue(blocked!)).status).toBe(429)
    })

    test('the expiry of the oldest token frees its capacity at the announced second', async () => {
      const project = await a!.project('Expiring')
      const key = await a!.key(project.id, { token_limit: 2 })
      await a!.issue(key)
      await multiProcess.advance(10_000)
      await a!.issue(key)
      const seconds = Number((await b!.issue(key)).headers.get('retry-after'))
      await multiProcess.advance(seconds * 1000 - 1_000)
      expect((await b!.issue(key)).status).toBe(429)
      await multiProcess.advance(1_000)
      const answers = await issueConcurrently(multiProcess.processes, 8, key)
      expect([statuses(answers), waits(answers)]).toEqual([{ 200: 1, 429: 7 }, new Set(['10'])])
    })
  })
})
