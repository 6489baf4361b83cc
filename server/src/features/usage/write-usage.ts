import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  addPoints,
  claimSample,
  deleteOldPoints,
  deleteSeries,
  listSeriesIds,
  listSeriesOfProject,
  raiseLevels,
} from './usage.store.ts'
import { KEEP_HOURS_MS, KEEP_MINUTES_MS, MINUTE_MS, type Series } from './usage.ts'
import type { Point, UsageCounter } from './usage-counter.ts'

/** Short enough that nobody notices the wait for the writer. */
const POINTS_PER_TRANSACTION = 400
/** While the store is away, the oldest points are dropped instead of filling the memory. */
const MAX_UNWRITTEN = 200_000
const REMOVE_EVERY_MS = 60 * MINUTE_MS
const SERIES_PER_REMOVAL = 200
/** Series of a deleted project per transaction: one has up to 5,000 points. */
const SERIES_PER_DELETION = 5

/** Active tokens of one key at this moment. */
export interface TokenLevel {
  readonly project_id: string
  readonly key_id: string
  readonly count: number
}

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly counter: UsageCounter
  readonly activeTokens: () => Promise<readonly TokenLevel[]>
}

/** Moves counts from memory to the store, samples levels, and removes what is too old. Outside of requests. */
export function createUsageWriter({ db, clock, counter, activeTokens }: Deps) {
  let unwritten: Point[] = []
  let writing: Promise<void> | undefined
  let next: Promise<void> | undefined
  let sampledMinute = 0
  let removedAt = Number.NEGATIVE_INFINITY

  /** One at a time. Calls during a write share the next one, since it may have begun before they counted. */
  function write(): Promise<void> {
    if (writing) {
      next ??= writing.catch(() => undefined).then(writeNext)
      return next
    }
    writing = writeAll().finally(() => {
      writing = undefined
    })
    return writing
  }

  function writeNext(): Promise<void> {
    next = undefined
    return write()
  }

  async function writeAll(): Promise<void> {
    unwritten = [...unwritten, ...counter.take()].slice(-MAX_UNWRITTEN)
    while (unwritten.length > 0) {
      const points = unwritten.slice(0, POINTS_PER_TRANSACTION)
      await db.transaction((tx) => addPoints(tx, points))
      unwritten = unwritten.slice(points.length)
    }
  }

  async function sampleLevels(): Promise<void> {
    const now = clock.now()
    const at = now - (now % MINUTE_MS)
    if (at === sampledMinute) return
    sampledMinute = at
    if (!(await db.transaction((tx) => claimSample(tx, at)))) return
    const points = levelPoints(await activeTokens(), at)
    for (let i = 0; i < points.length; i += POINTS_PER_TRANSACTION)
      await db.transaction((tx) => raiseLevels(tx, points.slice(i, i + POINTS_PER_TRANSACTION)))
  }

  async function removeOld(): Promise<void> {
    if (clock.monotonic() - removedAt < REMOVE_EVERY_MS) return
    removedAt = clock.monotonic()
    const now = clock.now()
    const before = { minutesBefore: now - KEEP_MINUTES_MS, hoursBefore: now - KEEP_HOURS_MS }
    for (let after = -1; ; ) {
      const ids = await listSeriesIds(db, after, SERIES_PER_REMOVAL)
      if (ids.length === 0) return
      await db.transaction((tx) => deleteOldPoints(tx, { ids, ...before }))
      after = ids.at(-1)!
    }
  }

  return {
    write,
    async run(): Promise<void> {
      await write()
      await sampleLevels()
      await removeOld()
    },
  }
}

/** Deletes the usage of a project in small transactions. */
export async function removeUsageOfProject(db: Database, projectId: string): Promise<void> {
  for (;;) {
    const ids = await listSeriesOfProject(db, projectId, SERIES_PER_DELETION)
    if (ids.length === 0) return
    await db.transaction((tx) => deleteSeries(tx, ids))
  }
}

/** One point per key, and one per project with their sum. */
function levelPoints(levels: readonly TokenLevel[], at: number): Point[] {
  const series = (projectId: string, keyId?: string): Series => ({
    projectId,
    metric: 'active_tokens',
    dimension: keyId === undefined ? 'none' : 'key',
    key: keyId ?? '',
    bucket: 0,
  })
  const ofKeys = levels.map(({ project_id, key_id, count }) => ({
    series: series(project_id, key_id),
    at,
    count,
  }))
  const ofProjects = Map.groupBy(levels, ({ project_id }) => project_id)
    .entries()
    .map(([projectId, keys]) => ({
      series: series(projectId),
      at,
      count: keys.reduce((sum, { count }) => sum + count, 0),
    }))
  return [...ofKeys, ...ofProjects]
}
