import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { migrate } from '../../platform/database/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { createApiKeyIn, findApiKey } from '../api-keys/index.ts'
import { createProjectIn } from '../projects/index.ts'
import { KeyUses } from './authenticate-key.ts'
import { knownKey } from './known-key.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const START = Date.UTC(2100, 0, 1)

eachEngine((engine) => {
  test('a use of a key is written once in a minute, and again at once where it could not be', async () => {
    const clock = new TestClock(START)
    const db = await (await engine.freshStore()).open({ clock })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    const deps = { random: randomBytes }
    const row = await db.transaction(async (tx) => {
      const { id: projectId } = await createProjectIn(deps, tx, { name: 'Club', actor: ACTOR })
      return (await createApiKeyIn(deps, tx, { projectId, name: 'key', actor: ACTOR })).row
    })
    const uses = new KeyUses(clock)
    const usedAfter = async (ms: number, through = db) => {
      await clock.advance(ms)
      uses.note(knownKey(row, 0))
      await uses.flush(through)
      return (await findApiKey(db, row.project_id, row.id))!.last_used_at
    }
    const broken = { ...db, transaction: () => Promise.reject(new Error('no disk')) }
    await expect(usedAfter(0, broken)).rejects.toThrow('no disk')
    expect(await usedAfter(2_000)).toBe(START + 2_000)
    expect(await usedAfter(2_000)).toBe(START + 2_000)
    // Those of the minute before are forgotten by the first writing after it.
    await usedAfter(60_000)
    expect(await usedAfter(2_000)).toBe(START + 66_000)
  })
})
