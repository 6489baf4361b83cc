import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Certificate, makeAuthority } from '../../server/test/certificates.ts'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import { fillDeliveries } from '../deliveries/fill.ts'
import {
  type BareTask,
  type Behaviour,
  type FromReceiver,
  heard,
  type Sent,
  type ToReceiver,
} from '../deliveries/protocol.ts'
import { shownCount, shownMs } from '../shown.ts'
import type { Engine, Store } from '../stores.ts'
import { type Bench, median } from './load-subject.ts'

export const DESTINATIONS = [1, 10, 1_000] as const
const DELIVERIES = 80_000
const DELIVERIES_QUICK = 4_000
/** Of these, the first ones are not counted: like everything that is measured here, who sends them is to be warm. */
const WARM_UP_PART = 1 / 4
/** As many as one destination gets when all goes well. */
const CONNECTIONS = 64
const IDLE_EVENTS = 200
const BINARY = fileURLToPath(new URL('../../server/bin/jeton.js', import.meta.url))

export interface DeliveryRow {
  readonly engine: Engine
  readonly destinations: number
  readonly perSecond: number
  readonly barePerSecond: number
  /** Of the bare loop in the same round; the median of the rounds, and their spread. */
  readonly ratio: number
  readonly ratios: readonly [least: number, most: number]
  readonly isSecure: boolean
}

/** How fast ten destinations are served beside an eleventh, by what that one does. */
export interface InterferenceRow {
  readonly engine: Engine
  readonly behaviour: Behaviour
  /** Of the rate beside one that answers, in the same round; the median of the rounds. */
  readonly ratio: number
  readonly ratios: readonly [least: number, most: number]
}

export interface IdleRow {
  readonly engine: Engine
  /** From the commit of an event to its arrival, one at a time. */
  readonly medianMs: number
  readonly p99Ms: number
}

const entry = (name: string) => fileURLToPath(new URL(`../deliveries/${name}.ts`, import.meta.url))

interface ReceiverOptions {
  readonly behaviour?: Behaviour
  readonly certificate?: Certificate | undefined
}

async function withReceiver<T>(
  work: (url: string, ask: Ask) => Promise<T>,
  { behaviour = 'answer', certificate }: ReceiverOptions = {},
): Promise<T> {
  const tls = certificate && { RECEIVER_CERT: certificate.cert, RECEIVER_KEY: certificate.key }
  const child = fork(entry('receiver'), [behaviour], { env: { ...process.env, ...tls } })
  try {
    const url = await heard<string>(child)
    const ask: Ask = (message) => {
      const answer = heard<FromReceiver>(child)
      child.send(message)
      return answer
    }
    return await work(url, ask)
  } finally {
    child.kill('SIGKILL')
  }
}

type Ask = (message: ToReceiver) => Promise<FromReceiver>

/** What may be reached, and with what secrets are kept. */
const settings = (store: Store): Record<string, string> => ({
  ...store.env,
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8,::1',
  JETON_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  JETON_LOG_LEVEL: 'warn',
})

interface Arrived {
  readonly rate: number
  readonly last: Sent
}

/** Asked before anything is sent. */
async function arrived(ask: Ask, count: number): Promise<Arrived> {
  const warmUp = Math.floor(count * WARM_UP_PART)
  const { seconds, last } = await ask({ count, warmUp, reset: true })
  return { rate: (count - warmUp - 1) / seconds, last }
}

const urlsOf = (url: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${url}/hooks/${i}`)

/** Written by the client itself. */
const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])

async function bareLoop({ ask, urls, count }: Sending, { headers, body }: Sent): Promise<number> {
  const child = fork(entry('bare'))
  const task: BareTask = {
    urls,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name))),
    body,
    count,
    connections: CONNECTIONS,
  }
  const seen = arrived(ask, count)
  const done = heard(child)
  child.send(task)
  await done
  child.kill()
  return (await seen).rate
}

async function jetonWorker(bench: Bench, engine: Engine, sending: Sending): Promise<Arrived> {
  const { ask, urls, count, events } = sending
  const store = await bench.stores.fresh(engine)
  const env = settings(store)
  let child: ChildProcess | undefined
  try {
    await fillDeliveries({ ...store, env }, { urls, events })
    const seen = arrived(ask, count)
    child = spawn(process.execPath, [BINARY, 'worker'], {
      env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    return await seen
  } finally {
    await ended(child)
    await store.drop()
  }
}

interface Sending {
  readonly ask: Ask
  readonly urls: readonly string[]
  /** Arrivals to wait for. */
  readonly count: number
  readonly events: number
}

const ended = (child: ChildProcess | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (!child) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })

const ratiosOf = (ratios: readonly number[]) => ({
  ratio: median([...ratios]),
  ratios: [Math.min(...ratios), Math.max(...ratios)] as const,
})

/** Sends everything to a local receiver; then a bare loop posts the last of these requests as often. */
export const measureDeliveries = async (bench: Bench, engine: Engine): Promise<DeliveryRow[]> => [
  ...(await compareWithBareLoop(bench, engine, DESTINATIONS)),
  ...(await compareWithBareLoop(bench, engine, [10], makeAuthority())),
]

const compareWithBareLoop = (
  bench: Bench,
  engine: Engine,
  destinationCounts: readonly number[],
  authority?: ReturnType<typeof makeAuthority>,
): Promise<DeliveryRow[]> =>
  withReceiver(
    async (url, ask) => {
      if (authority) trust(authority)
      const count = bench.quick ? DELIVERIES_QUICK : DELIVERIES
      const rows: DeliveryRow[] = []
      for (const destinations of destinationCounts) {
        const rounds: { jeton: number; bare: number }[] = []
        for (let i = 1; i <= bench.rounds; i++) {
          const sending = { ask, urls: urlsOf(url, destinations), count, events: count / destinations }
          const { rate: jeton, last } = await jetonWorker(bench, engine, sending)
          const bare = await bareLoop(sending, last)
          rounds.push({ jeton, bare })
          bench.say(
            `deliveries ${i} of ${bench.rounds}: ${engine}, ${shownCount(destinations)} destinations: ${shownCount(jeton)}/s, the bare loop ${shownCount(bare)}/s`,
          )
        }
        rows.push({
          engine,
          destinations,
          perSecond: median(rounds.map(({ jeton }) => jeton)),
          barePerSecond: median(rounds.map(({ bare }) => bare)),
          ...ratiosOf(rounds.map(({ jeton, bare }) => jeton / bare)),
          isSecure: authority !== undefined,
        })
      }
      return rows
    },
    { certificate: authority?.issue({ names: ['localhost'] }) },
  )

/** For the processes that are started from here on. */
function trust({ cert }: Certificate): void {
  const file = join(mkdtempSync(join(tmpdir(), 'jeton-bench-')), 'authority.pem')
  writeFileSync(file, cert)
  process.env.NODE_EXTRA_CA_CERTS = file
}

const NEIGHBOURS = 10

/** Serves ten destinations beside an eleventh that answers, then beside one that does not, in turn. */
export async function measureInterference(bench: Bench, engine: Engine): Promise<InterferenceRow[]> {
  const rows: InterferenceRow[] = []
  const count = bench.quick ? DELIVERIES_QUICK : DELIVERIES / 4
  for (const behaviour of ['hang', 'fail', 'drip'] as const) {
    const ratios: number[] = []
    for (let i = 1; i <= bench.rounds; i++) {
      const good = await rateBeside(bench, engine, { behaviour: 'answer', count })
      ratios.push((await rateBeside(bench, engine, { behaviour, count })) / good)
    }
    const row = { engine, behaviour, ...ratiosOf(ratios) }
    bench.say(`deliveries beside one that does "${behaviour}": ${engine}: ${row.ratio.toFixed(2)}`)
    rows.push(row)
  }
  return rows
}

const rateBeside = (
  bench: Bench,
  engine: Engine,
  { behaviour, count }: { behaviour: Behaviour; count: number },
): Promise<number> =>
  withReceiver((url, ask) =>
    withReceiver(
      async (other) => {
        const urls = [...urlsOf(url, NEIGHBOURS), `${other}/hooks/other`]
        return (await jetonWorker(bench, engine, { ask, urls, count, events: count / NEIGHBOURS })).rate
      },
      { behaviour },
    ),
  )

/** One event at a time, each after the one before has arrived. */
export const measureIdleDelay = (bench: Bench, engine: Engine): Promise<IdleRow[]> =>
  withReceiver(async (url, ask) => {
    const store = await bench.stores.fresh(engine)
    const env = settings(store)
    const { id, secret } = await fillDeliveries({ ...store, env }, { urls: urlsOf(url, 1), events: 0 })
    const child = spawn(process.execPath, [BINARY, 'serve'], {
      env: { PATH: process.env.PATH, HOME: bench.stores.folder, ...env, JETON_LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const service = await new Promise<string>((resolve) => {
        let said = ''
        child.stdout!.on('data', (text) => {
          said += text
          const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)
          if (found) resolve(found[0])
        })
      })
      await ask({ count: 0, reset: true, timing: true })
      for (let i = 0; i < IDLE_EVENTS; i++) {
        await fetch(`${service}/v1/redemptions/rewards`, {
          method: 'POST',
          headers: { 'x-app-id': id, 'x-app-token': secret, 'content-type': 'application/json' },
          body: JSON.stringify({ source_id: `idle-${i}`, data: redemptionData() }),
        })
        await ask({ count: i + 1 })
      }
      const delays = (await ask({ count: IDLE_EVENTS })).delaysMs.sort((a, b) => a - b)
      const row = { engine, medianMs: median(delays), p99Ms: delays[Math.floor(delays.length * 0.99)]! }
      bench.say(`deliveries when idle: ${engine}: median ${shownMs(row.medianMs)}, p99 ${shownMs(row.p99Ms)}`)
      return [row]
    } finally {
      await ended(child)
      await store.drop()
    }
  })
