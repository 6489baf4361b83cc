import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { createApiKeyIn } from '../../features/api-keys/index.ts'
import { createProjectIn } from '../../features/projects/index.ts'
import { countActiveTokens, IssueBatcher } from '../../features/tokens/index.ts'
import { revokeToken } from '../../features/tokens/revoke-token.ts'
import { newToken } from '../../features/tokens/token.ts'
import { migrate } from '../../platform/database/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { MIGRATIONS } from './index.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const

eachEngine((engine) => {
  const cleanUps: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  test('earlier tokens stay active and count, until they are revoked', async () => {
    const store = await engine.emptyStore()
    cleanUps.push(store.drop)
    const db = await store.open()
    const before = MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ name }) => name === '0010-tokens-in-order'),
    )
    await migrate(db, { migrations: before, program: '99.0.0' })
    const now = Date.now()
    const { project, key } = await db.transaction(async (tx) => {
      const project = await createProjectIn({ random: randomBytes }, tx, { name: 'Club', actor: ACTOR })
      const fields = { projectId: project.id, name: 'key', token_limit: 3, actor: ACTOR }
      return { project, key: (await createApiKeyIn({ random: randomBytes }, tx, fields)).row }
    })
    const old = Array.from({ length: 3 }, () => newToken(randomBytes, project.id, now))
    const second = Math.floor(now / 1000) * 1000
    await db.transaction(async (tx) => {
      for (const [i, { digest }] of old.entries())
        await sql`insert into tokens (project_id, digest, key_id, epoch, scope, expires_at)
          values (${project.id}, ${digest}, ${key.id}, ${key.epoch}, 'vouchers', ${second + 600_000 + i * 1_000})`.execute(
          tx.write<never>(),
        )
      await sql`update api_keys set credits = 0`.execute(tx.write<never>())
    })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })

    const issuer = new IssueBatcher({ db, now: () => now })
    const issue = async () => {
      const { digest } = newToken(randomBytes, project.id, now)
      const names = {
        projectId: project.id,
        keyId: key.id,
        keyVersion: key.version,
        epoch: key.epoch,
        projectKeysVersion: undefined,
      }
      return (await issuer.issue({ ...names, digest, scope: 'vouchers' })).status
    }
    const counted = async () => (await countActiveTokens(db, now, [project.id])).map(({ count }) => count)
    expect(await counted()).toEqual([3])
    expect(await issue()).toBe('full')
    expect(await revokeToken(db, old[1]!)).toBe(true)
    expect(await counted()).toEqual([2])
    expect([await issue(), await issue()]).toEqual(['issued', 'full'])
    expect(await counted()).toEqual([3])
  })
})
