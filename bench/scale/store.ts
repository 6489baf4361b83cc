import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type PostgresServer, startPostgres } from '../../server/test/postgres-server.ts'
import { connectSql } from '../../server/test/sql.ts'
import { useOf } from '../process-use.ts'
import type { Engine } from '../stores.ts'

export type Row = Readonly<Record<string, unknown>>
export type RunSql = (sql: string) => Promise<readonly Row[]>

/** A store that is used over several starts of Jeton. */
export interface ScaleStore {
  readonly engine: Engine
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  /** Opens the store beside Jeton. */
  withSql<T>(work: (run: RunSql) => Promise<T>): Promise<T>
  /** Processor time of all processes of PostgreSQL. */
  databaseMicros(): number
}

/** Enough memory for the indexes, and no checkpoint during a measurement. */
const MEASURING = ['shared_buffers=2GB', 'max_wal_size=4GB', 'checkpoint_timeout=1h']
/** Without a log of rows that a crash may take: the fill is repeated then. */
const FILLING = [
  ...MEASURING,
  ...['wal_level=minimal', 'max_wal_senders=0', 'fsync=off', 'autovacuum=off'],
  ...['maintenance_work_mem=1GB', 'max_parallel_maintenance_workers=2'],
]

/** The stores of one engine, in one temporary folder. */
export class ScaleStores {
  readonly engine: Engine
  readonly #folder = mkdtempSync(join(tmpdir(), 'jeton-scale-'))
  #server: PostgresServer | undefined

  constructor(engine: Engine) {
    this.engine = engine
    process.once('exit', () => rmSync(this.#folder, { recursive: true, force: true }))
  }

  async open(): Promise<void> {
    if (this.engine === 'postgres') this.#server = await startPostgres({ durable: true })
    await this.#restart(FILLING)
  }

  /** From now on with a complete write-ahead log and fsync. */
  measure(...settings: readonly string[]): Promise<void> {
    return this.#restart([...MEASURING, ...settings])
  }

  async #restart(settings: readonly string[]): Promise<void> {
    await this.#server?.stop()
    await this.#server?.start(settings)
  }

  async create(name: string): Promise<ScaleStore> {
    const folder = join(this.#folder, name)
    mkdirSync(folder)
    const server = this.#server
    if (!server) return sqliteStore(folder)
    await withPostgres(server.url(), (run) => run(`create database ${name}`))
    const url = server.url(name)
    return {
      ...{ engine: 'postgres', folder, env: { JETON_DATABASE_URL: url } },
      withSql: (work) => withPostgres(url, work),
      databaseMicros: () => useOf(postmasterOf(server)).cpuMicros,
    }
  }

  async remove(): Promise<void> {
    // The process that cleans up after the server does not keep this one alive.
    const alive = setInterval(() => undefined, 1_000)
    await this.#server?.remove()
    clearInterval(alive)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const postmasterOf = ({ data }: PostgresServer): number =>
  Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10)

async function withPostgres<T>(url: string, work: (run: RunSql) => Promise<T>): Promise<T> {
  const sql = connectSql(url)
  try {
    return await work(async (text) => (await sql.run(text)).rows ?? [])
  } finally {
    await sql.end()
  }
}

const sqliteStore = (folder: string): ScaleStore => ({
  ...{ engine: 'sqlite', folder, env: { JETON_DATA_DIR: folder } },
  async withSql(work) {
    const db = new DatabaseSync(join(folder, 'jeton.db'))
    try {
      return await work(async (text) => {
        if (/^\s*(select|pragma)/.test(text)) return db.prepare(text).all() as Row[]
        db.exec(text)
        return []
      })
    } finally {
      db.close()
    }
  },
  databaseMicros: () => 0,
})
