import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { createApiKeyIn, markKeysDeleted } from '../../features/api-keys/index.ts'
import { deleteProject } from '../../features/projects/delete-project.ts'
import { createProjectIn } from '../../features/projects/index.ts'
import { migrate, type Reader, type Transaction } from '../../platform/database/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { MIGRATIONS } from './index.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const BEFORE = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0011-known-keys'),
)

interface Tables {
  projects: { name: string }
  api_keys: { state: string }
}

async function projectWithKey(tx: Transaction, name: string) {
  const project = await createProjectIn({ random: randomBytes }, tx, { name, actor: ACTOR })
  await createApiKeyIn({ random: randomBytes }, tx, { projectId: project.id, name: 'key', actor: ACTOR })
  return project
}

async function projectNames(reader: Reader): Promise<string[]> {
  const rows = await reader.read<Tables>().selectFrom('projects').select('name').execute()
  return rows.map(({ name }) => name)
}

async function keyStates(reader: Reader): Promise<string[]> {
  const rows = await reader.read<Tables>().selectFrom('api_keys').select('state').execute()
  return rows.map(({ state }) => state)
}

eachEngine((engine) => {
  test('a snapshot from before the migration still contains every project', async () => {
    const store = await engine.emptyStore()
    const [reading, migrating] = [await store.open(), await store.open()]
    await migrate(reading, { migrations: BEFORE, program: '99.0.0' })
    await reading.transaction((tx) => projectWithKey(tx, 'Club'))
    const found = await reading.snapshot(async (reader) => {
      await keyStates(reader)
      // Only this migration: later ones change tables that the snapshot has read, and wait for its end.
      await migrate(migrating, { migrations: MIGRATIONS.slice(0, BEFORE.length + 1), program: '99.0.0' })
      return projectNames(reader)
    })
    expect(found).toEqual(['Club'])
  })

  test('a project of ten thousand keys is deleted quickly, even if a single key was changed first', async () => {
    const store = await engine.emptyStore()
    const db = await store.open({ pool: 1 })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    const [small, large] = await db.transaction(async (tx) => [
      await projectWithKey(tx, 'small'),
      await projectWithKey(tx, 'large'),
    ])
    await db.transaction((tx) =>
      sql`insert into api_keys (project_id, id, name, app_id, client_id, secret_digest, secret_last4, permissions,
          ip_whitelist, credits, state, epoch, version, changed_at, created_at, updated_at)
        select project_id, id || n, name, app_id || n, client_id || n, secret_digest, secret_last4, permissions, ip_whitelist,
          credits, state, epoch, version, changed_at, created_at, updated_at
        from api_keys, (with recursive ns(n) as (select 1 union all select n + 1 from ns where n < 10000) select n from ns) ns
        where project_id = ${large.id}`.execute(tx.write<never>()),
    )
    const deps = { random: randomBytes, db, markContents: markKeysDeleted, onDelete: () => undefined }
    for (const { id, name } of [small, large]) await deleteProject(deps, { id, name, actor: ACTOR })
    expect(new Set(await keyStates(db))).toEqual(new Set(['deleted']))
  })
})
