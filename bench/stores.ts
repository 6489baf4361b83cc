import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '../server/test/postgres-server.ts'
import { connectSql } from '../server/test/sql.ts'

export type Engine = 'sqlite' | 'postgres'
export const ENGINES: readonly Engine[] = ['sqlite', 'postgres']
export const ENGINE_LABEL = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

/** An empty store for one start of a subject. */
export interface Store {
  /** For files of the subject, and for those of SQLite. */
  readonly folder: string
  /** The database, if the store is PostgreSQL. */
  readonly databaseUrl: string | undefined
  /** Settings that make Jeton use the store. */
  readonly env: Readonly<Record<string, string>>
  drop(): Promise<void>
}

const SETTINGS = { JETON_PORT: '0', JETON_SAMPLE: 'off' }

/** Creates the stores of a run in one temporary folder and on one PostgreSQL server with fsync on. */
export class Stores {
  readonly folder = mkdtempSync(join(tmpdir(), 'jeton-bench-'))
  #server: PostgresServer | undefined
  #created = 0

  constructor() {
    process.once('exit', () => rmSync(this.folder, { recursive: true, force: true }))
  }

  async create(engine: Engine): Promise<Store> {
    const name = `bench_${++this.#created}`
    const folder = join(this.folder, name)
    mkdirSync(folder)
    const removeFolder = () => rmSync(folder, { recursive: true, force: true })
    if (engine === 'sqlite') {
      const env = { ...SETTINGS, JETON_DATA_DIR: folder }
      return { folder, databaseUrl: undefined, env, drop: async () => removeFolder() }
    }
    this.#server ??= await startPostgres({ durable: true })
    const server = this.#server
    await onServer(server, `create database ${name}`)
    const databaseUrl = server.url(name)
    const env = { ...SETTINGS, JETON_DATABASE_URL: databaseUrl }
    const drop = async () => {
      removeFolder()
      // Without the checkpoint, pages of the dropped database would be written during the next measurement.
      await onServer(server, `drop database ${name} with (force)`, 'checkpoint')
    }
    return { folder, databaseUrl, env, drop }
  }

  async remove(): Promise<void> {
    // The process that cleans up after the server does not keep this one alive.
    const alive = setInterval(() => undefined, 1_000)
    await this.#server?.remove()
    clearInterval(alive)
  }
}

async function onServer(server: PostgresServer, ...statements: readonly string[]): Promise<void> {
  const sql = connectSql(server.url())
  for (const statement of statements) await sql.run(statement)
  await sql.end()
}
