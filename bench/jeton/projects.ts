import { openStore } from '../../server/src/app/compose.ts'
import { createApiKeyIn } from '../../server/src/features/api-keys/index.ts'
import { createProjectIn } from '../../server/src/features/projects/index.ts'
import { systemClock } from '../../server/src/platform/clock.ts'
import { type Config, readConfig } from '../../server/src/platform/config/index.ts'
import type { Database, Transaction } from '../../server/src/platform/database/index.ts'
import { randomBytes } from '../../server/src/platform/secrets.ts'
import type { Store } from '../stores.ts'
import type { Client } from '../subject.ts'

export interface JetonClient extends Client {
  readonly projectId: string
  readonly keyId: string
}

export const ACTOR = { type: 'system', id: 'bench', address: null, requestId: null } as const
const PROJECTS_PER_TRANSACTION = 100

/** Opens the store of a Jeton that does not run yet, and migrates it. */
export async function withDatabase<T>(
  store: Pick<Store, 'env'>,
  work: (db: Database, config: Config) => Promise<T>,
): Promise<T> {
  const config = readConfig(store.env)
  const { db } = await openStore({ config, clock: systemClock })
  try {
    return await work(db, config)
  } finally {
    await db.close()
  }
}

/** Creates projects with one key each, with the functions behind the management API. */
export const createProjects = (store: Pick<Store, 'env'>, count: number): Promise<JetonClient[]> =>
  withDatabase(store, async (db) => {
    const clients: JetonClient[] = []
    while (clients.length < count)
      await db.transaction(async (tx) => {
        const end = Math.min(count, clients.length + PROJECTS_PER_TRANSACTION)
        while (clients.length < end) clients.push(await createProject(tx, `project ${clients.length}`))
      })
    return clients
  })

async function createProject(tx: Transaction, name: string): Promise<JetonClient> {
  const deps = { random: randomBytes }
  const { id: projectId } = await createProjectIn(deps, tx, { name, actor: ACTOR })
  const { row, appToken } = await createApiKeyIn(deps, tx, { projectId, name: 'key', actor: ACTOR })
  return { id: row.app_id, secret: appToken, projectId, keyId: row.id }
}
