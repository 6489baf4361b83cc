import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '../server/test/postgres-server.ts'
import { connectSql } from '../server/test/sql.ts'

export type StoreKind = 'none' | 'sqlite' | 'postgres'
export type Engine = Exclude<StoreKind, 'none'>

/** An empty store of its own for one start of a subject. */
export interface Store {
  /** The JETON_* settings that lead to it. */
  readonly env: Readonly<Record<string, string>>
  readonly databaseUrl: string | undefined
  drop(): Promise<void>
}

const SETTINGS = { JETON_PORT: '0', JETON_SAMPLE: 'off' }

/** Everything that a run keeps on disk, in one folder beside PostgreSQL's; removed however the run ends. */
export class Stores {
  readonly folder = mkdtempSync(join(tmpdir(), 'jeton-bench-'))
  #server: PostgresServer | undefined
  #made = 0

  constructor() {
    process.once('exit', () => rmSync(this.folder, { recursive: true, force: true }))
  }

  async fresh(kind: StoreKind): Promise<Store> {
    if (kind === 'postgres') return this.#database()
    const folder = join(this.folder, `store-${++this.#made}`)
    return {
      env: { ...SETTINGS, JETON_DATA_DIR: folder },
      databaseUrl: undefined,
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    }
  }

  /** The server of the tests, but one that waits for the disk. Started when it is first needed. */
  async #database(): Promise<Store> {
    this.#server ??= await startPostgres({ durable: true })
    const server = this.#server
    const name = `bench_${++this.#made}`
    await onServer(server, `create database ${name}`)
    const databaseUrl = server.url(name)
    return {
      env: { ...SETTINGS, JETON_DATABASE_URL: databaseUrl },
      databaseUrl,
      async drop() {
        await onServer(server, `drop database ${name} with (force)`)
        // What the dropped store left to be written shall not be written during the next measurement.
        await onServer(server, 'checkpoint')
      },
    }
  }

  async remove(): Promise<void> {
    // The process that cleans up behind the server does not keep this one alive.
    const alive = setInterval(() => undefined, 1_000)
    await this.#server?.remove()
    clearInterval(alive)
  }
}

async function onServer(server: PostgresServer, statement: string): Promise<void> {
  const sql = connectSql(server.url())
  await sql.run(statement)
  await sql.end()
}
