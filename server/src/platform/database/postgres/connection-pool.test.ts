import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StoreUnavailable } from '../database.ts'
import type { Connection } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'

/** What the pool needs of a connection, opening when the test says so. */
class Line {
  isDead = false
  isWorn = false
  readonly #opening = Promise.withResolvers<void>()
  open = () => this.#opening.promise
  ready = () => this.#opening.resolve()
  refuse = () => this.#opening.reject(new StoreUnavailable('refused'))
  close = (): void => {
    this.isDead = true
  }
}

let lines: Line[]
let pool: ConnectionPool
const WAIT_MS = 7_000

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
  pool = new ConnectionPool(() => {
    const line = new Line()
    lines.push(line)
    return line as never as Connection
  }, 1)
})
afterEach(() => vi.useRealTimers())

async function taken(): Promise<Connection> {
  const taking = pool.acquire()
  lines.at(-1)!.ready()
  return taking
}

test('a connection made for someone who has given up meanwhile goes to the next who asks', async () => {
  const first = await taken()
  const tired = pool.acquire().catch((error) => error)
  await vi.advanceTimersByTimeAsync(WAIT_MS - 1_000)
  lines[0]!.isDead = true
  pool.release(first)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await tired).toBeInstanceOf(StoreUnavailable)
  lines[1]!.ready()
  await vi.advanceTimersByTimeAsync(0)
  expect(await pool.acquire()).toBe(lines[1])
})

test('whoever gives up takes nobody else out of the queue', async () => {
  const first = await taken()
  const tired = pool.acquire().catch((error) => error)
  await vi.advanceTimersByTimeAsync(WAIT_MS - 1_000)
  const patient = pool.acquire()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await tired).toBeInstanceOf(StoreUnavailable)
  pool.release(first)
  expect(await patient).toBe(first)
})

test('a connection that cannot be made fails only the one it was made for, and leaves its place', async () => {
  const failing = pool.acquire()
  lines[0]!.refuse()
  await expect(failing).rejects.toThrow('refused')
  expect(await taken()).toBe(lines[1])
})

test('a worn or dead connection is not lent again', async () => {
  for (const fault of ['isWorn', 'isDead'] as const) {
    const connection = await taken()
    lines.at(-1)![fault] = true
    pool.release(connection)
    const next = await taken()
    expect(next).not.toBe(connection)
    lines.at(-1)!.isDead = true
    pool.release(next)
  }
})

test('closing waits for what is lent, fails who waits, and lends nothing afterwards', async () => {
  const lent = await taken()
  const waiting = pool.acquire().catch((error) => error)
  const closing = pool.close(5_000)
  expect(await waiting).toBeInstanceOf(StoreUnavailable)
  await expect(pool.acquire()).rejects.toThrow(StoreUnavailable)
  pool.release(lent)
  await closing
  expect(lines[0]!.isDead).toBe(true)
})
