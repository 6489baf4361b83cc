import { SqliteConnection } from './connection.ts'

/** So many that it is seldom, and so few that what is left for the writer to do itself takes milliseconds. */
const COMMITS = 32

/**
 * Moves what the log holds into the file, on a thread of its own, while the writer goes on: a commit that also did that
 * took twenty times as long as the others. Nothing depends on it: only the writer can begin the log anew, which it does
 * once the log is long (`wal_autocheckpoint`), and whatever is then not yet moved it moves itself.
 */
export class Checkpointer {
  readonly #file: string
  #connection: Promise<SqliteConnection> | undefined
  #commits = 0
  #isAtWork = false

  constructor(file: string) {
    this.#file = file
  }

  noteCommit(): void {
    if (++this.#commits < COMMITS || this.#isAtWork) return
    this.#commits = 0
    this.#isAtWork = true
    void this.#work()
  }

  async #work(): Promise<void> {
    try {
      this.#connection ??= SqliteConnection.open({ file: this.#file, readOnly: false })
      const connection = await this.#connection
      await connection.send({ kind: 'query', sql: 'pragma wal_checkpoint(passive)', parameters: [] })
    } catch {
      // The writer will do it.
    } finally {
      this.#isAtWork = false
    }
  }

  async close(): Promise<void> {
    this.#isAtWork = true
    await (await this.#connection?.catch(() => undefined))?.close()
  }
}
