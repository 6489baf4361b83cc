import { describe, expect, test } from 'vitest'
import { eachEngine, type TestStore } from '../../../test/engines.ts'
import { genericPlans, heardStatements } from '../../../test/heard-statements.ts'
import fc from '../../../test/properties.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { gate } from '../../../test/things.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import {
  type Database,
  migrate,
  type PostgresDatabase,
  StoreUnavailable,
  UniqueConflict,
} from '../../platform/database/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { changeApiKey } from '../api-keys/change-api-key.ts'
import { createApiKeyIn, invalidateAllTokens } from '../api-keys/index.ts'
import { deleteProject } from '../projects/delete-project.ts'
import { createProjectIn, requireLockedProject } from '../projects/index.ts'
import type { IssueItem, IssueOutcome, KeysVersion } from './issue.ts'
import { IssueBatcher } from './issue-batcher.ts'
import { removeOldTokens } from './janitor.worker.ts'
import { revokeToken } from './revoke-token.ts'
import { countActiveTokens, deleteOldTokens, listActiveTokens } from './token.store.ts'
import { newToken } from './token.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
/** Beyond every real clock, so that the test's time is the store's on both engines. */
const START = Date.UTC(2100, 0, 1)

interface Tables {
  tokens: {
    project_id: string
    digest: Uint8Array
    expires_at: number
    key_id: string
    revoked_at: number | null
  }
  token_counts: { n: number }
  api_keys: {
    id: string
    version: number
    token_limit: number | null
    credits: number
    full_until: number | null
  }
  projects: { id: string; name: string; token_limit: number; credits: number; full_until: number | null }
}

/** The same database, with its issuing transactions counted and, where the test wants it, failing. */
function watched(db: Database) {
  const seen = { transactions: 0, failWith: undefined as Error | undefined }
  const watch = <Run extends (...parameters: never[]) => Promise<unknown>>(run: Run): Run =>
    ((...parameters: never[]) => {
      seen.transactions++
      return seen.failWith ? Promise.reject(seen.failWith) : run(...parameters)
    }) as Run
  const db_ =
    db.engine === 'sqlite' ? { ...db, runProgram: watch(db.runProgram) } : { ...db, runSql: watch(db.runSql) }
  return { db: db_ as Database, seen }
}

async function prepared(store: TestStore) {
  const { db, seen } = watched(await store.open({ clock: new TestClock(START) }))
  await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
  let now = START
  const issuer = new IssueBatcher({ db, now: () => now })
  const deps = { random: randomBytes }
  /** Of keys, by their ids: what the processes of the test know of them. */
  const keysVersions = new Map<string, KeysVersion>()
  return {
    db,
    deps,
    keysVersions,
    seen,
    issuer,
    now: () => now,
    advance: (ms: number) => (now += ms),
    /** Lowers the limit of a project that has no tokens yet. */
    shrink: (id: string, token_limit: number) =>
      db.transaction((tx) =>
        tx
          .write<Tables>()
          .updateTable('projects')
          .set({ token_limit, credits: token_limit })
          .where('id', '=', id)
          .execute(),
      ),
    async active(id: string) {
      const rows = await db
        .read<Tables>()
        .selectFrom('tokens')
        .innerJoin('api_keys', 'api_keys.id', 'tokens.key_id')
        .select('api_keys.token_limit')
        .where('tokens.project_id', '=', id)
        .where('tokens.expires_at', '>', now)
        .where('tokens.revoked_at', 'is', null)
        .execute()
      const { credits } = await db
        .read<Tables>()
        .selectFrom('projects')
        .select('credits')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return { all: rows.length, limited: rows.filter((row) => row.token_limit !== null).length, credits }
    },
    /** How many connections of the test's own database wait for a lock. */
    async lockWaits() {
      if (db.engine === 'sqlite') return 0
      const [row] = await db.runSql((connection) =>
        connection.send<{ n: number }>(
          "select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      )
      return row!.n
    },
    async revokeOne(projectId: string) {
      const [one] = await db
        .read<Tables>()
        .selectFrom('tokens')
        .selectAll()
        .where('project_id', '=', projectId)
        .execute()
      if (one) await revokeToken(db, { projectId, digest: one.digest })
    },
    project: (name: string) => db.transaction((tx) => createProjectIn(deps, tx, { name, actor: ACTOR })),
    async key(projectId: string, token_limit: number | null = null): Promise<() => IssueItem> {
      const { row } = await db.transaction((tx) =>
        createApiKeyIn(deps, tx, { projectId, name: 'key', token_limit, actor: ACTOR }),
      )
      return () => ({
        projectId,
        keyId: row.id,
        keyVersion: row.version,
        keysVersion: keysVersions.get(row.id),
        digest: newToken(randomBytes, projectId, 0).digest,
        scope: 'vouchers',
      })
    },
    stored: () => db.read<Tables>().selectFrom('tokens').selectAll().execute(),
    /** All in one turn of the event loop, so that they make one batch. */
    async together(items: readonly IssueItem[], by = issuer): Promise<IssueOutcome[]> {
      const outcomes = await Promise.all(items.map((item) => by.issue(item)))
      for (const [i, outcome] of outcomes.entries())
        if (outcome.status === 'issued' && outcome.keysVersion)
          keysVersions.set(items[i]!.keyId, outcome.keysVersion)
      return outcomes
    },
  }
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
const kinds = (outcomes: readonly IssueOutcome[]) => outcomes.map(({ status }) => status)
const waits = (outcomes: readonly IssueOutcome[]) =>
  outcomes.flatMap((outcome) => (outcome.status === 'full' ? [outcome.retryAfterSeconds] : []))

/** As after a restore: nobody knows how many there are. */
const forget = (db: Database) =>
  db.transaction(async (tx) => {
    const unknown = { credits: 0, full_until: null }
    await tx.write<Tables>().updateTable('projects').set(unknown).execute()
    await tx.write<Tables>().updateTable('api_keys').set(unknown).execute()
  })

eachEngine((engine) => {
  const open = async () => prepared(await engine.freshStore())

  describe('requests that arrive together', () => {
    test('are committed together: far fewer transactions than tokens, and every token is there', async () => {
      const { together, project, key, stored, seen } = await open()
      const item = await key((await project('Club')).id)
      const items = times(600, item)
      const outcomes = await together(items)
      expect(new Set(kinds(outcomes))).toEqual(new Set(['issued']))
      expect(seen.transactions).toBeLessThanOrEqual(5)
      const digests = (await stored()).map(({ digest }) => Buffer.from(digest).toString('hex'))
      expect(digests.sort()).toEqual(items.map(({ digest }) => Buffer.from(digest).toString('hex')).sort())
    })

    test('while others are being committed wait for the next commit and no longer', async () => {
      const { issuer, project, key, seen } = await open()
      const item = await key((await project('Club')).id)
      const first = issuer.issue(item())
      await new Promise(setImmediate)
      const rest = times(100, () => issuer.issue(item()))
      expect(kinds(await Promise.all([first, ...rest]))).toHaveLength(101)
      expect(seen.transactions).toBeLessThanOrEqual(3)
    })

    // On SQLite whoever locks one locks them all.
    if (engine.name === 'PostgreSQL')
      test('do not wait for a project that is locked, however many ask for it', async () => {
        const { db, issuer, project, key, stored, lockWaits } = await open()
        const [locked, free] = [(await project('locked')).id, (await project('free')).id]
        const [ofLocked, ofFree] = [await key(locked), await key(free)]
        // Keys that the store has confirmed go another way than new ones: both must not wait.
        const versions = (await Promise.all([issuer.issue(ofFree()), issuer.issue(ofLocked())])).map(
          (outcome) => (outcome.status === 'issued' ? outcome.keysVersion : undefined),
        )
        const [known, unknown] = [
          {
            free: { ...ofFree(), keysVersion: versions[0] },
            locked: { ...ofLocked(), keysVersion: versions[1] },
          },
          { free: ofFree(), locked: ofLocked() },
        ]
        expect(versions).not.toContain(undefined)
        const [held, over] = [gate(), gate()]
        const holding = db.transaction(async (tx) => {
          await requireLockedProject(tx, locked)
          held.open()
          await over.opened
        })
        await held.opened
        const stuck: Promise<IssueOutcome>[] = []
        for (const ways of [known, unknown, known, unknown]) {
          stuck.push(issuer.issue({ ...ways.locked, digest: ofLocked().digest }))
          await new Promise(setImmediate)
          // As many as start a second batch at once.
          stuck.push(...times(40, () => issuer.issue({ ...ways.locked, digest: ofLocked().digest })))
          const began = performance.now()
          const outcome = await issuer.issue({ ...ways.free, digest: ofFree().digest })
          expect(outcome.status).toBe('issued')
          expect(performance.now() - began).toBeLessThan(2_000)
        }
        expect(await lockWaits()).toBe(1)
        over.open()
        await holding
        expect(new Set((await Promise.all(stuck)).map(({ status }) => status))).toEqual(new Set(['issued']))
        expect(await stored()).toHaveLength(2 + 4 * 41 + 4)
      })

    test('get their places in the order in which they came', async () => {
      const { together, project, key } = await open()
      const item = await key((await project('Club')).id, 3)
      expect(kinds(await together(times(5, item)))).toEqual(['issued', 'issued', 'issued', 'full', 'full'])
    })

    test('do not fail for what a neighbour did wrong', async () => {
      const { together, project, key, stored } = await open()
      const [good, bad] = [await project('Good'), await project('Bad')]
      const [well, full] = [await key(good.id), await key(bad.id, 1)]
      const stale = { ...well(), keyVersion: 7 }
      const unknown = { ...well(), keyId: 'key_none' }
      const foreign = { ...well(), projectId: bad.id }
      const outcomes = await together([well(), stale, full(), unknown, full(), foreign, well()])
      expect(kinds(outcomes)).toEqual(['issued', 'stale', 'issued', 'stale', 'full', 'stale', 'issued'])
      expect(await stored()).toHaveLength(3)
    })

    test('all fail when the commit fails, none of them is stored, and the next ones go on', async () => {
      const { together, project, key, stored, seen } = await open()
      const item = await key((await project('Club')).id)
      seen.failWith = new StoreUnavailable('cut')
      const failed = await Promise.allSettled(times(10, item).map((one) => together([one])))
      expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(['rejected']))
      expect(await stored()).toEqual([])
      seen.failWith = undefined
      expect(kinds(await together(times(2, item)))).toEqual(['issued', 'issued'])
    })
  })

  describe('whoever is refused', () => {
    test('is told when the oldest expires, also where the same batch took the last places', async () => {
      const { together, advance, project, key } = await open()
      const item = await key((await project('Club')).id, 5)
      expect(waits(await together(times(8, item)))).toEqual([900, 900, 900])
      advance(300_000)
      expect(waits(await together(times(2, item)))).toEqual([600, 600])
      // All five have expired; the batch that finds it out takes all five places.
      advance(600_000)
      const again = await together(times(8, item))
      expect(kinds(again).filter((kind) => kind === 'issued')).toHaveLength(5)
      expect(waits(again)).toEqual([900, 900, 900])
    })

    test('is told so also where tokens of several ages are counted', async () => {
      const { together, advance, project, key } = await open()
      const item = await key((await project('Club')).id, 5)
      await together(times(3, item))
      advance(100_000)
      await together(times(2, item))
      advance(800_000)
      const again = await together(times(7, item))
      expect(kinds(again).filter((kind) => kind === 'issued')).toHaveLength(3)
      expect(waits(again)).toEqual([100, 100, 100, 100])
    })

    test('learns whether it is the key or the project that is full', async () => {
      const { together, project, key } = await open()
      const { id } = await project('Club')
      const [limited, open_] = [await key(id, 1), await key(id)]
      for (let i = 0; i < 4; i++) await together(times(250, open_))
      expect(await together([open_(), limited()])).toEqual(
        times(2, () => expect.objectContaining({ status: 'full', quota: 'project' })),
      )
    })
  })

  test('a full project takes no place from its keys, and a full key none from its project', async () => {
    const { together, advance, project, key, stored } = await open()
    const { id } = await project('Club')
    const [limited, open_] = [await key(id, 10), await key(id)]
    for (let i = 0; i < 4; i++) await together([...times(5, limited), ...times(250, open_)])
    expect(await stored()).toHaveLength(1_000)
    advance(900_000)
    const outcomes = await together([...times(12, limited), ...times(200, open_)])
    expect(kinds(outcomes).filter((kind) => kind === 'issued')).toHaveLength(210)
  })

  test('what is refused or stale takes no place of those that come later', async () => {
    const { together, project, key, stored } = await open()
    const item = await key((await project('Club')).id)
    const stale = () => ({ ...item(), keyVersion: 7 })
    for (let i = 0; i < 5; i++) await together(times(250, stale))
    for (let i = 0; i < 5; i++) await together([...times(230, item), ...times(20, stale)])
    expect(await stored()).toHaveLength(1_000)
    expect(new Set(kinds(await together(times(3, item))))).toEqual(new Set(['full']))
  })

  test('after a batch that failed, as many find room as before', async () => {
    const { together, project, key, stored } = await open()
    const item = await key((await project('Club')).id)
    for (let i = 0; i < 3; i++) await together(times(100, item))
    const twice = item()
    await expect(together([...times(20, item), twice, twice])).rejects.toThrow(UniqueConflict)
    const outcomes = []
    for (let i = 0; i < 5; i++) outcomes.push(...(await together(times(160, item))))
    expect(kinds(outcomes).filter((kind) => kind === 'issued')).toHaveLength(700)
    expect(await stored()).toHaveLength(1_000)
  })

  test('however two processes take turns, nobody is refused a place that is free, and none is given twice', async () => {
    const turns = fc.array(
      fc.record({
        by: fc.constantFrom(0, 1),
        count: fc.integer({ min: 1, max: 12 }),
        limited: fc.integer({ min: 0, max: 4 }),
        afterwards: fc.constantFrom(
          ...['nothing', 'nothing', 'second', 'second', 'revoke', 'revoke', 'minutes', 'remove', 'forget'],
        ),
      }),
      { minLength: 20, maxLength: 30 },
    )
    const store = await engine.freshStore()
    const first = await prepared(store)
    const second = new IssueBatcher({ db: await store.open(), now: first.now })
    let clubs = 0
    await fc.assert(
      fc.asyncProperty(turns, async (history) => {
        const { id } = await first.project(`Club ${++clubs}`)
        const [open_, limited] = [await first.key(id), await first.key(id, 10)]
        await first.shrink(id, 90)
        for (const { by, count, limited: few, afterwards } of history) {
          const issuer = [first.issuer, second][by]!
          const items = [...times(count, open_), ...times(few, limited)]
          const before = await first.active(id)
          const outcomes = await first.together(items, issuer)
          const issued = kinds(outcomes).filter((kind) => kind === 'issued').length
          const after = await first.active(id)
          expect(after.all).toBe(before.all + issued)
          expect(after.all).toBeLessThanOrEqual(90)
          expect(after.limited).toBeLessThanOrEqual(10)
          for (const outcome of outcomes) {
            if (outcome.status !== 'full') continue
            expect(outcome.quota === 'project' ? after.all : after.limited).toBe(
              outcome.quota === 'project' ? 90 : 10,
            )
          }
          expect(after.credits).toBeLessThanOrEqual(90 - after.all)
          if (afterwards === 'revoke') await first.revokeOne(id)
          if (afterwards === 'second') first.advance(1_000)
          if (afterwards === 'minutes') first.advance(300_000)
          if (afterwards === 'forget') await forget(first.db)
          if (afterwards === 'remove') await removeOldTokens(first.db, first.now())
          const { all, limited: ofLimited } = await first.active(id)
          const counts = await countActiveTokens(first.db, first.now(), [id])
          const countOf = (keyId: string) => counts.find(({ key_id }) => key_id === keyId)?.count ?? 0
          expect([countOf(open_().keyId), countOf(limited().keyId)]).toEqual([all - ofLimited, ofLimited])
          const page = { limit: 100, offset: 0 } as never
          const listed = await listActiveTokens(first.db, { projectId: id, now: first.now() }, page)
          expect([listed.rows.length, listed.total]).toEqual([all, all])
        }
      }),
      { numRuns: 12 },
    )
  })

  test('a copy of the tables alone issues, too', async () => {
    const { db, together, project, key } = await open()
    if (db.engine === 'postgres') await db.runSql((pg) => pg.send('drop function jeton_issue_known'))
    const item = await key((await project('Club')).id)
    expect(kinds(await together(times(3, item)))).toEqual(['issued', 'issued', 'issued'])
  })

  // Statements that run all day keep the plan of the first morning, when all tables were empty.
  if (engine.name === 'PostgreSQL')
    test('whoever counts anew looks up each key once, also as planned while there were none', async () => {
      const { db, now, project, key, shrink } = await open()
      const club = (await project('Club')).id
      await shrink(club, 1)
      const item = await key(club)
      const postgres = db as PostgresDatabase
      const { db: heard, texts } = heardStatements(postgres)
      const issuer = new IssueBatcher({ db: heard, now })
      expect([(await issuer.issue(item())).status, (await issuer.issue(item())).status]).toEqual([
        'issued',
        'full',
      ])
      const counts = [...texts].filter((text) => text.includes('full_until ='))
      expect(counts).toHaveLength(2)
      const steps = await genericPlans(postgres, counts)
      // No pair of a token and a key is compared, and keys are only looked up for what was counted.
      expect(steps.filter((step) => step.startsWith('Join Filter'))).toEqual([])
      const lookups = steps.filter((_, i) =>
        /using api_keys_pk on api_keys(?! [ho])/.test(steps[i - 1] ?? ''),
      )
      expect(lookups).toHaveLength(2)
      for (const step of lookups)
        expect(step).toMatch(/^Index Cond: \(\(project_id = .+\) AND \(id = .+\)\)$/)
    })

  test('of tokens that are gone nothing is left, and their places are given once, also to a clock that is behind', async () => {
    const { db, together, advance, now, project, key, shrink } = await open()
    const { id } = await project('Club')
    await shrink(id, 3)
    const item = await key(id)
    await together([item()])
    advance(1_000)
    await together([item()])
    advance(20 * 60_000)
    expect(await removeOldTokens(db, now())).toBe(2)
    if (db.engine === 'sqlite')
      expect(await db.read<Tables>().selectFrom('token_counts').selectAll().execute()).toEqual([])
    advance(-30 * 60_000)
    expect(kinds(await together([item()]))).toEqual(['issued'])
    advance(1_000)
    expect(kinds(await together(times(5, item)))).toEqual(['issued', 'issued', 'full', 'full', 'full'])
  })

  test('what a janitor that is ahead has removed is free, and what it has left is not', async () => {
    const { db, together, advance, now, project, key, shrink, active, revokeOne } = await open()
    const { id } = await project('Club')
    await shrink(id, 10)
    const item = await key(id)
    await together(times(8, item))
    advance(1_000)
    await together([item()])
    await revokeOne(id)
    advance(1_000)
    const ahead = { expiredBefore: now() + 1_200_000, revokedBefore: now() + 1_200_000 }
    for (let left = 8; left > 3; left--) expect(await deleteOldTokens(db, { ...ahead, most: 1 })).toBe(1)
    await together(times(20, item))
    expect(await active(id)).toMatchObject({ all: 10 })
  })

  test('places that are found by a count are given once, also in the seconds after it', async () => {
    const { db, together, advance, project, key } = await open()
    const { id } = await project('Club')
    const item = await key(id, 3)
    await forget(db)
    for (let i = 0; i < 3; i++) {
      expect(kinds(await together([item()]))).toEqual(['issued'])
      advance(1_000)
    }
    for (let i = 0; i < 3; i++) {
      expect(kinds(await together([item()]))).toEqual(['full'])
      advance(1_000)
    }
  })

  test('places come free second by second', async () => {
    const { together, advance, project, key, shrink } = await open()
    const { id } = await project('Club')
    await shrink(id, 2)
    const item = await key(id)
    await together([item()])
    advance(1_000)
    expect(kinds(await together(times(2, item)))).toEqual(['issued', 'full'])
    advance(899_000)
    expect(kinds(await together(times(2, item)))).toEqual(['issued', 'full'])
    advance(1_000)
    expect(kinds(await together(times(2, item)))).toEqual(['issued', 'full'])
  })

  test('whoever was refused by a clock that is ahead has moved nobody else’s time', async () => {
    const { together, advance, project, key, shrink } = await open()
    const { id } = await project('Club')
    await shrink(id, 1)
    const item = await key(id)
    await together([item()])
    advance(600_000)
    expect(waits(await together([item()]))).toEqual([300])
    advance(-600_000)
    const [wait] = waits(await together([item()]))
    expect([899, 900]).toContain(wait)
  })

  test('a clock that was ahead, gave nothing and goes back leaves every limit as it is', async () => {
    const { db, together, advance, project, key, shrink } = await open()
    const [two, one] = [(await project('two')).id, (await project('one')).id]
    await shrink(two, 2)
    await shrink(one, 1)
    const [ofTwo, ofOne] = [await key(two), await key(one)]
    expect(kinds(await together(times(2, ofOne)))).toEqual(['issued', 'full'])
    const name = { name: 'Two' }
    await db.transaction((tx) =>
      tx.write<Tables>().updateTable('projects').set(name).where('id', '=', two).execute(),
    )
    advance(5_000)
    expect(kinds(await together([ofOne()]))).toEqual(['full'])
    advance(-3_000)
    expect(kinds(await together(times(6, ofTwo)))).toEqual([
      'issued',
      'issued',
      'full',
      'full',
      'full',
      'full',
    ])
  })

  test('a clock that leaps by years finds all places free, at once', async () => {
    const { together, advance, project, key, shrink } = await open()
    const { id } = await project('Club')
    await shrink(id, 2)
    const item = await key(id)
    expect(kinds(await together(times(3, item)))).toEqual(['issued', 'issued', 'full'])
    advance(50 * 365 * 86_400_000)
    expect(kinds(await together(times(3, item)))).toEqual(['issued', 'issued', 'full'])
  })

  test('time never goes back for the store, even if the process that issues is behind', async () => {
    const { together, advance, project, key, stored } = await open()
    const item = await key((await project('Club')).id)
    await together([item()])
    advance(-3_600_000)
    await together([item()])
    const expiries = (await stored()).map((row) => Number(row.expires_at))
    expect(new Set(expiries)).toEqual(new Set([START + 900_000]))
  })

  describe('a key that is confirmed', () => {
    const changed = (store: Awaited<ReturnType<typeof open>>, item: IssueItem, difference: object = {}) =>
      changeApiKey(
        { ...store.deps, db: store.db, onChange: () => undefined },
        { projectId: item.projectId, keyId: item.keyId, actor: ACTOR },
        { action: 'api_key.changed', apply: () => difference },
      )

    test('is looked at again only if its project has another mark', async () => {
      const { db, together, project, key } = await open()
      const item = await key((await project('Club')).id)
      const unconfirmed = item()
      await together([item()])
      if (db.engine === 'postgres')
        await db.runSql((pg) => pg.send('alter table api_keys disable trigger api_keys_mark'))
      await db.transaction((tx) => tx.write<Tables>().updateTable('api_keys').set({ version: 2 }).execute())
      const seen = db.engine === 'postgres' ? 'issued' : 'stale'
      expect(kinds(await together([item(), unconfirmed]))).toEqual([seen, 'stale'])
    })

    test.each([
      ['changed in any way', {}],
      ['blocked', { state: 'blocked', epoch: 2 }],
      ['given a limit of its own', { token_limit: 1, credits: 0 }],
    ])('and was %s meanwhile is stale', async (_, difference) => {
      const store = await open()
      const item = await store.key((await store.project('Club')).id)
      await store.together([item()])
      await changed(store, item(), difference)
      expect(kinds(await store.together(times(2, item)))).toEqual(['stale', 'stale'])
    })

    test('and whose project was deleted, or all of it restored, is stale', async () => {
      const { db, deps, together, project, key } = await open()
      const [gone, restored] = [(await project('gone')).id, (await project('restored')).id]
      const [ofGone, ofRestored] = [await key(gone), await key(restored)]
      await together([ofGone(), ofRestored()])
      // By itself: the keys of a project are marked with it, and would be stale for that.
      const alone = { ...deps, db, markContents: async () => undefined, onDelete: () => undefined }
      await deleteProject(alone, { id: gone, name: 'gone', actor: ACTOR })
      expect(kinds(await together([ofGone(), ofRestored()]))).toEqual(['stale', 'issued'])
      await db.transaction(invalidateAllTokens)
      expect(kinds(await together([ofRestored()]))).toEqual(['stale'])
    })

    test('stays so when another key of its project changes, and is then confirmed anew', async () => {
      const store = await open()
      const { id } = await store.project('Club')
      const [item, other] = [await store.key(id), await store.key(id)]
      await store.together([item(), other()])
      const before = store.keysVersions.get(item().keyId)
      await changed(store, other())
      expect(kinds(await store.together([item(), other()]))).toEqual(['issued', 'stale'])
      const after = store.keysVersions.get(item().keyId)
      if (store.db.engine === 'postgres') expect(after!.keysVersion).not.toBe(before!.keysVersion)
      else expect(after).toBeUndefined()
    })

    test('and has changed is not believed by the word of another one of its project', async () => {
      const store = await open()
      const { id } = await store.project('Club')
      const [item, other] = [await store.key(id), await store.key(id)]
      await store.together([item(), other()])
      await changed(store, item())
      await store.together([other()])
      for (const items of [
        [item(), other()],
        [other(), item()],
      ])
        expect(kinds(await store.together(items)).sort()).toEqual(['issued', 'stale'])
    })

    test('takes no more than its project has, whoever else asks in the same batch', async () => {
      const { together, project, key, shrink, stored } = await open()
      const [small, large] = [(await project('small')).id, (await project('large')).id]
      await shrink(small, 5)
      const [ofSmall, ofLarge] = [await key(small), await key(large)]
      await together([ofSmall(), ofLarge()])
      const outcomes = await together([...times(6, ofSmall), ...times(3, ofLarge), ofSmall()])
      expect(kinds(outcomes).filter((kind) => kind === 'full')).toHaveLength(3)
      expect(kinds(outcomes.slice(6, 9))).toEqual(['issued', 'issued', 'issued'])
      expect(await stored()).toHaveLength(2 + 4 + 3)
    })
  })
})
