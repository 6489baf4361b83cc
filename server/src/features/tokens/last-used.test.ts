import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { migrate } from '../../platform/database/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { createApiKeyIn, findApiKey, listKeyAddresses } from '../api-keys/index.ts'
import { createProjectIn } from '../projects/index.ts'
import { cachedKey } from './cached-key.ts'
import { LastUsedTracker } from './last-used.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const START = Date.UTC(2100, 0, 1)

eachEngine((engine) => {
  test('the use of a key is written once per minute, and again immediately if it could not be written', async () => {
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
      lastUsed.record(cachedKey(row, 0), '10.0.0.1')
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
  test('the newest 16 addresses of a key are kept, and those of the previous secret apart', async () => {
    const clock = new TestClock(START)
    const db = await (await engine.freshStore()).open({ clock })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    const deps = { random: randomBytes }
    const row = await db.transaction(async (tx) => {
      const { id: projectId } = await createProjectIn(deps, tx, { name: 'Club', actor: ACTOR })
      return (await createApiKeyIn(deps, tx, { projectId, name: 'key', actor: ACTOR })).row
    })
    const lastUsed = new LastUsedTracker(clock)
    for (let i = 0; i < 40; i++) {
      await clock.advance(60_000)
      await lastUsed.flush(db)
      lastUsed.record(cachedKey(row, 0), `10.0.0.${i}`)
    }
    lastUsed.record(cachedKey(row, 0), '10.0.0.39', 'previous')
    for (let i = 0; i < 1_000; i++) lastUsed.record(cachedKey(row, 0), `10.1.0.${i}`)
    await lastUsed.flush(db)
    const kept = await listKeyAddresses(db, row.project_id, [row.id])
    expect(kept).toHaveLength(16)
    const shown = kept.map(({ address, secret }) => `${secret} ${address}`)
    expect(shown).toContain('current 10.0.0.39')
    expect(shown).toContain('previous 10.0.0.39')
  })
})
