import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { capturedLog } from '../../../test/captured-log.ts'
import type { Order, Said } from '../../../test/linked-process.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { type Listening, superviseWorkers, workerEnvironment } from './index.ts'
import { restartDelay } from './supervisor.ts'

const ENTRY = fileURLToPath(new URL('../../../test/linked-process.ts', import.meta.url))
const LISTENING: Listening = { url: 'http://127.0.0.1:4711', managementUrl: 'http://127.0.0.1:4712' }

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A supervisor with workers that the test controls. `envs` are the environments of the workers, in order. */
function superviseTestWorkers(count: number, envs: readonly NodeJS.ProcessEnv[] = []) {
  const clock = new TestClock()
  const { log, text } = capturedLog({ level: 'info' })
  const own: ChildProcess[] = []
  const told: (Listening | undefined)[] = []
  const launch = (listening: Listening | undefined) => {
    const child = fork(ENTRY, { env: workerEnvironment({ ...process.env, ...envs[own.length] }) })
    told.push(listening)
    own.push(child)
    children.push(child)
    return child
  }
  const supervisor = superviseWorkers({ clock, log, launch }, count)
  return { ...supervisor, clock, log: text, told, workers: own }
}

const order = (child: ChildProcess, message: Order) => void child.send(message)

function saying<S extends Said['said']>(child: ChildProcess, said: S): Promise<Extract<Said, { said: S }>> {
  return new Promise((resolve) => {
    const hear = (message: Said) => {
      if (message.said !== said) return
      child.off('message', hear)
      resolve(message as Extract<Said, { said: S }>)
    }
    child.on('message', hear)
  })
}

async function totalOf(child: ChildProcess): Promise<string | undefined> {
  const total = saying(child, 'total')
  order(child, { order: 'total' })
  return (await total).text
}

const ended = (child: ChildProcess): Promise<number | NodeJS.Signals> =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal!)))

const isGone = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

describe('workers', () => {
  test('workers listen where the first one does, which starts alone', async () => {
    const { start, told } = superviseTestWorkers(3)
    expect(await start()).toEqual(LISTENING)
    expect(told).toEqual([undefined, LISTENING, LISTENING])
  })

  test('a worker that cannot start fails the start with its exit code, and no worker is left behind', async () => {
    const { start, workers } = superviseTestWorkers(3, [{}, {}, { TEST_FAILS: '75' }])
    await expect(start()).rejects.toMatchObject({ name: 'StartFailure', message: '', exitCode: 75 })
    expect(workers.map(isGone)).toEqual([true, true, true])
  })

  test('a first worker that cannot start keeps the others from being started', async () => {
    const { start, workers } = superviseTestWorkers(3, [{ TEST_FAILS: '78' }])
    await expect(start()).rejects.toMatchObject({ exitCode: 78 })
    expect(workers).toHaveLength(1)
  })

  test('a notification reaches all workers but its sender', async () => {
    const { start, workers } = superviseTestWorkers(3)
    await start()
    const [a, b, c] = workers as [ChildProcess, ChildProcess, ChildProcess]
    const own: Said[] = []
    a.on('message', (message: Said) => message.said === 'heard' && own.push(message))
    const heard = [saying(b, 'heard'), saying(c, 'heard')]
    order(a, { order: 'wake', topic: 'keys' })
    expect((await Promise.all(heard)).map(({ topic }) => topic)).toEqual(['keys', 'keys'])
    // After a request and its reply, no earlier message is in transit.
    await totalOf(a)
    expect(own).toEqual([])
  })

  test('the supervisor waits until every worker has stopped', async () => {
    const { start, stop, workers } = superviseTestWorkers(2)
    await start()
    await stop()
    expect(workers.map(({ exitCode }) => exitCode)).toEqual([0, 0])
  })

  test('a worker that does not stop in time is killed, and that is logged', async () => {
    const { start, stop, workers, clock, log } = superviseTestWorkers(2, [{}, { TEST_STUBBORN: '1' }])
    await start()
    const stopping = stop()
    await ended(workers[0]!)
    expect(isGone(workers[1]!)).toBe(false)
    await clock.advance(15_000)
    await stopping
    expect(workers[1]!.signalCode).toBe('SIGKILL')
    expect(log()).toContain('did not stop in time')
  })
})

describe('a worker that ended', () => {
  test('a worker that exits is logged and replaced with exponential backoff; the others keep running', async () => {
    const { start, workers, told, clock, log } = superviseTestWorkers(2)
    await start()
    const replaced = async (worker: ChildProcess, afterMs: number) => {
      worker.kill('SIGKILL')
      await expect.poll(() => clock.sleeping).toBe(1)
      const before = workers.length
      await clock.advance(afterMs - 1)
      expect(workers).toHaveLength(before)
      await clock.advance(1)
      await expect.poll(() => workers.length).toBe(before + 1)
      return workers.at(-1)!
    }
    const second = await replaced(workers[0]!, 200)
    const third = await replaced(second, 400)
    await replaced(third, 800)
    expect(told.slice(2)).toEqual([LISTENING, LISTENING, LISTENING])
    expect(isGone(workers[1]!)).toBe(false)
    const lines = log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ msg, pid, signal, replaced_in_ms }) => [msg, pid, signal, replaced_in_ms])).toEqual([
      ['a worker ended', workers[0]!.pid, 'SIGKILL', 200],
      ['a worker ended', second.pid, 'SIGKILL', 400],
      ['a worker ended', third.pid, 'SIGKILL', 800],
    ])
  })

  test('a worker is replaced at once after a long uptime, and never later than after 30 s', () => {
    expect(restartDelay(60_000, 7)).toEqual({ delayMs: 0, earlyExits: 0 })
    expect(restartDelay(59_999, 0)).toEqual({ delayMs: 200, earlyExits: 1 })
    expect(restartDelay(0, 100)).toEqual({ delayMs: 30_000, earlyExits: 101 })
  })

  test('a worker that exits while the service stops is not replaced', async () => {
    const { start, stop, workers, clock } = superviseTestWorkers(2)
    await start()
    workers[0]!.kill('SIGKILL')
    await expect.poll(() => clock.sleeping).toBe(1)
    await stop()
    await clock.advance(60_000)
    expect(workers).toHaveLength(2)
    expect(workers.map(isGone)).toEqual([true, true])
  })
})

describe('the metrics of a service', () => {
  const value = (text: string | undefined, series: string) =>
    Number(
      text
        ?.split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    )
  const DONE = 'done_total{kind="a"}'

  test('the metrics of a service are the sum over its workers, whichever of them returns them', async () => {
    const { start, workers } = superviseTestWorkers(2)
    await start()
    order(workers[0]!, { order: 'count', amount: 3 })
    order(workers[1]!, { order: 'count', amount: 4 })
    for (const worker of workers) {
      const text = await totalOf(worker)
      expect([value(text, DONE), value(text, 'held'), value(text, 'jeton_workers_replaced_total')]).toEqual([
        7, 2, 0,
      ])
      expect(text!.match(/# TYPE done_total counter/g)).toHaveLength(1)
    }
  })

  test('counters never fall when a worker exits, and its gauges are gone', async () => {
    const { start, workers, clock } = superviseTestWorkers(2)
    await start()
    order(workers[0]!, { order: 'count', amount: 3 })
    order(workers[1]!, { order: 'count', amount: 4 })
    await totalOf(workers[1]!)
    workers[0]!.kill('SIGKILL')
    await expect.poll(() => clock.sleeping).toBe(1)
    const text = await totalOf(workers[1]!)
    expect([value(text, DONE), value(text, 'held')]).toEqual([7, 1])
    await clock.advance(200)
    await expect.poll(async () => value(await totalOf(workers[1]!), 'held')).toBe(2)
    expect(value(await totalOf(workers[1]!), DONE)).toBe(7)
    expect(value(await totalOf(workers[1]!), 'jeton_workers_replaced_total')).toBe(1)
  })

  test('a worker that hangs counts with its last report and does not delay the metrics', async () => {
    const { start, workers, clock } = superviseTestWorkers(2)
    await start()
    order(workers[0]!, { order: 'count', amount: 3 })
    await totalOf(workers[1]!)
    workers[0]!.kill('SIGSTOP')
    order(workers[1]!, { order: 'count', amount: 4 })
    const total = totalOf(workers[1]!)
    await expect.poll(() => clock.sleeping).toBeGreaterThan(0)
    await clock.advance(1_000)
    expect(value(await total, DONE)).toBe(7)
  })
})
