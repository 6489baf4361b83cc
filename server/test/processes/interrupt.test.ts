import { readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { backUp } from '../../src/app/back-up.ts'
import { MIGRATIONS } from '../../src/app/migrations/index.ts'
import { createApiKeyIn } from '../../src/features/api-keys/index.ts'
import type { DeliveryTables } from '../../src/features/deliveries/delivery.ts'
import { createProjectIn } from '../../src/features/projects/index.ts'
import { type Database, migrate, migrationsIn } from '../../src/platform/database/index.ts'
import { randomBytes } from '../../src/platform/secrets.ts'
import { interruptedProcess, jetonProcess, newFolder } from '../command-line.ts'
import { EXHAUSTED, openRecord } from '../delivery-record.ts'
import { eachEngine, type TestStore } from '../engines.ts'
import { inTerminal } from '../pseudo-terminal.ts'
import { OPERATOR } from '../service.ts'
import { everythingIn, startTimedService } from '../timed-service.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const KEY = Buffer.alloc(32, 9).toString('base64')
const CTRL_C = '\u0003'
/** Long enough to be interrupted in the middle. */
const MANY_ROWS = 40_000

const numbers = (count: number) =>
  sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})`

/** One API key, which comes first, and then a large table. */
async function fill(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    if (db.engine === 'postgres') await sql`set local statement_timeout = 0`.execute(tx.write<never>())
    const project = await createProjectIn({ random: randomBytes }, tx, { name: 'Club', actor: ACTOR })
    await createApiKeyIn({ random: randomBytes }, tx, { projectId: project.id, name: 'key', actor: ACTOR })
    await sql`${numbers(MANY_ROWS)}
      insert into audit_log (id, at, actor_type, actor_id, action, subject_type, subject_id)
      select 'aud_' || n, n, 'system', 'test', 'test.filled', 'store', 'store' from numbers`.execute(
      tx.write<never>(),
    )
  })
}

/** More deliveries like this one. */
async function copyDelivery(db: Database, id: string, count: number): Promise<void> {
  const [row] = await db
    .read<DeliveryTables>()
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', id)
    .execute()
  const columns = Object.keys(row!).filter((name) => name !== 'id')
  const names = sql.join(columns.map((name) => sql.ref(name)))
  await db.transaction((tx) =>
    sql`${numbers(count)} insert into deliveries (id, ${names})
      select id || '_' || n, ${names} from numbers, deliveries where id = ${id}`.execute(tx.write<never>()),
  )
}

eachEngine((engine) => {
  /** A filled store, and a backup of it. */
  let source: TestStore
  let saved: string
  let folder: string
  let file: string

  beforeAll(async () => {
    source = await engine.freshStore()
    const db = await source.open()
    await fill(db)
    saved = join(newFolder('saved'), 'saved.backup')
    await backUp(db, { file: saved, now: Date.now() })
    await db.close()
  })
  afterAll(() => rmSync(dirname(saved), { recursive: true, force: true }))

  beforeEach(() => {
    folder = newFolder('interrupt')
    file = join(folder, 'a.backup')
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  })

  test('a backup that gets SIGTERM leaves no file, says so, and succeeds when it runs again', async () => {
    const argv = ['backup', file, '--json']
    const at = /^api_keys: 1 row$/m
    const stopped = await interruptedProcess(argv, source.env, { at, signal: 'SIGTERM' })
    expect(stopped).toMatchObject({ code: 1, out: '' })
    expect(stopped.err).toMatch(/Stopped\. No file was written\.\n$/)
    expect(stopped.err).not.toMatch(/^audit_log/m)
    expect(readdirSync(folder)).toEqual([])

    const again = await jetonProcess(argv, source.env)
    expect(again.code).toBe(0)
    expect(JSON.parse(again.out)).toMatchObject({ file, tables: { api_keys: 1 } })
    expect(again.err).toMatch(/^audit_log: 40,00\d rows$/m)
  })

  test('a backup in a terminal updates the line of a table in place, and Ctrl-C stops it', async () => {
    const terminal = inTerminal(['backup', file], source.env)
    await terminal.showed(/audit_log {2}[\d,]+ rows/)
    terminal.type(CTRL_C)
    const stopped = await terminal.ended
    expect(stopped.code).toBe(1)
    expect(stopped.shown).toMatch(/rows.*✗\r\nStopped\. No file was written\.\r\n$/)
    expect(readdirSync(folder)).toEqual([])

    const { code, shown } = await inTerminal(['backup', file], source.env).ended
    expect(code).toBe(0)
    const updates = shown.matchAll(/\r\x1b\[K *\d+\/\d+ {2}audit_log {2}([\d,]+) rows/g)
    expect(new Set(Array.from(updates, ([, rows]) => rows)).size).toBeGreaterThan(1)
    expect(shown).toMatch(/audit_log {2}40,00\d rows ✓\r\n/)
  })

  const POINTS = [
    ['before the first table', 'SIGTERM', /^check the file: /m],
    ['in a large table', 'SIGINT', /^api_keys: 1 row$/m],
  ] as const
  test.each(POINTS)(
    'a restore that is stopped %s (%s) changes nothing, says so, and succeeds when it runs again',
    async (_, signal, at) => {
      const target = await engine.freshStore()
      const db = await target.open()
      const fields = { name: 'Replaced', actor: ACTOR }
      await db.transaction((tx) => createProjectIn({ random: randomBytes }, tx, fields))
      const before = await everythingIn(db)
      await db.close()
      const argv = ['restore', saved, '--replace', '--yes']
      const stopped = await interruptedProcess(argv, target.env, { at, signal })
      expect(stopped).toMatchObject({ code: 1, out: '' })
      expect(stopped.err).toMatch(/Stopped\. Nothing was changed\./)
      const unchanged = await target.open()
      expect(await everythingIn(unchanged)).toEqual(before)
      await unchanged.close()

      const { code, shown } = await inTerminal(argv, target.env).ended
      expect(code, shown).toBe(0)
      expect(shown).toMatch(/\r\x1b\[K *\d+\/\d+ {2}audit_log {2}[\d,]+ rows, \d{1,2} %/)
      expect(shown).toMatch(/audit_log {2}40,00\d rows, 100 % ✓\r\n/)
      expect(shown).toMatch(/rows restored into/)
    },
  )

  describe('a migration', () => {
    /** A store of an earlier version, in which migrations stop to wait or to copy many rows. */
    async function oldStore(): Promise<{ store: TestStore; unblock: () => Promise<unknown> }> {
      const store = await engine.emptyStore()
      const db = await store.open()
      const old = MIGRATIONS.filter(({ name }) => name < '0009')
      await migrate(db, { migrations: old, program: '99.0.0' })
      if (db.engine === 'sqlite') {
        await db.transaction(
          (tx) =>
            sql`${numbers(200_000)}
              insert into tokens (project_id, digest, key_id, epoch, scope, expires_at)
              select 'p', randomblob(32), 'k', 1, 'api', n from numbers`.execute(tx.write<never>()),
          { noTimeout: true },
        )
        return { store, unblock: () => db.close() }
      }
      // 0012 changes this table.
      const release = Promise.withResolvers<void>()
      const locked = Promise.withResolvers<void>()
      const holding = db.transaction(async (tx) => {
        await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx.write<never>())
        await sql`lock table deliveries in access share mode`.execute(tx.write<never>())
        locked.resolve()
        await release.promise
      })
      await locked.promise
      return {
        store,
        unblock: async () => {
          release.resolve()
          await holding
        },
      }
    }

    test('a migration that gets SIGINT is rolled back, says so, and succeeds when it runs again', async () => {
      const { store, unblock } = await oldStore()
      const at = engine.name === 'SQLite' ? /^0009-/m : /^0011-/m
      const stopped = await interruptedProcess(['migrate', '--json'], store.env, { at, signal: 'SIGINT' })
      expect(stopped).toMatchObject({ code: 1, out: '' })
      expect(stopped.err).toMatch(/Stopped\. The migrations were rolled back, and nothing was changed\./)
      expect(stopped.err).not.toContain('0013-')
      await unblock()
      const db = await store.open()
      expect(await migrationsIn(db)).toHaveLength(8)
      await db.close()

      const again = await jetonProcess(['migrate', '--json'], store.env)
      expect(again.code).toBe(0)
      expect(again.err.trim().split('\n')).toEqual(JSON.parse(again.out).applied)
      expect(JSON.parse(again.out).applied).toHaveLength(MIGRATIONS.length - 8)
    })
  })

  describe('a recovery', () => {
    test('a recovery that gets SIGINT says how many deliveries are due, and continues when it runs again', async () => {
      const service = await startTimedService(engine, { env: { JETON_ENCRYPTION_KEY: KEY }, worker: false })
      onTestFinished(() => service.stop())
      const record = await openRecord(service)
      const to = await record.webhook()
      const { id } = await record.delivery(to, { ...EXHAUSTED, settled_at: service.clock.now() })
      await copyDelivery(service.service.db, id, 11_999)
      const env = {
        JETON_URL: service.url,
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        XDG_CONFIG_HOME: folder,
      }
      const argv = ['delivery', 'recover', '--destination', to, '--project', record.projectId, '--json']
      const at = /^5,000 of 12,000 deliveries are due$/m
      const stopped = await interruptedProcess(argv, env, { at, signal: 'SIGINT' })
      expect(stopped).toMatchObject({ code: 1, out: '' })
      const [, due] = /Stopped: ([\d,]+) of 12,000 deliveries are due\./.exec(stopped.err) ?? []
      const left = 12_000 - Number(due?.replace(',', ''))
      const list = await service.manage('GET', `${record.path}/deliveries?status=exhausted`)
      expect(list.body.total).toBe(left)

      const again = await jetonProcess(argv, env)
      expect([again.code, JSON.parse(again.out)]).toEqual([0, expect.objectContaining({ reopened: left })])
    })
  })
})
