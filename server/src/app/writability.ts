import type { Clock } from '../platform/clock.ts'
import { type Database, StoreNotWritable, StoreUnavailable } from '../platform/database/index.ts'
import type { Log } from '../platform/log.ts'
import { randomBytes } from '../platform/secrets.ts'

/** Many probes may check readiness. The store is written to at most this often. */
const PROBE_EVERY_MS = 5_000
/** A store that takes longer is slow or down, which the age of the key state shows. */
const PROBE_WITHIN_MS = 1_000
/** After a refused write the probe must need new pages, as that write did. One that fits into an old page proves nothing. */
const PROBE_BYTES_AFTER_REFUSAL = 48_000

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly log: Log
}

/** Knows whether the store accepts writes, from refused writes and from a small write on request. */
export class Writability {
  readonly #deps: Deps
  #reason: string | undefined
  #probedAt = Number.NEGATIVE_INFINITY
  #probing: Promise<void> | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Called for every failed transaction of the service. */
  readonly note = (error: unknown): void => {
    if (error instanceof StoreNotWritable) this.#refused(error.why, error)
  }

  /** Why the store accepts no writes; undefined if it does. */
  async reason(): Promise<string | undefined> {
    const { clock } = this.#deps
    if (!this.#probing && clock.monotonic() - this.#probedAt < PROBE_EVERY_MS) return this.#reason
    const waiting = new AbortController()
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined
    })
    await Promise.race([this.#probing, clock.sleep(PROBE_WITHIN_MS, waiting.signal)])
    waiting.abort()
    return this.#reason
  }

  async #probe(): Promise<void> {
    const { db, clock, log } = this.#deps
    this.#probedAt = clock.monotonic()
    try {
      await writeAndRemove(db, this.#reason === undefined ? 1 : PROBE_BYTES_AFTER_REFUSAL)
      if (this.#reason !== undefined) log.info('the store accepts writes again')
      this.#reason = undefined
    } catch (error) {
      if (error instanceof StoreNotWritable) this.#refused(error.why, error)
      else if (!(error instanceof StoreUnavailable)) this.#refused('the store refuses writes', error as Error)
    }
  }

  #refused(why: string, { message }: Error): void {
    if (this.#reason === undefined) this.#deps.log.error({ reason: message }, 'the store accepts no writes')
    this.#reason = why
  }
}

/** Writes a row that nobody sees. Its random id is lower than those in use, so that processes do not block each other. */
const writeAndRemove = (db: Database, bytes: number): Promise<void> =>
  db.transaction(async (tx) => {
    const rows = tx.write<{ jeton_store: { id: number; oldest_program: string } }>()
    const id = -randomBytes(6).readUIntBE(0, 6) - 1
    await rows
      .insertInto('jeton_store')
      .values({ id, oldest_program: randomBytes(bytes).toString('hex') })
      .execute()
    await rows.deleteFrom('jeton_store').where('id', '=', id).execute()
  })
