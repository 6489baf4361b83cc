import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { makeHome, serveBinary } from '../binary.ts'
import { send } from '../service.ts'

const CONNECTIONS = 150
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
/** Large responses fill the buffers of the operating system. Small ones would take a minute. */
const LARGE = get('/openapi.json').repeat(40)
/** As many requests as one read returns. */
const SMALL = get('/health/live').repeat(1_700)
/** The memory limit of the systemd unit. The other files in deploy/ have the same. */
const UNIT = readFileSync(new URL('../../../deploy/jeton.service', import.meta.url), 'utf8')
const MEMORY_LIMIT_MB = Number(/^MemoryMax=(\d+)M$/m.exec(UNIT)![1])

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A client that sends requests for as long as the server reads them, and never reads an answer. */
class Flood {
  sent = 0
  isOpen = true
  readonly socket: Socket

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.socket = connect(Number(port), hostname, () => this.#write(LARGE + SMALL)).pause()
    this.socket.on('error', () => undefined).on('close', () => (this.isOpen = false))
  }

  #write(requests: string): void {
    this.socket.write(requests, (error) => {
      if (error) return
      this.sent++
      this.#write(SMALL)
    })
  }
}

/** Peak memory of a process. */
const peakMemoryMb = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

test('150 clients that send requests and never read the responses do not exhaust a heap of 256 MB', async () => {
  const home = makeHome()
  cleanUps.push(home.remove)
  const env = { NODE_OPTIONS: '--max-old-space-size=256' }
  const service = await serveBinary({ home: home.folder, env })
  cleanUps.push(() => service.stop('SIGKILL'))
  const floods = Array.from({ length: CONNECTIONS }, () => new Flood(service.url))
  cleanUps.push(() => floods.map(({ socket }) => socket.destroy()))
  const total = () => floods.reduce((sum, { sent }) => sum + sent, 0)

  // Until the service has stopped reading from all of them.
  for (let before = -1; before < total(); ) {
    before = total()
    await Promise.race([wait(1_000), service.ended])
    expect(service.child.exitCode ?? service.child.signalCode, service.stderr().slice(-500)).toBe(null)
    expect((await send(`${service.url}/health/live`)).status).toBe(200)
  }
  expect(total()).toBeGreaterThan(CONNECTIONS)
  expect(floods.every(({ isOpen }) => isOpen)).toBe(true)
  expect(peakMemoryMb(service.child.pid!)).toBeLessThan(MEMORY_LIMIT_MB)

  // A client that begins to read is served again.
  const [first] = floods
  let read = 0
  first!.socket.on('data', (chunk) => (read += chunk.length)).resume()
  await expect.poll(() => read, { timeout: 10_000 }).toBeGreaterThan(20_000_000)
}, 120_000)
