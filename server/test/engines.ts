import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, inject } from 'vitest'
import { type Clock, systemClock } from '../src/platform/clock.ts'
import { type Database, openDatabase, sqliteFile } from '../src/platform/database/index.ts'
import { connectSql, type Sql } from './sql.ts'
import { MIGRATED_DATABASE } from './store-template.ts'

interface OpenOptions {
  readonly clock?: Clock
  readonly pool?: number
}

/** A store of its own, which any number of databases and processes can share. */
export interface TestStore {
  /** The JETON_* variables that point a process to it. */
  readonly env: Readonly<Record<string, string>>
  open(options?: OpenOptions): Promise<Database>
  drop(): Promise<void>
}

export interface TestEngine {
  readonly name: 'SQLite' | 'PostgreSQL'
  /** A migrated store without rows. It is dropped after the test that made it, or after the file if a `beforeAll` did. */
  freshStore(): Promise<TestStore>
  /** A store that was never migrated, for tests of migrations and of a first start. */
  emptyStore(): Promise<TestStore>
  /** An empty store on the other engine. */
  otherEmptyStore(): Promise<TestStore>
  /** A database on a fresh store. */
  open(options?: OpenOptions): Promise<Database>
  /** A database on an empty store. */
  openEmpty(options?: OpenOptions): Promise<Database>
  /** The JETON_* variables of a fresh store. */
  settings(): Promise<Readonly<Record<string, string>>>
}

/** Whether a new store has the tables of the service. */
type Content = 'migrated' | 'empty'

interface Location {
  readonly env: Readonly<Record<string, string>>
  readonly url: string | undefined
  readonly folder: string
  remove(): Promise<void>
}

function createSqlite(content: Content): Location {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-sqlite-'))
  if (content === 'migrated') copyFileSync(inject('migratedSqliteFile'), sqliteFile(folder))
  return {
    env: { JETON_DATA_DIR: folder },
    url: undefined,
    folder,
    remove: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

let administrator: Sql | undefined

/** Runs a statement on connections that the test file keeps until its process ends. */
async function asAdministrator(statement: string): Promise<void> {
  administrator ??= connectSql(inject('postgresUrl'), { max: 3 })
  await administrator.run(statement)
}

async function createPostgres(content: Content): Promise<Location> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const template = content === 'migrated' ? ` template ${MIGRATED_DATABASE}` : ''
  await asAdministrator(`create database ${name}${template}`)
  const url = new URL(`/${name}`, inject('postgresUrl')).href
  return {
    env: { JETON_DATABASE_URL: url },
    url,
    folder: '',
    remove: () => asAdministrator(`drop database if exists ${name} with (force)`),
  }
}

function storeAt({ env, url, folder, remove }: Location): TestStore {
  const opened: Database[] = []
  let dropped = false
  return {
    env,
    async open({ clock = systemClock, pool = 5 } = {}) {
      const db = await openDatabase({ clock }, { url, pool, folder })
      opened.push(db)
      return db
    },
    async drop() {
      if (dropped) return
      dropped = true
      await Promise.all(opened.map((db) => db.close().catch(() => undefined)))
      await remove()
    },
  }
}

function createEngine(name: TestEngine['name'], made: TestStore[]): TestEngine {
  const storeOn = async (engine: TestEngine['name'], content: Content) => {
    const store = storeAt(engine === 'SQLite' ? createSqlite(content) : await createPostgres(content))
    made.push(store)
    return store
  }
  const freshStore = () => storeOn(name, 'migrated')
  const emptyStore = () => storeOn(name, 'empty')
  return {
    name,
    freshStore,
    emptyStore,
    otherEmptyStore: () => storeOn(name === 'SQLite' ? 'PostgreSQL' : 'SQLite', 'empty'),
    open: async (options) => (await freshStore()).open(options),
    openEmpty: async (options) => (await emptyStore()).open(options),
    settings: async () => (await freshStore()).env,
  }
}

/** The engines of this run: both, unless the vitest project names one. */
const NAMES = (['SQLite', 'PostgreSQL'] as const).filter((name) => (process.env.TEST_ENGINE || name) === name)

/** Runs the same tests on every engine, one `describe` for each. Not for `test.concurrent`: stores are dropped after each test. */
export function eachEngine(define: (engine: TestEngine) => void): void {
  for (const name of NAMES) {
    describe(name, () => {
      const made: TestStore[] = []
      let madeForFile = 0
      const drop = (from: number) => Promise.all(made.splice(from).map((store) => store.drop()))
      // Every `beforeAll` has run by now. Its stores outlive the tests.
      let isCounted = false
      beforeEach(() => {
        if (!isCounted) madeForFile = made.length
        isCounted = true
      })
      afterEach(async () => void (await drop(madeForFile)))
      afterAll(async () => void (await drop(0)))
      define(createEngine(name, made))
    })
  }
}
