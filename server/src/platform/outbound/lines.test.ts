import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { answerOf, type RawReceiver, startRawReceiver } from '../../../test/raw-receiver.ts'
import { systemClock } from '../clock.ts'
import { createConnect } from './connect.ts'
import { type Line, Lines, type LineUser } from './lines.ts'
import { createReach } from './reach.ts'

const KEPT = 3
let receivers: RawReceiver[]
let sockets: Socket[]
let lines: Lines
beforeEach(async () => {
  sockets = []
  const onConnection = (socket: Socket) => void sockets.push(socket)
  const onRequest = (socket: Socket) => void socket.write(answerOf('200 OK'))
  receivers = await Promise.all([1, 2].map(() => startRawReceiver({ onConnection, onRequest })))
  const find = () => Promise.reject(new Error('no names here'))
  lines = new Lines(createConnect({ reach: createReach(['127.0.0.0/8']), find }), systemClock, KEPT)
})
afterEach(async () => {
  lines.closeIdle()
  await Promise.all(receivers.map((one) => one.close()))
})

const urlOf = (index: number) => new URL(`http://127.0.0.1:${receivers[index]!.port}`)

const nobody: LineUser = { opened: () => undefined, heard: () => undefined, lost: () => undefined }

/** A line over which one request has gone, and its answer come. */
const used = (index: number): Promise<Line> =>
  new Promise((resolve) => {
    const opened = () => void line.socket!.write('POST / HTTP/1.1\r\n\r\n')
    const line: Line = lines.open(urlOf(index), { ...nobody, opened, heard: () => resolve(line) })
  })
const take = (index: number) => lines.take(urlOf(index).origin, nobody)

test('an idle line is taken again by its origin, the last used first, and by no other', async () => {
  const [first, second] = [await used(0), await used(0)]
  lines.keep(first, null)
  lines.keep(second, null)
  expect(take(1)).toBeUndefined()
  expect(take(0)).toBe(second)
  expect(take(0)).toBe(first)
  expect(take(0)).toBeUndefined()
  expect(lines.idleCount).toBe(0)
  for (const line of [first, second]) lines.drop(line)
})

test('what the receiver closes is not kept, and so no origin is kept for ever', async () => {
  for (const index of [0, 1]) lines.keep(await used(index), null)
  expect(lines.idleCount).toBe(2)
  for (const socket of sockets) socket.end()
  await expect.poll(() => lines.idleCount).toBe(0)
})

test('no more than so many are kept in all; the others are closed after their send', async () => {
  const opened = await Promise.all([0, 1, 0, 1, 0].map(used))
  for (const line of opened) lines.keep(line, null)
  expect(lines.idleCount).toBe(KEPT)
  const closed = () => receivers.reduce((sum, one) => sum + one.closed(), 0)
  await expect.poll(closed).toBe(opened.length - KEPT)
  lines.closeIdle()
  await expect.poll(closed).toBe(opened.length)
  expect(lines.idleCount).toBe(0)
})

test('whoever says something without being asked is not kept', async () => {
  lines.keep(await used(0), null)
  sockets[0]!.write('HTTP/1.1 200 OK\r\n\r\n')
  await expect.poll(() => lines.idleCount).toBe(0)
  await expect.poll(() => receivers[0]!.closed()).toBe(1)
})
