import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { answerOf, type RawReceiver, startRawReceiver } from '../../../test/raw-receiver.ts'
import { systemClock } from '../clock.ts'
import { createConnect } from './connect.ts'
import { type Line, Lines } from './lines.ts'
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
  await lines.closeIdle()
  await Promise.all(receivers.map((one) => one.close()))
})

const originOf = (index: number) => `http://127.0.0.1:${receivers[index]!.port}`

async function used(line: Line): Promise<Line> {
  await line.client.request({ path: '/', method: 'POST' }).then(({ body }) => body.dump())
  return line
}

test('an idle line is taken again by its origin, the last used first, and by no other', async () => {
  const [first, second] = [await used(lines.open(originOf(0))), await used(lines.open(originOf(0)))]
  lines.keep(first)
  lines.keep(second)
  const others = [lines.take(originOf(1))]
  const again = [lines.take(originOf(0)), lines.take(originOf(0)), lines.take(originOf(0))]
  expect(again.slice(0, 2)).toEqual([second, first])
  expect([first, second]).not.toContain(again[2])
  expect([first, second]).not.toContain(others[0])
  expect(lines.idleCount).toBe(0)
  await Promise.all([...again, ...others].map((line) => lines.drop(line)))
})

test('what the receiver closes is not kept, and so no origin is kept for ever', async () => {
  for (const index of [0, 1]) lines.keep(await used(lines.open(originOf(index))))
  expect(lines.idleCount).toBe(2)
  for (const socket of sockets) socket.end()
  await expect.poll(() => lines.idleCount).toBe(0)
})

test('no more than so many are kept in all; the others are closed after their send', async () => {
  const opened = await Promise.all([0, 1, 0, 1, 0].map((index) => used(lines.open(originOf(index)))))
  for (const line of opened) lines.keep(line)
  expect(lines.idleCount).toBe(KEPT)
  const closed = () => receivers.reduce((sum, one) => sum + one.closed(), 0)
  await expect.poll(closed).toBe(opened.length - KEPT)
  await lines.closeIdle()
  await expect.poll(closed).toBe(opened.length)
  expect(lines.idleCount).toBe(0)
})
