import type { DatabaseSync } from 'node:sqlite'

/** Long enough for another process's commit, short enough that a caller hears 503 within seconds. */
export const BUSY_TIMEOUT_MS = 5_000

const SQLITE_BUSY = 5

/**
 * A transaction of ours takes a few milliseconds, and between two of them a busy process leaves the lock free for a
 * fraction of one. SQLite itself waits longer from try to try, up to 100 ms, and so hardly ever comes by in time: with
 * two processes the slower hundredth waited for 120 ms and one got three times as much done as the other; like this
 * 35 ms, and both the same.
 */
const PAUSE_MS = 0.8

const never = new Int32Array(new SharedArrayBuffer(4))

/** Blocks this thread, which has nothing else to do. */
const pause = (): void => void Atomics.wait(never, 0, 0, PAUSE_MS * (0.5 + Math.random()))

/** Begins a transaction that writes. Where another process has one open, it waits for its turn. */
export function beginImmediate(database: DatabaseSync): void {
  const late = performance.now() + BUSY_TIMEOUT_MS
  database.exec('pragma busy_timeout = 0')
  try {
    while (!tryToBegin(database, performance.now() > late)) pause()
  } finally {
    database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

function tryToBegin(database: DatabaseSync, lastTime: boolean): boolean {
  try {
    database.exec('begin immediate')
    return true
  } catch (error) {
    if (lastTime || (error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    return false
  }
}
