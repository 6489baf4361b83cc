import { sql } from 'kysely'
import { expect, test } from 'vitest'
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
const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0014-token-counts'),
)

eachEngine((engine) => {
  test('tokens that were not counted before the upgrade count afterwards, and a stored full_until does not add credits', async () => {
    const db = await (await engine.emptyStore()).open()
    await migrate(db, { migrations: BEFORE, program: '99.0.0' })
    const now = Date.now()
    const { project, key } = await db.transaction(async (tx) => {
      const project = await createProjectIn({ random: randomBytes }, tx, { name: 'Club', actor: ACTOR })
      const fields = { projectId: project.id, name: 'key', token_limit: 4, actor: ACTOR }
      return { project, key: (await createApiKeyIn({ random: randomBytes }, tx, fields)).row }
    })
    const second = Math.floor(now / 1000) * 1000
    const tokens = Array.from({ length: 6 }, () => newToken(randomBytes, project.id, now))
    const insert = (i: number, expiresAt: number, revokedAt: number | null = null) =>
      db.transaction((tx) =>
        sql`insert into tokens (project_id, digest, key_id, epoch, scope, expires_at, revoked_at)
          values (${project.id}, ${tokens[i]!.digest}, ${key.id}, 1, 'vouchers', ${expiresAt}, ${revokedAt})`.execute(
          tx.write<never>(),
        ),
      )
    // The first three seconds were counted, and one of them has passed. The last two tokens were not counted yet.
    await insert(0, second - 1_000)
    await insert(1, second + 600_000)
    await insert(2, second + 601_000)
    await insert(3, second + 700_000)
    await insert(4, second + 701_000, now)
    await insert(5, second + 701_000)
    await db.transaction(async (tx) => {
      const write = tx.write<never>()
      if (db.engine === 'sqlite') {
        await sql`insert into token_counts (project_id, expires_at, key_id, epoch, n)
          select project_id, expires_at, key_id, epoch, 1 from tokens where expires_at <= ${second + 601_000}`.execute(
          write,
        )
        await sql`insert into tokens_counted values (${second + 601_000})`.execute(write)
      }
      // Like after a lowered limit, by a version that stored no negative credits.
      await sql`update api_keys set credits = 0, full_until = ${second - 1_000}`.execute(write)
    })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })

    const batcher = new IssueBatcher({ db, now: () => now })
    const issue = async () => {
      const { digest } = newToken(randomBytes, project.id, now)
      const { id: keyId, version: keyVersion, epoch } = key
      const item = { projectId: project.id, keyId, keyVersion, epoch, projectKeysVersion: undefined }
      return (await batcher.issue({ ...item, digest, scope: 'vouchers' })).status
    }
    const counted = async () => (await countActiveTokens(db, now, [project.id])).map(({ count }) => count)
    expect(await counted()).toEqual([4])
    expect(await issue()).toBe('full')
    expect(await revokeToken(db, tokens[5]!)).toBe(true)
    expect(await counted()).toEqual([3])
    expect([await issue(), await issue()]).toEqual(['issued', 'full'])
    expect(await counted()).toEqual([4])
  })
})
