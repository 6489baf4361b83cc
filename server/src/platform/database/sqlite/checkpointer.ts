import { stat } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { CLOSE_TIMEOUT_MS, SqliteConnection } from './worker-connection.ts'

/** So many that it is seldom, and so few that little is left for the writer. */
const COMMITS = 32
/** A log that was never longer is left to the writer: it is not worth a thread. */
const LOG_LEAST = 4 * 1024 * 1024
/** The writer is so many commits ahead at most of what is being moved: else, on a slow disk, the log would outgrow everything. */
const AHEAD_MOST = 64
const PACE_WITHIN_MS = 1_000

/** Waits for it, but not for ever. */
async function within(ms: number, work: Promise<void> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

/**
 * Moves what the log holds into the file, on a thread of its own, while the writer goes on: a commit that also did that
 * took twenty times as long as the others. Nothing depends on it: only the writer can begin the log anew, which it does
 * once the log is long (`wal_autocheckpoint`), and whatever is then not yet moved it moves itself.
 */
export class Checkpointer {
  readonly #file: string
  #connection: SqliteConnection | undefined
  #work: Promise<void> | undefined
  #commits = 0
  #isClosed = false

  constructor(file: string) {
    this.#file = file
  }

  noteCommit(): void {
    if (++this.#commits < COMMITS || this.#work || this.#isClosed) return
    this.#commits = 0
    this.#work = this.#move()
      .catch(() => this.#giveUp())
      .finally(() => {
        this.#work = undefined
      })
  }

  async #move(): Promise<void> {
    const { size } = await stat(`${this.#file}-wal`)
    if (size < LOG_LEAST) return
    // Never a new file, where it was moved away.
    const file = `${pathToFileURL(this.#file).href}?mode=rw`
    this.#connection ??= await SqliteConnection.open({ file, readOnly: false })
    if (this.#isClosed) await this.#connection.close()
    else await this.#connection.send({ kind: 'query', sql: 'pragma wal_checkpoint(passive)', parameters: [] })
  }

  /** The writer will do it; the next time is another try. */
  async #giveUp(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    await connection?.close()
  }

  /** For whoever is about to write. */
  async keepPace(): Promise<void> {
    if (this.#work && this.#commits >= AHEAD_MOST) await within(PACE_WITHIN_MS, this.#work)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#work) await within(CLOSE_TIMEOUT_MS, this.#work)
    await this.#connection?.close()
  }
}
