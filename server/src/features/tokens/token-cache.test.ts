import { describe, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { gate } from '../../../test/fixtures.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { type Database, migrate } from '../../platform/database/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { createApiKeyIn, findApiKey } from '../api-keys/index.ts'
import { createProjectIn } from '../projects/index.ts'
import { ChangeFeed } from './change-feed.ts'
import { IssueBatcher } from './issue-batcher.ts'
import { revokeToken } from './revoke-token.ts'
import { cacheKeyOf, newToken, type TokenLocator } from './token.ts'
import { TokenCache } from './token-cache.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
/** Later than every real clock, so that the test controls the database time on both engines. */
const START = Date.UTC(2100, 0, 1)

/** A database whose read results can be delayed: they were read but have not arrived. */
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
      /** Resolves when a result waits. */
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
    const cache = new TokenCache({ db, clock, maxTokens: 100 })
    const feed = new ChangeFeed({ db, clock, cache })
    await feed.pollChanges()
    const random = randomBytes
    const { row: key } = await real.transaction(async (tx) => {
      const project = await createProjectIn({ random }, tx, { name: 'Club', actor: ACTOR })
      return createApiKeyIn({ random }, tx, { projectId: project.id, name: 'key', actor: ACTOR })
    })
    const issuer = new IssueBatcher({ db: real, now: () => START })
    async function issue(): Promise<TokenLocator & { cacheKey: string }> {
      const { project_id: projectId, id: keyId, version: keyVersion, epoch } = key
      const { accessToken, digest } = newToken(random, projectId, START)
      await issuer.issue({
        projectId,
        keyId,
        keyVersion,
        epoch,
        projectKeysVersion: undefined,
        digest,
        scope: 'vouchers',
      })
      return { projectId, digest, cacheKey: cacheKeyOf(accessToken) }
    }
    return { clock, real, cache, feed, hold, key, issue }
  }

  describe('the cache', () => {
    test('does not keep a token that was read before it was revoked and arrives after that', async () => {
      const { real, cache, hold, issue } = await prepared()
      const token = await issue()
      const { arrived, release } = hold()
      const reading = cache.load(token, token.cacheKey)
      await arrived
      expect(await revokeToken(real, token)).toBe(true)
      cache.markRevoked(token.digest)
      release()
      await reading
      expect(cache.get(token.cacheKey)).toBeUndefined()
    })

    test('keeps a revoked token revoked if a read that renews its old entry arrives later', async () => {
      const { clock, real, cache, feed, hold, issue } = await prepared()
      const token = await issue()
      await cache.load(token, token.cacheKey)
      await clock.advance(31_000)
      await feed.pollChanges()
      expect(cache.get(token.cacheKey)).toBeUndefined()
      const { arrived, release } = hold()
      const reading = cache.load(token, token.cacheKey)
      await arrived
      expect(await revokeToken(real, token)).toBe(true)
      cache.markRevoked(token.digest)
      release()
      await reading
      expect(cache.get(token.cacheKey)?.revoked).toBe(true)
    })

    test('does not keep a token that was read before the latest poll began and arrives after it', async () => {
      const { cache, feed, hold, issue } = await prepared()
      const token = await issue()
      const { arrived, release } = hold()
      const reading = cache.load(token, token.cacheKey)
      await arrived
      const polling = feed.pollChanges()
      release()
      await Promise.all([reading, polling])
      expect(cache.get(token.cacheKey)).toBeUndefined()
      await cache.load(token, token.cacheKey)
      expect(cache.get(token.cacheKey)).toBeDefined()
    })

    test('never replaces a version of a key by an older one', async () => {
      const { real, cache, key } = await prepared()
      const older = (await findApiKey(real, key.project_id, key.id))!
      cache.putKey({ ...older, version: older.version + 1, epoch: 2, state: 'blocked' })
      cache.putKey(older)
      expect(cache.getKey(key.id)?.row).toMatchObject({ state: 'blocked', epoch: 2 })
    })

    test('does not answer from an entry 30 s after the last poll, or 30 s after it was read', async () => {
      const { clock, cache, feed, issue, key } = await prepared()
      const token = await issue()
      await cache.load(token, token.cacheKey)
      await cache.loadKey(key.project_id, key.id)
      const known = () => [cache.get(token.cacheKey) !== undefined, cache.getKey(key.id) !== undefined]
      await clock.advance(29_999)
      expect(known()).toEqual([true, true])
      await clock.advance(1)
      expect(known()).toEqual([false, false])
      // A poll confirms only the keys that changed recently, like this one.
      await feed.pollChanges()
      expect(known()).toEqual([false, true])
    })

    test('counts the age of a poll from when it was sent, not from when it was answered', async () => {
      const { clock, cache, feed, hold, issue } = await prepared()
      const token = await issue()
      const { release } = hold()
      const polling = feed.pollChanges()
      await clock.advance(20_000)
      release()
      await polling
      await cache.load(token, token.cacheKey)
      await clock.advance(9_999)
      expect(cache.get(token.cacheKey)).toBeDefined()
      await clock.advance(1)
      expect(cache.get(token.cacheKey)).toBeUndefined()
    })

    test('reports a revoked token as revoked even if its entry is too old for any other verdict', async () => {
      const { clock, cache, issue } = await prepared()
      const token = await issue()
      await cache.load(token, token.cacheKey)
      cache.markRevoked(token.digest)
      await clock.advance(60_000)
      expect(cache.get(token.cacheKey)?.revoked).toBe(true)
    })

    test('a call during a poll waits for a poll that starts after the call', async () => {
      const { real, cache, feed, hold, key } = await prepared()
      await cache.loadKey(key.project_id, key.id)
      const { arrived, release } = hold()
      const first = feed.pollChanges()
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
      const second = feed.pollChanges()
      release()
      await Promise.all([first, second])
      expect(cache.getKey(key.id)?.row.state).toBe('blocked')
    })
  })
})
