import { type Database, StoreUnavailable } from '../../platform/database/index.ts'
import { runInSpan, type Tracer } from '../../platform/tracing.ts'
import { issueAfterLocks, issueOnPostgres } from './issue-batch.postgres.ts'
import { issueOnSqlite } from './issue-batch.sqlite.ts'
import type { IssueBatch, IssueItem, IssueOutcome } from './issue-batch.ts'

/** Large enough to share the cost of a commit, small enough that a request does not wait long behind others. */
const MAX_BATCH = 256
const MAX_IN_FLIGHT = 2
/** Enough to start a batch while another one is being committed. */
const MIN_BATCH = 32
/** A small batch waits this long for the one in flight. A batch that takes longer probably waits for a lock. */
const MAX_BATCH_DELAY_MS = 30
/** Above this number of unanswered requests callers get 503, so that requests cannot exhaust memory. */
const MAX_WAITING = 10_000
/** Connections that wait for locked projects. The rest of the pool is for everything else. */
const MAX_LOCK_CONNECTIONS = 2

interface Waiting {
  readonly item: IssueItem
  /** Span of the request, if requests are traced. */
  readonly traceparent: string | undefined
  resolve(outcome: IssueOutcome): void
  reject(error: unknown): void
}

/**
 * Group commit: requests that arrive while a batch is being committed form the next batch. Two batches may be in flight, so
 * that the store works on one while the other is built and answered. A small batch waits for the first one to end, because
 * it costs the store nearly as much as a large one.
 */
export class IssueBatcher {
  readonly #db: Database
  readonly #now: () => number
  readonly #tracer: Tracer | undefined
  #waiting: Waiting[] = []
  /** Requests per project that wait for its lock, one call at a time, without delaying batches of other projects. */
  readonly #waitingForLock = new Map<string, Waiting[]>()
  /** The projects of these whose next call has not started, in turn. */
  readonly #lockedProjects: string[] = []
  #lockConnections = 0
  #unanswered = 0
  #inFlight = 0
  #delayTimer: NodeJS.Timeout | undefined

  constructor(deps: { db: Database; now: () => number; tracer?: Tracer | undefined }) {
    this.#db = deps.db
    this.#now = deps.now
    this.#tracer = deps.tracer
  }

  issue(item: IssueItem): Promise<IssueOutcome> {
    if (this.#unanswered >= MAX_WAITING)
      return Promise.reject(new StoreUnavailable('Too many token requests are waiting for the store.'))
    this.#unanswered++
    const forLock = this.#waitingForLock.get(item.projectId)
    const traceparent = this.#tracer?.current()?.traceparent
    return new Promise((resolve, reject) => {
      if (forLock) return void forLock.push({ item, traceparent, resolve, reject })
      this.#waiting.push({ item, traceparent, resolve, reject })
      if (this.#waiting.length === MIN_BATCH) this.#start()
      // One batch for everything that arrives in this turn of the event loop.
      else if (this.#waiting.length === 1) setImmediate(() => this.#start())
    })
  }

  #start(minBatch = MIN_BATCH): void {
    if (this.#inFlight === MAX_IN_FLIGHT || this.#waiting.length === 0) return
    if (this.#inFlight > 0 && this.#waiting.length < minBatch) return void this.#startLater()
    clearTimeout(this.#delayTimer)
    this.#delayTimer = undefined
    const batch = this.#waiting.slice(0, MAX_BATCH)
    this.#waiting = this.#waiting.slice(MAX_BATCH)
    this.#inFlight++
    void this.#run(batch)
    this.#start()
  }

  #startLater(): void {
    this.#delayTimer ??= setTimeout(() => {
      this.#delayTimer = undefined
      this.#start(1)
    }, MAX_BATCH_DELAY_MS)
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    try {
      if (await this.#issue(batch, issueBatch)) return
      for (const [id, waiting] of Map.groupBy(batch, ({ item }) => item.projectId))
        this.#queueForLock(id, waiting)
    } finally {
      this.#inFlight--
      this.#start()
    }
  }

  /** Answers the requests. Returns false, without answering any, if a project is locked by another transaction. */
  async #issue(batch: readonly Waiting[], issue: typeof issueBatch): Promise<boolean> {
    try {
      const items = batch.map(({ item }) => item)
      const outcomes = await this.#traced(batch, () => issue(this.#db, { items, now: this.#now() }))
      if (!outcomes) return false
      for (const [i, { resolve }] of batch.entries()) resolve(outcomes[i]!)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#unanswered -= batch.length
    return true
  }

  /** A batch serves many requests, so its span starts a trace, with a link to each of theirs. */
  #traced<T>(batch: readonly Waiting[], work: () => Promise<T>): Promise<T> {
    const tracer = this.#tracer
    if (!tracer) return work()
    const span = tracer.start('issue tokens', {
      kind: 'internal',
      parent: null,
      links: batch.flatMap(({ traceparent }) => traceparent ?? []),
      attributes: { 'jeton.batch.size': batch.length },
    })
    return runInSpan(tracer, span, work)
  }

  #queueForLock(projectId: string, waiting: readonly Waiting[]): void {
    const others = this.#waitingForLock.get(projectId)
    if (others) return void others.push(...waiting)
    this.#waitingForLock.set(projectId, [...waiting])
    this.#lockedProjects.push(projectId)
    if (this.#lockConnections < MAX_LOCK_CONNECTIONS) void this.#runQueuesForLock()
  }

  async #runQueuesForLock(): Promise<void> {
    this.#lockConnections++
    for (let id = this.#lockedProjects.shift(); id !== undefined; id = this.#lockedProjects.shift()) {
      const waiting = this.#waitingForLock.get(id)!
      await this.#issue(waiting.splice(0, MAX_BATCH), issueWaitingForLock)
      if (waiting.length > 0) this.#lockedProjects.push(id)
      else this.#waitingForLock.delete(id)
    }
    this.#lockConnections--
  }
}

type Outcomes = readonly IssueOutcome[]

/** Returns undefined, without issuing anything, if a project of the batch is locked by another transaction. */
const issueBatch = async (db: Database, batch: IssueBatch): Promise<Outcomes | undefined> =>
  db.engine === 'sqlite'
    ? issueOnSqlite(db, batch)
    : db.withConnection((connection) => issueOnPostgres(connection, batch), { shared: true })

/** Uses a separate connection that waits for locks up to the normal statement timeout. */
const issueWaitingForLock = async (db: Database, batch: IssueBatch): Promise<Outcomes> =>
  db.engine === 'sqlite'
    ? issueOnSqlite(db, batch)
    : db.withConnection((connection) => issueAfterLocks(connection, batch))
