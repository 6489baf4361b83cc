import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { capturedLog } from '../../../test/captured-log.ts'
import type { Order, Said } from '../../../test/linked-process.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { type Listening, supervisedEnvironment, superviseProcesses } from './index.ts'
import { restartDelay } from './supervisor.ts'

const ENTRY = fileURLToPath(new URL('../../../test/linked-process.ts', import.meta.url))
const LISTENING: Listening = { url: 'http://127.0.0.1:4711', managementUrl: 'http://127.0.0.1:4712' }

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A supervisor with processes that the test controls. `envs` are their environments, in order. */
function superviseTestProcesses(count: number, envs: readonly NodeJS.ProcessEnv[] = []) {
  const clock = new TestClock()
  const { log, text } = capturedLog({ level: 'info' })
  const own: ChildProcess[] = []
  const told: (Listening | undefined)[] = []
  const launch = (listening: Listening | undefined) => {
    const child = fork(ENTRY, { env: supervisedEnvironment({ ...process.env, ...envs[own.length] }) })
    told.push(listening)
    own.push(child)
    children.push(child)
    return child
  }
  const supervisor = superviseProcesses({ clock, log, launch }, count)
  return { ...supervisor, clock, log: text, told, processes: own }
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

describe('HTTP processes', () => {
  test('HTTP processes listen where the first one does, which starts alone', async () => {
    const { start, told } = superviseTestProcesses(3)
    expect(await start()).toEqual(LISTENING)
    expect(told).toEqual([undefined, LISTENING, LISTENING])
  })

  test('a process that cannot start fails the start with its exit code, and no process is left behind', async () => {
    const { start, processes } = superviseTestProcesses(3, [{}, {}, { TEST_FAILS: '75' }])
    await expect(start()).rejects.toMatchObject({ name: 'StartFailure', message: '', exitCode: 75 })
    expect(processes.map(isGone)).toEqual([true, true, true])
  })

  test('a first process that cannot start keeps the others from being started', async () => {
    const { start, processes } = superviseTestProcesses(3, [{ TEST_FAILS: '78' }])
    await expect(start()).rejects.toMatchObject({ exitCode: 78 })
    expect(processes).toHaveLength(1)
  })

  test('a notification reaches all processes but its sender', async () => {
    const { start, processes } = superviseTestProcesses(3)
    await start()
    const [a, b, c] = processes as [ChildProcess, ChildProcess, ChildProcess]
    const own: Said[] = []
    a.on('message', (message: Said) => message.said === 'heard' && own.push(message))
    const heard = [saying(b, 'heard'), saying(c, 'heard')]
    order(a, { order: 'wake', topic: 'keys' })
    expect((await Promise.all(heard)).map(({ topic }) => topic)).toEqual(['keys', 'keys'])
    // After a request and its reply, no earlier message is in transit.
    await totalOf(a)
    expect(own).toEqual([])
  })

  test('the supervisor waits until every process has stopped', async () => {
    const { start, stop, processes } = superviseTestProcesses(2)
    await start()
    await stop()
    expect(processes.map(({ exitCode }) => exitCode)).toEqual([0, 0])
  })

  test('a process that does not stop in time is killed, and that is logged', async () => {
    const { start, stop, processes, clock, log } = superviseTestProcesses(2, [{}, { TEST_STUBBORN: '1' }])
    await start()
    const stopping = stop()
    await ended(processes[0]!)
    expect(isGone(processes[1]!)).toBe(false)
    await clock.advance(15_000)
    await stopping
    expect(processes[1]!.signalCode).toBe('SIGKILL')
    expect(log()).toContain('did not stop in time')
  })
})

describe('a process that ended', () => {
  test('a process that exits is logged and replaced with exponential backoff; the others keep running', async () => {
    const { start, processes, told, clock, log } = superviseTestProcesses(2)
    await start()
    const replaced = async (one: ChildProcess, afterMs: number) => {
      one.kill('SIGKILL')
      await expect.poll(() => clock.sleeping).toBe(1)
      const before = processes.length
      await clock.advance(afterMs - 1)
      expect(processes).toHaveLength(before)
      await clock.advance(1)
      await expect.poll(() => processes.length).toBe(before + 1)
      return processes.at(-1)!
    }
    const second = await replaced(processes[0]!, 200)
    const third = await replaced(second, 400)
    await replaced(third, 800)
    expect(told.slice(2)).toEqual([LISTENING, LISTENING, LISTENING])
    expect(isGone(processes[1]!)).toBe(false)
    const lines = log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ msg, pid, signal, replaced_in_ms }) => [msg, pid, signal, replaced_in_ms])).toEqual([
      ['an HTTP process ended', processes[0]!.pid, 'SIGKILL', 200],
      ['an HTTP process ended', second.pid, 'SIGKILL', 400],
      ['an HTTP process ended', third.pid, 'SIGKILL', 800],
    ])
  })

  test('a process is replaced at once after a long uptime, and never later than after 30 s', () => {
    expect(restartDelay(60_000, 7)).toEqual({ delayMs: 0, earlyExits: 0 })
    expect(restartDelay(59_999, 0)).toEqual({ delayMs: 200, earlyExits: 1 })
    expect(restartDelay(0, 100)).toEqual({ delayMs: 30_000, earlyExits: 101 })
  })

  test('a process that exits while the service stops is not replaced', async () => {
    const { start, stop, processes, clock } = superviseTestProcesses(2)
    await start()
    processes[0]!.kill('SIGKILL')
    await expect.poll(() => clock.sleeping).toBe(1)
    await stop()
    await clock.advance(60_000)
    expect(processes).toHaveLength(2)
    expect(processes.map(isGone)).toEqual([true, true])
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

  test('the metrics of a service are the sum over its processes, whichever of them returns them', async () => {
    const { start, processes } = superviseTestProcesses(2)
    await start()
    order(processes[0]!, { order: 'count', amount: 3 })
    order(processes[1]!, { order: 'count', amount: 4 })
    for (const one of processes) {
      const text = await totalOf(one)
      expect([value(text, DONE), value(text, 'held'), value(text, 'jeton_workers_replaced_total')]).toEqual([
        7, 2, 0,
      ])
      expect(text!.match(/# TYPE done_total counter/g)).toHaveLength(1)
    }
  })

  test('counters never fall when a process exits, and its gauges are gone', async () => {
    const { start, processes, clock } = superviseTestProcesses(2)
    await start()
    order(processes[0]!, { order: 'count', amount: 3 })
    order(processes[1]!, { order: 'count', amount: 4 })
    await totalOf(processes[1]!)
    processes[0]!.kill('SIGKILL')
    await expect.poll(() => clock.sleeping).toBe(1)
    const text = await totalOf(processes[1]!)
    expect([value(text, DONE), value(text, 'held')]).toEqual([7, 1])
    await clock.advance(200)
    await expect.poll(async () => value(await totalOf(processes[1]!), 'held')).toBe(2)
    expect(value(await totalOf(processes[1]!), DONE)).toBe(7)
    expect(value(await totalOf(processes[1]!), 'jeton_workers_replaced_total')).toBe(1)
  })

  test('a process that hangs counts with its last report and does not delay the metrics', async () => {
    const { start, processes, clock } = superviseTestProcesses(2)
    await start()
    order(processes[0]!, { order: 'count', amount: 3 })
    await totalOf(processes[1]!)
    processes[0]!.kill('SIGSTOP')
    order(processes[1]!, { order: 'count', amount: 4 })
    const total = totalOf(processes[1]!)
    await expect.poll(() => clock.sleeping).toBeGreaterThan(0)
    await clock.advance(1_000)
    expect(value(await total, DONE)).toBe(7)
  })
})
