/** The load generator where `wrk` is not installed: raw sockets, kept open, one request at a time on each. */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { wholeAnswer } from './connection.ts'
import { type LoadResult, type LoadTask, SETTLE_SECONDS } from './load.ts'
import { SEPARATOR } from './requests.ts'

const task = JSON.parse(process.argv[2]!) as LoadTask
const requests = readFileSync(task.requestsFile, 'latin1')
  .split(SEPARATOR)
  .map((text) => Buffer.from(text, 'latin1'))

let next = 0
let stopped = false
let [refused, failed, bytes] = [0, 0, 0]
const latenciesMs: number[] = []

function open(): Promise<Socket> {
  const { hostname, port } = new URL(task.url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

function drive(socket: Socket): void {
  let sentAt = 0
  let received: Buffer | undefined

  function send(): void {
    sentAt = performance.now()
    socket.write(requests[next++ % requests.length]!)
  }

  socket.on('data', (chunk: Buffer) => {
    received = received ? Buffer.concat([received, chunk]) : chunk
    const answer = wholeAnswer(received)
    if (!answer) return
    received = undefined
    if (stopped) return
    latenciesMs.push(performance.now() - sentAt)
    bytes += answer.bytes
    if (answer.status >= 400) refused++
    send()
  })
  socket.on('close', () => {
    if (!stopped) failed++
  })
  socket.on('error', () => undefined)
  send()
}

function resultAfter(seconds: number): LoadResult {
  const sorted = Float64Array.from(latenciesMs).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { answers: sorted.length, refused, failed, bytes, seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}

const sockets = await Promise.all(Array.from({ length: task.connections }, open))
// Until every connection has been accepted: what they wait for that is no latency of requests.
await wait(SETTLE_SECONDS * 1000)
const began = performance.now()
for (const socket of sockets) drive(socket)
setTimeout(() => {
  stopped = true
  const result = resultAfter((performance.now() - began) / 1000)
  for (const socket of sockets) socket.destroy()
  process.stdout.write(`${JSON.stringify(result)}\n`)
}, task.seconds * 1000)
