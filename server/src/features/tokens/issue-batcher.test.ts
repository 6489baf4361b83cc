import { describe, expect, test } from 'vitest'
import { eachEngine, type TestStore } from '../../../test/engines.ts'
import { gate } from '../../../test/fixtures.ts'
import fc from '../../../test/properties.ts'
import { TestClock } from '../../../test/test-clock.ts'
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
import type { IssueItem, IssueOutcome, ProjectKeysVersion } from './issue-batch.ts'
import { IssueBatcher } from './issue-batcher.ts'
import { removeOldTokens } from './janitor.job.ts'
import { revokeToken } from './revoke-token.ts'
import { countActiveTokens, deleteOldTokens, listActiveTokens } from './token.store.ts'
import { newToken } from './token.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
/** Later than every real clock, so that the test controls the database time on both engines. */
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

/** Counts the issuing transactions of a database, and makes them fail on request. */
function watched(db: Database) {
  const seen = { transactions: 0, failWith: undefined as Error | undefined }
  const watch = <Run extends (...parameters: never[]) => Promise<unknown>>(run: Run): Run =>
    ((...parameters: never[]) => {
      seen.transactions++
      return seen.failWith ? Promise.reject(seen.failWith) : run(...parameters)
    }) as Run
  const db_ =
    db.engine === 'sqlite'
      ? { ...db, runInWriter: watch(db.runInWriter) }
      : { ...db, withConnection: watch(db.withConnection) }
  return { db: db_ as Database, seen }
}

async function prepared(store: TestStore) {
  const { db, seen } = watched(await store.open({ clock: new TestClock(START) }))
  await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
  let now = START
  const issuer = new IssueBatcher({ db, now: () => now })
  const deps = { random: randomBytes }
  /** Keys versions that the processes of the test know, by key id. */
  const keysVersions = new Map<string, ProjectKeysVersion>()
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
    /** Number of connections of the test database that wait for a lock. */
    async lockWaits() {
      if (db.engine === 'sqlite') return 0
      const [row] = await db.withConnection((connection) =>
        connection.query<{ n: number }>(
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
        epoch: row.epoch,
        projectKeysVersion: keysVersions.get(row.id),
        digest: newToken(randomBytes, projectId, 0).digest,
        scope: 'vouchers',
      })
    },
    stored: () => db.read<Tables>().selectFrom('tokens').selectAll().execute(),
    /** Issues all items in one turn of the event loop, so that they form one batch. */
    async together(items: readonly IssueItem[], by = issuer): Promise<IssueOutcome[]> {
      const outcomes = await Promise.all(items.map((item) => by.issue(item)))
      for (const [i, outcome] of outcomes.entries())
        if (outcome.status === 'issued' && outcome.projectKeysVersion)
          keysVersions.set(items[i]!.keyId, outcome.projectKeysVersion)
      return outcomes
    },
  }
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
const kinds = (outcomes: readonly IssueOutcome[]) => outcomes.map(({ status }) => status)
const waits = (outcomes: readonly IssueOutcome[]) =>
  outcomes.flatMap((outcome) => (outcome.status === 'full' ? [outcome.retryAfterSeconds] : []))

/** Resets credits, like a restore. */
const forget = (db: Database) =>
  db.transaction(async (tx) => {
    const unknown = { credits: 0, full_until: null }
    await tx.write<Tables>().updateTable('projects').set(unknown).execute()
    await tx.write<Tables>().updateTable('api_keys').set(unknown).execute()
  })

/** Counts the rows that counting a project reads from each table. */
const rowsReadByCount = (postgres: PostgresDatabase, projectId: string, now: number) =>
  postgres.withConnection(async (connection) => {
    const rowsRead = () =>
      connection.query<{ relname: string; n: number }>(
        `select relname, seq_tup_read + idx_tup_fetch as n from pg_stat_xact_user_tables
          where relname in ('api_keys', 'tokens') order by relname`,
      )
    await connection.query('begin')
    await connection.query('set local plan_cache_mode = force_generic_plan')
    const before = await rowsRead()
    await connection.query(`select jeton_active_tokens('${projectId}', null, ${now})`)
    const after = await rowsRead()
    await connection.query('rollback')
    return Object.fromEntries(after.map(({ relname, n }, i) => [relname, n - before[i]!.n]))
  })

eachEngine((engine) => {
  const open = async () => prepared(await engine.freshStore())

  describe('requests that arrive together', () => {
    test('are committed together: far fewer transactions than tokens, and every token is stored', async () => {
      const { together, project, key, stored, seen } = await open()
      const item = await key((await project('Club')).id)
      const items = times(600, item)
      const outcomes = await together(items)
      expect(new Set(kinds(outcomes))).toEqual(new Set(['issued']))
      expect(seen.transactions).toBeLessThanOrEqual(5)
      const digests = (await stored()).map(({ digest }) => Buffer.from(digest).toString('hex'))
      expect(digests.sort()).toEqual(items.map(({ digest }) => Buffer.from(digest).toString('hex')).sort())
    })

    test('during a commit wait for the next commit and no longer', async () => {
      const { issuer, project, key, seen } = await open()
      const item = await key((await project('Club')).id)
      const first = issuer.issue(item())
      await new Promise(setImmediate)
      const rest = times(100, () => issuer.issue(item()))
      expect(kinds(await Promise.all([first, ...rest]))).toHaveLength(101)
      expect(seen.transactions).toBeLessThanOrEqual(3)
    })

    // On SQLite a lock delays all projects.
    if (engine.name === 'PostgreSQL')
      test('do not wait for a locked project, however many requests it gets', async () => {
        const { db, issuer, project, key, stored, lockWaits } = await open()
        const [locked, free] = [(await project('locked')).id, (await project('free')).id]
        const [ofLocked, ofFree] = [await key(locked), await key(free)]
        const versions = (await Promise.all([issuer.issue(ofFree()), issuer.issue(ofLocked())])).map(
          (outcome) => (outcome.status === 'issued' ? outcome.projectKeysVersion : undefined),
        )
        const [known, unknown] = [
          {
            free: { ...ofFree(), projectKeysVersion: versions[0] },
            locked: { ...ofLocked(), projectKeysVersion: versions[1] },
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
          // Enough to start a second batch immediately.
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

    if (engine.name === 'PostgreSQL')
      describe('for projects that are locked', () => {
        /** Locks as many projects until `unlock` is called; a key of each, and one of a project that is free. */
        async function lockedProjects(count: number) {
          const store = await engine.freshStore()
          const opened = await prepared(store)
          const projects = await Promise.all(
            Array.from({ length: count }, (_, i) => opened.project(`locked ${i}`)),
          )
          const keys = await Promise.all(projects.map(({ id }) => opened.key(id)))
          const free = await opened.key((await opened.project('free')).id)
          const other = await prepared(store)
          const [held, over] = [gate(), gate()]
          const holding = other.db.transaction(async (tx) => {
            for (const { id } of projects) await requireLockedProject(tx, id)
            held.open()
            await over.opened
          })
          await held.opened
          const unlock = () => {
            over.open()
            return holding
          }
          return { ...opened, keys, free, unlock, lockWaits: other.lockWaits }
        }

        test('leave most connections of the pool to others, however many projects are locked', async () => {
          const { together, issuer, keys, free, unlock, lockWaits } = await lockedProjects(8)
          const stuck = together(keys.map((item) => item()))
          await expect.poll(lockWaits).toBe(2)
          expect((await issuer.issue(free())).status).toBe('issued')
          expect(await lockWaits()).toBe(2)
          await unlock()
          expect(kinds(await stuck)).toEqual(times(8, () => 'issued'))
        })

        test('are refused beyond one limit for all projects together', async () => {
          const { issuer, keys, free, unlock, lockWaits } = await lockedProjects(2)
          const first = keys.map((item) => issuer.issue(item()))
          await expect.poll(lockWaits).toBe(2)
          const stuck = times(4_999, () => keys.map((item) => issuer.issue(item()))).flat()
          await expect(issuer.issue(free())).rejects.toThrow(StoreUnavailable)
          await expect(issuer.issue(keys[0]!())).rejects.toThrow(StoreUnavailable)
          await unlock()
          expect(kinds(await Promise.all(first))).toEqual(['issued', 'issued'])
          await Promise.all(stuck)
          expect((await issuer.issue(free())).status).toBe('issued')
        })
      })

    test('get the last credits in the order of their arrival', async () => {
      const { together, project, key } = await open()
      const item = await key((await project('Club')).id, 3)
      expect(kinds(await together(times(5, item)))).toEqual(['issued', 'issued', 'issued', 'full', 'full'])
    })

    test('do not fail because of another request of the batch', async () => {
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

    test('all fail if the commit fails, none of them is stored, and later ones succeed', async () => {
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

  describe('a refused request', () => {
    test('learns when the oldest token expires, also if its own batch took the last credits', async () => {
      const { together, advance, project, key } = await open()
      const item = await key((await project('Club')).id, 5)
      expect(waits(await together(times(8, item)))).toEqual([900, 900, 900])
      advance(300_000)
      expect(waits(await together(times(2, item)))).toEqual([600, 600])
      // All five have expired; the batch that finds this out takes all five credits.
      advance(600_000)
      const again = await together(times(8, item))
      expect(kinds(again).filter((kind) => kind === 'issued')).toHaveLength(5)
      expect(waits(again)).toEqual([900, 900, 900])
    })

    test('learns when the oldest token expires, also among tokens of several ages', async () => {
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

    test('learns whether the key or the project is full', async () => {
      const { together, project, key } = await open()
      const { id } = await project('Club')
      const [limited, open_] = [await key(id, 1), await key(id)]
      for (let i = 0; i < 4; i++) await together(times(250, open_))
      expect(await together([open_(), limited()])).toEqual(
        times(2, () => expect.objectContaining({ status: 'full', quota: 'project' })),
      )
    })
  })

  test('a full project takes no credit of its keys, and a full key none of its project', async () => {
    const { together, advance, project, key, stored } = await open()
    const { id } = await project('Club')
    const [limited, open_] = [await key(id, 10), await key(id)]
    for (let i = 0; i < 4; i++) await together([...times(5, limited), ...times(250, open_)])
    expect(await stored()).toHaveLength(1_000)
    advance(900_000)
    const outcomes = await together([...times(12, limited), ...times(200, open_)])
    expect(kinds(outcomes).filter((kind) => kind === 'issued')).toHaveLength(210)
  })

  test('a refused or stale request takes no credit', async () => {
    const { together, project, key, stored } = await open()
    const item = await key((await project('Club')).id)
    const stale = () => ({ ...item(), keyVersion: 7 })
    for (let i = 0; i < 5; i++) await together(times(250, stale))
    for (let i = 0; i < 5; i++) await together([...times(230, item), ...times(20, stale)])
    expect(await stored()).toHaveLength(1_000)
    expect(new Set(kinds(await together(times(3, item))))).toEqual(new Set(['full']))
  })

  test('a batch that fails takes no credits', async () => {
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

  test('two processes in any order issue exactly as many tokens as the limits allow', async () => {
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

  // A connection keeps its first plans, which were made when all tables were empty.
  if (engine.name === 'PostgreSQL')
    test('a count reads each key once and no other project, also with a plan from when the tables were empty', async () => {
      const store = await engine.freshStore()
      const { now, project, key, shrink, together } = await prepared(store)
      const db = (await store.open({ pool: 1 })) as PostgresDatabase
      const [club, other] = [(await project('Club')).id, (await project('Other')).id]
      await shrink(club, 1)
      const item = await key(club)
      const outcomes = await together(times(2, item), new IssueBatcher({ db, now }))
      expect(kinds(outcomes)).toEqual(['issued', 'full'])
      for (let i = 0; i < 20; i++) await together(times(10, await key(other)))
      expect(await rowsReadByCount(db, club, now())).toEqual({ tokens: 1, api_keys: 1 })
    })

  test('removed tokens leave no counts behind, and their credits return once, also for a clock that is behind', async () => {
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

  test('tokens that a janitor with a fast clock has removed no longer count, and those that it has left do', async () => {
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
    for (let left = 8; left > 3; left--) expect(await deleteOldTokens(db, { ...ahead, limit: 1 })).toBe(1)
    await together(times(20, item))
    expect(await active(id)).toMatchObject({ all: 10 })
  })

  test('credits that a count has found are given once, also in the seconds after it', async () => {
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

  test('credits return second by second', async () => {
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

  test('a refusal by a clock that is ahead does not advance the time of the store', async () => {
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

  test('a clock that was ahead, issued nothing and goes back leaves every limit exact', async () => {
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

  test('credits that only a clock ahead has found are gone when it goes back', async () => {
    const { db, together, advance, project, key, shrink } = await open()
    const { id } = await project('Club')
    const [limited, other] = [await key(id, 1), await key(id)]
    const setLimit = (token_limit: number) =>
      db.transaction((tx) =>
        tx
          .write<Tables>()
          .updateTable('projects')
          .set({ token_limit, credits: 0, full_until: null })
          .execute(),
      )
    await shrink(id, 3)
    await together([limited()])
    advance(450_000)
    await together(times(2, other))
    await setLimit(2)
    // The token of the limited key has expired by this clock, but its project is full.
    advance(450_000)
    expect(await together([limited()])).toMatchObject([{ status: 'full', quota: 'project' }])
    advance(-450_000)
    await setLimit(10)
    expect(await together([limited()])).toMatchObject([{ status: 'full', quota: 'key' }])
  })

  test('a clock that leaps by years finds all credits returned, at once', async () => {
    const { together, advance, project, key, shrink } = await open()
    const { id } = await project('Club')
    await shrink(id, 2)
    const item = await key(id)
    expect(kinds(await together(times(3, item)))).toEqual(['issued', 'issued', 'full'])
    advance(50 * 365 * 86_400_000)
    expect(kinds(await together(times(3, item)))).toEqual(['issued', 'issued', 'full'])
  })

  test('the time of the store never goes back, even if the clock of the issuing process is behind', async () => {
    const { together, advance, project, key, stored } = await open()
    const item = await key((await project('Club')).id)
    await together([item()])
    advance(-3_600_000)
    await together([item()])
    const expiries = (await stored()).map((row) => Number(row.expires_at))
    expect(new Set(expiries)).toEqual(new Set([START + 900_000]))
  })

  describe('a key whose keys version is known', () => {
    const changed = (store: Awaited<ReturnType<typeof open>>, item: IssueItem, difference: object = {}) =>
      changeApiKey(
        { ...store.deps, db: store.db, onChange: () => undefined },
        { projectId: item.projectId, keyId: item.keyId, actor: ACTOR },
        { action: 'api_key.changed', apply: () => difference },
      )

    test('is read again only if the keys version of its project differs', async () => {
      const { db, together, project, key } = await open()
      const item = await key((await project('Club')).id)
      const withoutVersion = item()
      await together([item()])
      if (db.engine === 'postgres')
        await db.withConnection((pg) => pg.query('alter table api_keys disable trigger api_keys_mark'))
      await db.transaction((tx) => tx.write<Tables>().updateTable('api_keys').set({ version: 2 }).execute())
      const seen = db.engine === 'postgres' ? 'issued' : 'stale'
      expect(kinds(await together([item(), withoutVersion]))).toEqual([seen, 'stale'])
    })

    test.each([
      ['changed in any way', {}],
      ['blocked', { state: 'blocked', epoch: 2 }],
      ['given a limit of its own', { token_limit: 1, credits: 0 }],
    ])('is stale if it was %s meanwhile', async (_, difference) => {
      const store = await open()
      const item = await store.key((await store.project('Club')).id)
      await store.together([item()])
      await changed(store, item(), difference)
      expect(kinds(await store.together(times(2, item)))).toEqual(['stale', 'stale'])
    })

    test('is stale if its project was deleted or restored', async () => {
      const { db, deps, together, project, key } = await open()
      const [gone, restored] = [(await project('gone')).id, (await project('restored')).id]
      const [ofGone, ofRestored] = [await key(gone), await key(restored)]
      await together([ofGone(), ofRestored()])
      // Without its keys, which would otherwise be deleted with it and be stale for that reason.
      const alone = { ...deps, db, markContents: async () => undefined, onDelete: () => undefined }
      await deleteProject(alone, { id: gone, name: 'gone', actor: ACTOR })
      expect(kinds(await together([ofGone(), ofRestored()]))).toEqual(['stale', 'issued'])
      await db.transaction(invalidateAllTokens)
      expect(kinds(await together([ofRestored()]))).toEqual(['stale'])
    })

    test('stays valid if another key of its project changes, and gets the new keys version', async () => {
      const store = await open()
      const { id } = await store.project('Club')
      const [item, other] = [await store.key(id), await store.key(id)]
      await store.together([item(), other()])
      const before = store.keysVersions.get(item().keyId)
      await changed(store, other())
      expect(kinds(await store.together([item(), other()]))).toEqual(['issued', 'stale'])
      const after = store.keysVersions.get(item().keyId)
      if (store.db.engine === 'postgres') expect(after).not.toBe(before)
      else expect(after).toBeUndefined()
    })

    test('is stale after a change, whichever keys version other keys of its project have', async () => {
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

    test('takes no more credits than its project has, whatever else is in the batch', async () => {
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
