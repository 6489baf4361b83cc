import { type Database, StoreUnavailable } from '../../platform/database/index.ts'
import { columnsOf, type IssueItem, type IssueOutcome } from './issue.ts'
import { issueBatch, issueDespiteLocks } from './issue-batch.ts'

/** Enough for a commit to serve many, small enough that nobody waits long behind a crowd. */
const BATCH_MOST = 256
const LANES = 2
/** Enough to begin with while others are still being read, or committed. */
const ENOUGH = 32
/** Whoever is being committed for so long may wait for a lock. Longer than the 25 ms after which others get a connection of their own. */
const PATIENCE_MS = 30
/** Beyond this many, callers are told to come back, rather than to pile up in memory. */
const WAITING_MOST = 10_000

interface Waiting {
  readonly item: IssueItem
  resolve(outcome: IssueOutcome): void
  reject(error: unknown): void
}

/**
 * Group commit: requests that arrive while a batch is being committed form the next one. Two may be under way, so that
 * one is answered and made while the other is being committed; but few wait for the first to end, since a small batch costs
 * the store nearly as much as a large one, and leaves it idle afterwards.
 */
export class TokenIssuer {
  readonly #db: Database
  readonly #now: () => number
  #waiting: Waiting[] = []
  /** By project: those who wait for its lock, one call at a time for all of them, beside the batches of everybody else. */
  readonly #behindLocks = new Map<string, Waiting[]>()
  #underWay = 0
  #impatient: NodeJS.Timeout | undefined

  constructor(deps: { db: Database; now: () => number }) {
    this.#db = deps.db
    this.#now = deps.now
  }

  issue(item: IssueItem): Promise<IssueOutcome> {
    const behindLock = this.#behindLocks.get(item.projectId)
    if ((behindLock ?? this.#waiting).length >= WAITING_MOST)
      return Promise.reject(new StoreUnavailable('Too many token requests are waiting for the store.'))
    return new Promise((resolve, reject) => {
      if (behindLock) return void behindLock.push({ item, resolve, reject })
      this.#waiting.push({ item, resolve, reject })
      if (this.#waiting.length === ENOUGH) this.#start()
      // After everything that has already arrived: one batch for all that this turn of the event loop brought.
      else if (this.#waiting.length === 1) setImmediate(() => this.#start())
    })
  }

  #start(least = ENOUGH): void {
    if (this.#underWay === LANES || this.#waiting.length === 0) return
    if (this.#underWay > 0 && this.#waiting.length < least) return void this.#startLater()
    clearTimeout(this.#impatient)
    this.#impatient = undefined
    const batch = this.#waiting.slice(0, BATCH_MOST)
    this.#waiting = this.#waiting.slice(BATCH_MOST)
    this.#underWay++
    void this.#run(batch)
    this.#start()
  }

  #startLater(): void {
    this.#impatient ??= setTimeout(() => {
      this.#impatient = undefined
      this.#start(1)
    }, PATIENCE_MS)
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    try {
      const undecided = await this.#decide(batch, issueBatch)
      for (const [id, waiting] of Map.groupBy(undecided, ({ item }) => item.projectId))
        this.#waitForLock(id, waiting)
    } finally {
      this.#underWay--
      this.#start()
    }
  }

  /** Answers everyone who can be answered, and returns the others. */
  async #decide(batch: readonly Waiting[], decide: typeof issueBatch): Promise<Waiting[]> {
    try {
      const items = batch.map(({ item }) => item)
      const outcomes = await decide(this.#db, columnsOf(items, this.#now()))
      for (const [i, { resolve }] of batch.entries()) if (outcomes[i]) resolve(outcomes[i])
      return batch.filter((_, i) => !outcomes[i])
    } catch (error) {
      for (const { reject } of batch) reject(error)
      return []
    }
  }

  #waitForLock(projectId: string, waiting: readonly Waiting[]): void {
    const others = this.#behindLocks.get(projectId)
    if (others) return void others.push(...waiting)
    this.#behindLocks.set(projectId, [...waiting])
    void this.#runBehindLock(projectId)
  }

  async #runBehindLock(projectId: string): Promise<void> {
    const waiting = this.#behindLocks.get(projectId)!
    while (waiting.length > 0)
      for (const { reject } of await this.#decide(waiting.splice(0, BATCH_MOST), issueDespiteLocks))
        reject(new StoreUnavailable('The project is locked elsewhere.'))
    this.#behindLocks.delete(projectId)
  }
}
