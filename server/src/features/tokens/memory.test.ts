import { describe, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { gate } from '../../../test/things.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { type Database, migrate } from '../../platform/database/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { createApiKeyIn, findApiKey } from '../api-keys/index.ts'
import { createProjectIn } from '../projects/index.ts'
import { TokenIssuer } from './issue-tokens.ts'
import { Memory } from './memory.ts'
import { revokeToken } from './revoke-token.ts'
import { mapKeyOf, newToken, type TokenName } from './token.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
/** Beyond every real clock, so that the test's time is the store's on both engines. */
const START = Date.UTC(2100, 0, 1)

/** The same database, whose answers to reads can be held back: they were read, but have not arrived. */
function slow(db: Database) {
  let held: { arrived(): void; released: Promise<void> } | undefined
  const plugin = {
    transformQuery: ({ node }: { node: unknown }) => node,
    transformResult: async ({ result }: { result: unknown }) => {
      held?.arrived()
      await held?.released
      return result
    },
  }
  const read = () => (db.read() as never as { withPlugin(plugin: unknown): unknown }).withPlugin(plugin)
  function hold() {
    const [arrival, release] = [gate(), gate()]
    held = { arrived: arrival.open, released: release.opened }
    return {
      /** An answer is there and waits. */
      arrived: arrival.opened,
      release() {
        held = undefined
        release.open()
      },
    }
  }
  return { db: { ...db, read } as Database, hold }
}

eachEngine((engine) => {
  async function prepared() {
    const clock = new TestClock(START)
    const real = await engine.open({ clock })
    await migrate(real, { migrations: MIGRATIONS, program: '99.0.0' })
    const { db, hold } = slow(real)
    const memory = new Memory({ db, clock, tokensKept: 100 })
    await memory.look()
    const random = randomBytes
    const { row: key } = await real.transaction(async (tx) => {
      const project = await createProjectIn({ random }, tx, { name: 'Club', actor: ACTOR })
      return createApiKeyIn({ random }, tx, { projectId: project.id, name: 'key', actor: ACTOR })
    })
    const issuer = new TokenIssuer({ db: real, now: () => START })
    async function issue(): Promise<TokenName & { mapKey: string }> {
      const { project_id: projectId, id: keyId, version: keyVersion } = key
      const { accessToken, digest } = newToken(random, projectId, START)
      await issuer.issue({ projectId, keyId, keyVersion, confirmed: undefined, digest, scope: 'vouchers' })
      return { projectId, digest, mapKey: mapKeyOf(accessToken) }
    }
    return { clock, real, memory, hold, key, issue }
  }

  describe('memory', () => {
    test('does not keep a token that was read before it was revoked and arrives after', async () => {
      const { real, memory, hold, issue } = await prepared()
      const token = await issue()
      const { arrived, release } = hold()
      const reading = memory.freshToken(token, token.mapKey)
      await arrived
      expect(await revokeToken(real, token)).toBe(true)
      memory.forgetToken(token.digest)
      release()
      await reading
      expect(memory.knownToken(token.mapKey)).toBeUndefined()
    })

    test('does not keep a token that was read before the latest look began and arrives after', async () => {
      const { memory, hold, issue } = await prepared()
      const token = await issue()
      const { arrived, release } = hold()
      const reading = memory.freshToken(token, token.mapKey)
      await arrived
      const looking = memory.look()
      release()
      await Promise.all([reading, looking])
      expect(memory.knownToken(token.mapKey)).toBeUndefined()
      await memory.freshToken(token, token.mapKey)
      expect(memory.knownToken(token.mapKey)).toBeDefined()
    })

    test('never puts an older version of a key in the place of a newer one', async () => {
      const { real, memory, key } = await prepared()
      const older = (await findApiKey(real, key.project_id, key.id))!
      memory.rememberKey({ ...older, version: older.version + 1, epoch: 2, state: 'blocked' })
      memory.rememberKey(older)
      expect(memory.knownKey(key.id)?.row).toMatchObject({ state: 'blocked', epoch: 2 })
    })

    test('vouches for nothing once its last look, or its own reading, is 30 s old', async () => {
      const { clock, memory, issue, key } = await prepared()
      const token = await issue()
      await memory.freshToken(token, token.mapKey)
      await memory.freshKey(key.project_id, key.id)
      const known = () => [
        memory.knownToken(token.mapKey) !== undefined,
        memory.knownKey(key.id) !== undefined,
      ]
      await clock.advance(29_999)
      expect(known()).toEqual([true, true])
      await clock.advance(1)
      expect(known()).toEqual([false, false])
      // A look confirms the keys that changed lately, and this one did; what it did not read, it does not confirm.
      await memory.look()
      expect(known()).toEqual([false, true])
    })

    test('counts the age of a look from when it was sent, not from when it was answered', async () => {
      const { clock, memory, hold, issue } = await prepared()
      const token = await issue()
      const { release } = hold()
      const looking = memory.look()
      await clock.advance(20_000)
      release()
      await looking
      await memory.freshToken(token, token.mapKey)
      await clock.advance(9_999)
      expect(memory.knownToken(token.mapKey)).toBeDefined()
      await clock.advance(1)
      expect(memory.knownToken(token.mapKey)).toBeUndefined()
    })

    test('says that a token is revoked even when it may vouch for nothing else: nothing leads back', async () => {
      const { clock, memory, issue } = await prepared()
      const token = await issue()
      await memory.freshToken(token, token.mapKey)
      memory.forgetToken(token.digest)
      await clock.advance(60_000)
      expect(memory.knownToken(token.mapKey)?.revoked).toBe(true)
    })

    test('whoever asks for a look while one is under way gets one that began after they asked', async () => {
      const { real, memory, hold, key } = await prepared()
      await memory.freshKey(key.project_id, key.id)
      const { arrived, release } = hold()
      const first = memory.look()
      await arrived
      await real.transaction(async (tx) => {
        const changed = { version: 2, state: 'blocked' as const, changed_at: await tx.now() }
        await tx
          .write<{ api_keys: typeof key }>()
          .updateTable('api_keys')
          .set(changed)
          .where('id', '=', key.id)
          .execute()
      })
      const second = memory.look()
      release()
      await Promise.all([first, second])
      expect(memory.knownKey(key.id)?.row.state).toBe('blocked')
    })
  })
})
