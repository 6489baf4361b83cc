import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { migrate } from '../../platform/database/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { createApiKeyIn, findApiKey } from '../api-keys/index.ts'
import { createProjectIn } from '../projects/index.ts'
import { cachedKey } from './cached-key.ts'
import { LastUsedTracker } from './last-used.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const START = Date.UTC(2100, 0, 1)

eachEngine((engine) => {
  test('the use of a key is written once a minute, and again at once if it could not be written', async () => {
    const clock = new TestClock(START)
    const db = await (await engine.freshStore()).open({ clock })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    const deps = { random: randomBytes }
    const row = await db.transaction(async (tx) => {
      const { id: projectId } = await createProjectIn(deps, tx, { name: 'Club', actor: ACTOR })
      return (await createApiKeyIn(deps, tx, { projectId, name: 'key', actor: ACTOR })).row
    })
    const lastUsed = new LastUsedTracker(clock)
    const usedAfter = async (ms: number, through = db) => {
      await clock.advance(ms)
      lastUsed.record(cachedKey(row, 0), '10.0.0.4')
      await lastUsed.flush(through)
      return (await findApiKey(db, row.project_id, row.id))!.last_used_at
    }
    const broken = { ...db, transaction: () => Promise.reject(new Error('no disk')) }
    await expect(usedAfter(0, broken)).rejects.toThrow('no disk')
    expect(await usedAfter(2_000)).toBe(START + 2_000)
    expect(await usedAfter(2_000)).toBe(START + 2_000)
    // The first flush after a minute starts the next one.
    await usedAfter(60_000)
    expect(await usedAfter(2_000)).toBe(START + 66_000)
  })
})
