import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { createApiKeyIn } from '../../features/api-keys/index.ts'
import { createProjectIn } from '../../features/projects/index.ts'
import { IssueBatcher } from '../../features/tokens/index.ts'
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

  test('a key that was full before the migration has its whole limit after it', async () => {
    const store = await engine.emptyStore()
    cleanUps.push(store.drop)
    const db = await store.open()
    const before = MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ name }) => name === '0007-tokens-by-time'),
    )
    await migrate(db, { migrations: before, program: '99.0.0' })
    const deps = { random: randomBytes }
    const { project, key } = await db.transaction(async (tx) => {
      const project = await createProjectIn(deps, tx, { name: 'Club', actor: ACTOR })
      const fields = { projectId: project.id, name: 'key', token_limit: 1, actor: ACTOR }
      return { project, key: (await createApiKeyIn(deps, tx, fields)).row }
    })
    const issuer = new IssueBatcher({ db, now: Date.now })
    const issue = async () => {
      const { digest } = newToken(randomBytes, project.id, Date.now())
      const names = {
        projectId: project.id,
        keyId: key.id,
        keyVersion: key.version,
        epoch: key.epoch,
        projectKeysVersion: undefined,
      }
      return (await issuer.issue({ ...names, digest, scope: 'vouchers' })).status
    }
    // Rows as the earlier version left them. It cannot run on the current schema.
    await db.transaction(async (tx) => {
      const write = tx.write<never>()
      await sql`insert into tokens (project_id, digest, key_id, epoch, scope, expires_at)
        values (${project.id}, ${Buffer.alloc(32)}, ${key.id}, 1, 'vouchers', ${Date.now() + 600_000})`.execute(
        write,
      )
      await sql`update api_keys set credits = 0, full_until = ${Date.now() + 600_000}`.execute(write)
    })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    expect([await issue(), await issue()]).toEqual(['issued', 'full'])
  })
})
