import { openStore } from '../server/src/app/compose.ts'
import { createApiKeyIn } from '../server/src/features/api-keys/index.ts'
import { createProjectIn } from '../server/src/features/projects/index.ts'
import { systemClock } from '../server/src/platform/clock.ts'
import { readConfig } from '../server/src/platform/config/index.ts'
import type { Transaction } from '../server/src/platform/database/index.ts'
import { randomBytes } from '../server/src/platform/secrets.ts'
import type { Store } from './stores.ts'
import type { Client } from './subjects/protocol.ts'

export interface JetonClient extends Client {
  readonly projectId: string
  readonly keyId: string
}

const PROJECTS_PER_TRANSACTION = 100
const ACTOR = { type: 'system', id: 'bench', address: null, requestId: null } as const

/** Projects with a key each, by the functions behind the management API. */
export async function prepareProjects(store: Store, count: number): Promise<JetonClient[]> {
  const { db } = await openStore({ config: readConfig(store.env), clock: systemClock })
  const clients: JetonClient[] = []
  try {
    while (clients.length < count) {
      const most = Math.min(PROJECTS_PER_TRANSACTION, count - clients.length)
      clients.push(...(await db.transaction((tx) => someProjects(tx, clients.length, most))))
    }
    return clients
  } finally {
    await db.close()
  }
}

async function someProjects(tx: Transaction, from: number, count: number): Promise<JetonClient[]> {
  const made: JetonClient[] = []
  for (let i = from; i < from + count; i++) made.push(await oneProject(tx, `project ${i}`))
  return made
}

async function oneProject(tx: Transaction, name: string): Promise<JetonClient> {
  const deps = { random: randomBytes }
  const project = await createProjectIn(deps, tx, { name, actor: ACTOR })
  const { row, appToken } = await createApiKeyIn(deps, tx, {
    projectId: project.id,
    name: 'key',
    actor: ACTOR,
  })
  return { id: row.app_id, secret: appToken, projectId: project.id, keyId: row.id }
}
