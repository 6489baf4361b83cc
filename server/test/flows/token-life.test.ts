import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { findApiKey, matchSecret } from '../../src/features/api-keys/index.ts'
import type { Database } from '../../src/platform/database/index.ts'
import { digestOf } from '../../src/platform/secrets.ts'
import { issueConcurrently, statuses, tokensOf } from '../concurrent-requests.ts'
import { eachEngine } from '../engines.ts'
import { type MultiProcess, type ServiceProcess, startProcesses } from '../multi-process.ts'
import type { Pair } from '../service.ts'
import { connectSql } from '../sql.ts'

interface Tables {
  tokens: { project_id: string }
}

const INACTIVE = '{"active":false}'

eachEngine((engine) => {
  let multiProcess: MultiProcess
  let db: Database
  let a: ServiceProcess
  let b: ServiceProcess
  let names = 0

  beforeAll(async () => {
    multiProcess = await startProcesses(engine, 2)
    db = await multiProcess.store.open()
    ;[a, b] = multiProcess.processes as [ServiceProcess, ServiceProcess]
  })
  afterAll(() => multiProcess.close())

  /** A project with a key, and another key to ask with. */
  async function club(fields?: Record<string, unknown>) {
    const project = await a.project(`Club ${names++}`)
    return { project, key: await a.key(project.id, fields), asker: await a.key(project.id) }
  }

  const token = async (at: ServiceProcess, key: Pair, scope = 'vouchers'): Promise<string> =>
    (await at.issue(key, scope)).body.access_token

  const isActive = async (at: ServiceProcess, asker: Pair, accessToken: string): Promise<boolean> => {
    const { status, text, body } = await at.introspect(asker, accessToken)
    expect(status).toBe(200)
    if (body.active !== true) expect(text).toBe(INACTIVE)
    return body.active
  }

  /** The longest time until other processes see a change, unless the store is down. */
  async function twoSeconds(): Promise<void> {
    await multiProcess.advance(2_000)
    await Promise.all([a.pollChanges(), b.pollChanges()])
  }

  const everywhere = async (asker: Pair, accessToken: string) => [
    await isActive(a, asker, accessToken),
    await isActive(b, asker, accessToken),
  ]

  describe('a token dies for good', () => {
    test.each([
      ['its key is blocked', (path: string) => a.manage('POST', `${path}/block`)],
      ['its key is deleted', (path: string) => a.manage('DELETE', path)],
      ["its key's tokens are revoked", (path: string) => a.manage('POST', `${path}/revoke-tokens`)],
    ])(
      'a token dies for good when %s: at once in that process, within two seconds in others',
      async (_, change) => {
        const { key, asker } = await club()
        const [one, other] = [await token(a, key), await token(b, key)]
        expect([await everywhere(asker, one), await everywhere(asker, other)]).toEqual([
          [true, true],
          [true, true],
        ])
        expect((await change(key.path)).status).toBe(200)
        expect([await isActive(a, asker, one), await isActive(a, asker, other)]).toEqual([false, false])
        await twoSeconds()
        expect([await everywhere(asker, one), await everywhere(asker, other)]).toEqual([
          [false, false],
          [false, false],
        ])
      },
    )

    test('a token stays dead after its key is unblocked, while the key issues new ones', async () => {
      const { key, asker } = await club()
      const old = await token(b, key)
      await a.manage('POST', `${key.path}/block`)
      expect((await b.issue(key)).body.key).toBe('api_key_blocked')
      await a.manage('POST', `${key.path}/unblock`)
      const fresh = await token(b, key)
      await twoSeconds()
      expect([await everywhere(asker, old), await everywhere(asker, fresh)]).toEqual([
        [false, false],
        [true, true],
      ])
      // Blocking and unblocking again finds nothing to bring back.
      await b.manage('POST', `${key.path}/block`)
      await b.manage('POST', `${key.path}/unblock`)
      await twoSeconds()
      expect([await everywhere(asker, old), await everywhere(asker, fresh)]).toEqual([
        [false, false],
        [false, false],
      ])
    })

    test('a token dies with its project, whose keys are then like unknown ones', async () => {
      const { project, key } = await club()
      const accessToken = await token(b, key)
      await a.manage('DELETE', `/projects/${project.id}`, { name: project.name })
      expect((await a.issue(key)).body.key).toBe('unauthorized')
      await twoSeconds()
      const bearer = { authorization: `Bearer ${accessToken}` }
      for (const at of [a, b]) {
        expect(
          (await at.form('/v1/oauth/introspect', { token: accessToken }, undefined, bearer)).status,
        ).toBe(401)
        expect((await at.issue(key)).body.key).toBe('unauthorized')
      }
    })

    test('a token dies after 900 s, to the millisecond, in every process', async () => {
      const { key, asker } = await club()
      await multiProcess.advance(700)
      const { body } = await a.issue(key)
      expect(body.expires_at).toBe(Math.floor(multiProcess.now() / 1000) + 900)
      await multiProcess.advance(body.expires_at * 1000 - 1 - multiProcess.now())
      expect(await everywhere(asker, body.access_token)).toEqual([true, true])
      await multiProcess.advance(1)
      expect(await everywhere(asker, body.access_token)).toEqual([false, false])
    })
  })

  describe('revoking', () => {
    test('revoking ends one token only, and only its own key can do it', async () => {
      const { key, asker } = await club()
      const [gone, stays] = [await token(a, key), await token(a, key)]
      expect((await a.form('/v1/oauth/token/revoke', { token: gone }, asker)).status).toBe(404)
      expect(await everywhere(asker, gone)).toEqual([true, true])
      const revoked = await a.form('/v1/oauth/token/revoke', { access_token: gone }, key)
      expect([revoked.status, revoked.text]).toEqual([204, ''])
      expect(await isActive(a, asker, gone)).toBe(false)
      await twoSeconds()
      expect([await everywhere(asker, gone), await everywhere(asker, stays)]).toEqual([
        [false, false],
        [true, true],
      ])
    })

    test('a revocation applies at once in its process, also to concurrent reads of the token', async () => {
      const { key, asker } = await club()
      for (let round = 0; round < 30; round++) {
        const accessToken = await token(b, key)
        const reading = Promise.all(Array.from({ length: 4 }, () => a.introspect(asker, accessToken)))
        for (let i = 0; i < round % 6; i++) await turn()
        const revoked = await a.form('/v1/oauth/token/revoke', { token: accessToken }, key)
        expect(revoked.status).toBe(204)
        await reading
        expect(await isActive(a, asker, accessToken)).toBe(false)
      }
    })

    test('revoking a token twice, or an unknown one, gets 404 without a body, and 200 at the RFC 7009 endpoint', async () => {
      const { key } = await club()
      const { key: foreignKey } = await club()
      const expired = await token(a, key)
      await multiProcess.advance(900_000)
      const twice = await token(a, key)
      const nothing = [expired, twice, await token(a, foreignKey), 'jtn_malformed', `${twice}x`]
      expect((await b.form('/v1/oauth/revoke', { token: twice }, key)).status).toBe(200)
      for (const one of nothing) {
        const own = await a.form('/v1/oauth/token/revoke', { token: one }, key)
        const rfc = await a.form('/v1/oauth/revoke', { token: one, token_type_hint: 'access_token' }, key)
        expect([own.status, own.text, rfc.status, rfc.text]).toEqual([404, '', 200, '{}'])
      }
    })

    test('revoking with a blocked key or a bearer token is refused and ends no token', async () => {
      const { key, asker } = await club()
      const accessToken = await token(a, asker)
      const bearer = { authorization: `Bearer ${accessToken}` }
      expect((await a.form('/v1/oauth/revoke', { token: accessToken }, undefined, bearer)).status).toBe(401)
      await a.manage('POST', `${key.path}/block`)
      expect((await a.form('/v1/oauth/revoke', { token: accessToken }, key)).body.key).toBe('api_key_blocked')
      expect(await everywhere(asker, accessToken)).toEqual([true, true])
    })
  })

  describe('regenerating a key', () => {
    test('regenerating a key changes only its secret: ids and tokens stay, and every process refuses the old secret at once', async () => {
      const { key, asker } = await club()
      const accessToken = await token(b, key)
      const { body } = await a.manage('POST', `${key.path}/regenerate`)
      expect(body).toMatchObject({
        id: key.id,
        app_id: key.app_id,
        client_id: key.client_id,
        state: 'active',
      })
      expect(body.app_token).not.toBe(key.app_token)
      for (const at of [a, b]) expect((await at.issue(key)).body.key).toBe('unauthorized')
      const renewed = await b.issue({ appId: key.appId, appToken: body.app_token })
      expect(renewed.body.client_id).toBe(key.client_id)
      await twoSeconds()
      expect(await everywhere(asker, accessToken)).toEqual([true, true])
    })

    test('regenerating without a grace period ends the old secret also in a process whose clock is behind the store', async () => {
      const { project, key } = await club()
      await a.manage('POST', `${key.path}/regenerate`)
      const row = (await findApiKey(db, project.id, key.id))!
      expect(matchSecret(row, digestOf(key.appToken), row.changed_at - 400)).toBe('replaced')
    })

    test('regenerating with a grace period keeps the previous secret for that time, to the millisecond', async () => {
      const { key } = await club()
      await a.manage('POST', `${key.path}/regenerate`, { grace_seconds: 60 })
      await multiProcess.advance(59_999)
      expect([(await a.issue(key)).status, (await b.issue(key)).status]).toEqual([200, 200])
      await multiProcess.advance(1)
      expect([(await a.issue(key)).status, (await b.issue(key)).status]).toEqual([401, 401])
    })

    test('regenerating again ends an earlier grace period', async () => {
      const { key } = await club()
      const { body: second } = await a.manage('POST', `${key.path}/regenerate`, { grace_seconds: 3_600 })
      await a.manage('POST', `${key.path}/regenerate`, { grace_seconds: 3_600 })
      const secrets = [key.appToken, second.app_token]
      for (const at of [a, b]) {
        const answers = await Promise.all(secrets.map((appToken) => at.issue({ appId: key.appId, appToken })))
        expect(answers.map(({ status }) => status)).toEqual([401, 200])
      }
    })
  })

  describe('grants of one process apply at once in the other', () => {
    test('a key that one process creates works at once in the other', async () => {
      const project = await a.project(`Club ${names++}`)
      expect((await b.issue(await a.key(project.id))).status).toBe(200)
    })

    test('a secret that one process creates works at once in the other', async () => {
      const { key } = await club()
      await b.issue(key)
      const { body } = await a.manage('POST', `${key.path}/regenerate`)
      const fresh = { appId: key.appId, appToken: body.app_token as string }
      expect((await b.introspect(fresh, 'x')).text).toBe(INACTIVE)
      expect((await b.issue(fresh)).status).toBe(200)
    })

    test('a key that one process unblocks works at once in the other', async () => {
      const { key } = await club()
      await a.manage('POST', `${key.path}/block`)
      expect((await b.issue(key)).body.key).toBe('api_key_blocked')
      await a.manage('POST', `${key.path}/unblock`)
      expect((await b.introspect(key, 'x')).text).toBe(INACTIVE)
      expect((await b.issue(key)).status).toBe(200)
    })

    test('a token of an unblocked key works at once in the process that blocked the key', async () => {
      const { key, asker } = await club()
      await b.manage('POST', `${key.path}/block`)
      await a.manage('POST', `${key.path}/unblock`)
      expect(await isActive(b, asker, await token(a, key))).toBe(true)
    })

    test('a widened allowlist applies at once to the key pair, its tokens and ip_address', async () => {
      const { key, asker } = await club({ ip_whitelist: ['127.0.0.1'] })
      const accessToken = await token(b, key)
      const from = (address: string) => b.introspect(asker, accessToken, { ip_address: address })
      expect((await from('10.0.0.1')).text).toBe(INACTIVE)
      await a.manage('PATCH', key.path, { ip_whitelist: ['127.0.0.1', '10.0.0.0/8'] })
      expect((await from('10.0.0.1')).body.active).toBe(true)

      await a.manage('PATCH', key.path, { ip_whitelist: ['10.0.0.0/8'] })
      await b.pollChanges()
      expect((await b.issue(key)).body.key).toBe('ip_not_allowed')
      await a.manage('PATCH', key.path, { ip_whitelist: [] })
      const self = { authorization: `Bearer ${accessToken}` }
      expect(
        (await b.form('/v1/oauth/introspect', { token: accessToken }, undefined, self)).body.active,
      ).toBe(true)
      expect((await b.issue(key)).status).toBe(200)
    })

    test('widened permissions apply at once in the other process', async () => {
      const { key } = await club({ permissions: ['rewards'] })
      expect((await b.issue(key, 'vouchers')).body.key).toBe('invalid_scope')
      await a.manage('PATCH', key.path, { permissions: ['rewards', 'vouchers'] })
      expect((await b.issue(key, 'vouchers')).status).toBe(200)
    })
  })

  describe('restrictions of one process apply in the other before it is notified', () => {
    test('a replaced secret gets no token, also for permissions that were added later', async () => {
      const { key } = await club({ permissions: ['rewards'] })
      expect((await b.issue(key, 'rewards')).status).toBe(200)
      await a.manage('POST', `${key.path}/regenerate`)
      await a.manage('PATCH', key.path, { permissions: ['rewards', 'vouchers'] })
      expect((await b.issue(key, 'vouchers')).body.key).toBe('unauthorized')
    })

    test('permissions and addresses that one process removed are refused in the other', async () => {
      const { key } = await club({ permissions: ['rewards', 'vouchers'] })
      expect((await b.issue(key, 'vouchers')).status).toBe(200)
      await a.manage('PATCH', key.path, { permissions: ['rewards'] })
      expect((await b.issue(key, 'vouchers')).body.key).toBe('invalid_scope')
      await a.manage('PATCH', key.path, { ip_whitelist: ['10.0.0.1'] })
      expect((await b.issue(key, 'rewards')).body.key).toBe('ip_not_allowed')
    })
  })

  test('a token request concurrent with the block of its key fails, or gets a token that is never active', async () => {
    const { key, asker } = await club()
    const outcomes = { refused: 0, dead: 0 }
    const dead: string[] = []
    const isShown = () => outcomes.refused > 0 && outcomes.dead > 0
    for (let round = 0; round < 20 || (!isShown() && round < 200); round++) {
      const asking = issueConcurrently([a, b], 12, key)
      for (let i = 0; i < (round % 10) * 3; i++) await turn()
      const blocking = a.manage('POST', `${key.path}/block`)
      const [answers, blocked] = await Promise.all([asking, blocking])
      expect(blocked.status).toBe(200)
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expect([answer.status, answer.body.key]).toEqual([401, 'api_key_blocked'])
        outcomes.refused++
      }
      const raced = tokensOf(answers)
      outcomes.dead += raced.length
      expect(await Promise.all(raced.map((one) => isActive(a, asker, one)))).toEqual(raced.map(() => false))
      expect([(await a.issue(key)).status, (await b.issue(key)).status]).toEqual([401, 401])
      dead.push(...raced.slice(0, 2))
      expect((await b.manage('POST', `${key.path}/unblock`)).status).toBe(200)
      await a.pollChanges()
    }
    // Both ways of the race were taken, or this test would show nothing.
    expect(outcomes).toEqual({
      refused: expect.toSatisfy((n) => n > 0),
      dead: expect.toSatisfy((n) => n > 0),
    })
    await twoSeconds()
    for (const one of dead) expect(await everywhere(asker, one)).toEqual([false, false])
  })

  test('expired tokens are removed in batches, live ones stay, and the table does not grow', async () => {
    const stored = async (projectIds: readonly string[]) => {
      const rows = await db
        .read<Tables>()
        .selectFrom('tokens')
        .select('project_id')
        .where('project_id', 'in', projectIds)
        .execute()
      return rows.length
    }
    const clubs = [await club(), await club()]
    const projectIds = clubs.map(({ project }) => project.id)
    /** The janitor comes every ten seconds, and takes as long as the disk does. */
    async function storedInTheEnd(expected: number): Promise<number> {
      const isDone = async () => (await stored(projectIds)) === expected
      for (let visits = 0; visits < 100 && !(await isDone()); visits++) {
        await multiProcess.advance(10_000)
        await vi.waitUntil(isDone, { timeout: 500, interval: 20 }).catch(() => undefined)
      }
      return stored(projectIds)
    }
    for (let i = 0; i < 2; i++) {
      for (const { key } of clubs)
        expect(statuses(await issueConcurrently([a, b], 700, key))).toEqual({ 200: 700 })
      expect(await stored(projectIds)).toBe(1_400)
      await multiProcess.advance(600_000)
      const { key, asker } = clubs[0]!
      const live = await token(a, key)
      await multiProcess.advance(400_000)
      expect(await storedInTheEnd(1)).toBe(1)
      expect(await everywhere(asker, live)).toEqual([true, true])
      await multiProcess.advance(600_000)
      expect(await storedInTheEnd(0)).toBe(0)
    }
  })

  // PostgreSQL has one clock for all.
  if (engine.name === 'SQLite')
    test('a token that is revoked after its expiry is dead in a process whose clock is behind', async () => {
      const apart = await startProcesses(engine, 1)
      try {
        const [behind] = apart.processes as [ServiceProcess]
        const key = await behind.key((await behind.project('Club apart')).id)
        const accessToken = await token(behind, key)
        const ahead = await apart.start({ clockAheadMs: 3_600_000 })
        expect(await isActive(ahead, key, accessToken)).toBe(false)
        expect(await isActive(behind, key, accessToken)).toBe(true)
        expect((await ahead.form('/v1/oauth/token/revoke', { token: accessToken }, key)).status).toBe(404)
        await behind.pollChanges()
        expect(await isActive(behind, key, accessToken)).toBe(false)
      } finally {
        await apart.close()
      }
    })

  if (engine.name !== 'PostgreSQL') return

  describe('with several machines', () => {
    async function lateCommit(statement: string, parameters: string[]) {
      const sql = connectSql(multiProcess.store.env.JETON_DATABASE_URL!)
      await sql.run('begin')
      const { rowCount } = await sql.run(statement, parameters)
      expect(rowCount).toBe(1)
      return async () => {
        await sql.run('commit')
        await sql.end()
      }
    }

    /** Looks every second, as the service does; how many seconds passed until every process says inactive. */
    async function secondsUntilDead(asker: Pair, accessToken: string): Promise<number> {
      for (let seconds = 0; seconds <= 60; seconds++) {
        const [inA, inB] = await everywhere(asker, accessToken)
        if (!inA && !inB) return seconds
        await multiProcess.advance(1_000)
        await Promise.all([a.pollChanges(), b.pollChanges()])
      }
      return Number.POSITIVE_INFINITY
    }

    test('a block that commits late and notifies no process is seen within 30 s', async () => {
      const { key, asker } = await club()
      const accessToken = await token(a, key)
      const commit = await lateCommit(
        `update api_keys set state = 'blocked', epoch = epoch + 1, version = version + 1, changed_at = jeton_now() - 600000 where id = $1`,
        [key.id],
      )
      await multiProcess.advance(5_000)
      expect(await everywhere(asker, accessToken)).toEqual([true, true])
      await commit()
      expect(await secondsUntilDead(asker, accessToken)).toBeLessThanOrEqual(30)
      expect((await b.issue(key)).body.key).toBe('api_key_blocked')
    })

    test('a block that commits within a minute and notifies no process is seen at the next poll', async () => {
      const { key, asker } = await club()
      const accessToken = await token(a, key)
      const commit = await lateCommit(
        `update api_keys set state = 'blocked', epoch = epoch + 1, version = version + 1, changed_at = jeton_now() where id = $1`,
        [key.id],
      )
      await multiProcess.advance(25_000)
      expect(await everywhere(asker, accessToken)).toEqual([true, true])
      await commit()
      expect(await secondsUntilDead(asker, accessToken)).toBeLessThanOrEqual(2)
    })

    test('a revocation that commits late is seen within 30 s', async () => {
      const { key, asker, project } = await club()
      const accessToken = await token(a, key)
      const commit = await lateCommit(
        `update tokens set revoked_at = jeton_now() - 600000 where project_id = $1`,
        [project.id],
      )
      expect(await everywhere(asker, accessToken)).toEqual([true, true])
      await commit()
      expect(await secondsUntilDead(asker, accessToken)).toBeLessThanOrEqual(30)
    })

    test("no token comes back from expiry when the database's clock jumps back, and new ones live 900 s", async () => {
      const { key, asker } = await club({ token_limit: 1 })
      const expired = await token(a, key)
      await multiProcess.advance(900_000)
      expect(await everywhere(asker, expired)).toEqual([false, false])
      await multiProcess.setStoreTime(multiProcess.now() - 800_000)
      await Promise.all([a.pollChanges(), b.pollChanges()])
      expect(await everywhere(asker, expired)).toEqual([false, false])
      const { body } = await b.issue(key)
      expect(body.expires_at).toBe(Math.floor(multiProcess.now() / 1000) + 900)
      expect((await a.issue(key)).status).toBe(429)
      await multiProcess.setStoreTime(multiProcess.now())
    })

    test('a process on a machine with a wrong clock issues and checks tokens like all others', async () => {
      const { key, asker } = await club({ token_limit: 2 })
      const before = await token(a, key)
      for (const clockAheadMs of [3_600_000, -3_600_000]) {
        const wrong = await multiProcess.start({ clockAheadMs })
        expect(await isActive(wrong, asker, before)).toBe(true)
        const { body } = await wrong.issue(asker)
        expect(body.expires_at).toBe(Math.floor(multiProcess.now() / 1000) + 900)
        await twoSeconds()
        expect(await everywhere(asker, before)).toEqual([true, true])
      }
    })
  })
})
