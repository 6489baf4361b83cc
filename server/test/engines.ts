import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, inject } from 'vitest'
import { type Clock, systemClock } from '../src/platform/clock.ts'
import { type Database, openDatabase } from '../src/platform/database/index.ts'
import { connectSql, type Sql } from './sql.ts'

interface OpenOptions {
  readonly clock?: Clock
  readonly pool?: number
}

/** An empty store of its own, which any number of databases and processes can share. */
export interface TestStore {
  /** The JETON_* variables that lead a process to it. */
  readonly env: Readonly<Record<string, string>>
  open(options?: OpenOptions): Promise<Database>
  drop(): Promise<void>
}

export interface TestEngine {
  readonly name: 'SQLite' | 'PostgreSQL'
  /** Dropped after the test that made it, or after the file where a `beforeAll` did. */
  freshStore(): Promise<TestStore>
  /** The same on the other engine. */
  otherStore(): Promise<TestStore>
  /** A database on a fresh store. */
  open(options?: OpenOptions): Promise<Database>
  /** The JETON_* variables of a fresh store. */
  settings(): Promise<Readonly<Record<string, string>>>
}

interface Place {
  readonly env: Readonly<Record<string, string>>
  readonly url: string | undefined
  readonly folder: string
  remove(): Promise<void>
}

function sqlitePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-sqlite-'))
  return {
    env: { JETON_DATA_DIR: folder },
    url: undefined,
    folder,
    remove: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

let administrator: Sql | undefined

/** By connections that the file keeps, and that end with its process. */
async function asAdministrator(statement: string): Promise<void> {
  administrator ??= connectSql(inject('postgresUrl'), { max: 3 })
  await administrator.run(statement)
}

async function postgresPlace(): Promise<Place> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await asAdministrator(`create database ${name}`)
  const url = new URL(`/${name}`, inject('postgresUrl')).href
  return {
    env: { JETON_DATABASE_URL: url },
    url,
    folder: '',
    remove: () => asAdministrator(`drop database if exists ${name} with (force)`),
  }
}

function storeAt({ env, url, folder, remove }: Place): TestStore {
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
  const storeOn = async (engine: TestEngine['name']) => {
    const store = storeAt(engine === 'SQLite' ? sqlitePlace() : await postgresPlace())
    made.push(store)
    return store
  }
  const freshStore = () => storeOn(name)
  return {
    name,
    freshStore,
    otherStore: () => storeOn(name === 'SQLite' ? 'PostgreSQL' : 'SQLite'),
    open: async (options) => (await freshStore()).open(options),
    settings: async () => (await freshStore()).env,
  }
}

/** A project of vitest may name one: what it is about has nothing to do with the engine. */
const NAMES = (['SQLite', 'PostgreSQL'] as const).filter((name) => (process.env.TEST_ENGINE ?? name) === name)

/** Runs the same tests on every engine, one `describe` for each. Not for `test.concurrent`: stores are dropped after each test. */
export function eachEngine(define: (engine: TestEngine) => void): void {
  for (const name of NAMES) {
    describe(name, () => {
      const made: TestStore[] = []
      let ofTheFile = 0
      const drop = (from: number) => Promise.all(made.splice(from).map((store) => store.drop()))
      // Hooks of `beforeAll` have run by now: what they made outlives the tests.
      let counted = false
      beforeEach(() => {
        if (!counted) ofTheFile = made.length
        counted = true
      })
      afterEach(async () => void (await drop(ofTheFile)))
      afterAll(async () => void (await drop(0)))
      define(createEngine(name, made))
    })
  }
}
