import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, inject, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { openDatabase } from '../../src/platform/database/index.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { connectSql } from '../sql.ts'
import { FaultScenario } from './fault-scenario.ts'
import { Fleet } from './fleet.ts'
import { rounds, TEST_TIMEOUT_MS } from './run-settings.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** Longer than the deadline of a statement, so that every waiting request has failed by then. */
const SILENCE_MS = 9_000

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function freshDatabase(): Promise<string> {
  const name = `network_${process.pid}_${Date.now()}`
  const admin = connectSql(inject('postgresUrl'))
  await admin.run(`create database ${name}`)
  cleanUps.push(async () => {
    await admin.run(`drop database if exists ${name} with (force)`)
    await admin.end()
  })
  return new URL(`/${name}`, inject('postgresUrl')).href
}

async function newReceiver(): Promise<Receiver> {
  const receiver = await startReceiver()
  cleanUps.push(() => receiver.close())
  return receiver
}

const FAULTS: Record<string, (proxy: TcpProxy, ms: number) => Promise<void>> = {
  'connections to PostgreSQL cut': async (proxy, ms) => {
    for (let i = 0; i < 10; i++) {
      proxy.cut()
      await wait(ms / 40)
    }
  },
  'responses of PostgreSQL cut off': async (proxy, ms) => {
    for (let i = 0; i < 10; i++) {
      proxy.cutWithin(ms % 700)
      await wait(ms / 40)
    }
    proxy.cutWithin(Number.POSITIVE_INFINITY)
  },
  'PostgreSQL slow': async (proxy, ms) => {
    proxy.setNetwork({ delayMs: 60 })
    await wait(ms * 2)
    proxy.setNetwork('normal')
  },
  'PostgreSQL refuses': async (proxy, ms) => {
    proxy.setNetwork('refusing')
    proxy.cut()
    await wait(ms)
    proxy.setNetwork('normal')
  },
  'PostgreSQL silent': async (proxy, ms) => {
    proxy.setNetwork('silent')
    await wait(SILENCE_MS + ms)
    proxy.setNetwork('normal')
  },
}

test(
  'a network that resets, delays, refuses or drops connections to PostgreSQL loses no acknowledged write',
  async () => {
    const url = await freshDatabase()
    const proxy = await startTcpProxy({ port: Number(new URL(url).port) })
    cleanUps.push(() => proxy.close())
    const through = new URL(url)
    through.port = String(proxy.port)
    const fleet = await Fleet.start({ JETON_DATABASE_URL: through.href }, 2)
    cleanUps.push(() => fleet.end())
    const db = await openDatabase({ clock: systemClock }, { url, pool: 3, folder: '' })
    cleanUps.push(() => db.close())
    const scenarios: FaultScenario[] = []
    for (const [fault, inject] of Object.entries(FAULTS)) {
      const receiver = await newReceiver()
      const { urls, crashes } = fleet
      const scenario = await FaultScenario.start({ fault, engine: 'PostgreSQL', urls, crashes, db, receiver })
      cleanUps.push(() => scenario.end())
      scenarios.push(scenario)
      for (const _ of rounds(1)) {
        scenario.startLoad()
        await scenario.waitForWrites(50)
        await scenario.inject(() => inject(proxy, scenario.random.between(500, 1_500)))
        await scenario.waitForWrites(30)
        await scenario.verify()
      }
    }
    for (const scenario of scenarios) await scenario.verifyFinal()
    expect(fleet.crashes).toEqual([])
  },
  TEST_TIMEOUT_MS * Object.keys(FAULTS).length,
)

test(
  'clients that retry after a reset during a response change nothing twice',
  async () => {
    const url = await freshDatabase()
    const fleet = await Fleet.start({ JETON_DATABASE_URL: url }, 1)
    cleanUps.push(() => fleet.end())
    const proxy = await startTcpProxy({ port: Number(new URL(fleet.urls()[0]!).port) })
    cleanUps.push(() => proxy.close())
    const db = await openDatabase({ clock: systemClock }, { url, pool: 3, folder: '' })
    cleanUps.push(() => db.close())
    const urls = () => [`http://127.0.0.1:${proxy.port}`]
    const { crashes } = fleet
    const options = { fault: 'connections of clients cut', engine: 'PostgreSQL', urls, crashes, db }
    const scenario = await FaultScenario.start({ ...options, receiver: await newReceiver() })
    cleanUps.push(() => scenario.end())
    for (const _ of rounds(2)) {
      scenario.startLoad()
      await scenario.waitForWrites(30)
      await scenario.inject(async () => {
        for (let i = 0; i < 20; i++) {
          proxy.cutWithin(scenario.random.between(0, 900))
          if (scenario.random.chance(0.2)) proxy.cut()
          await wait(scenario.random.between(5, 30))
        }
      })
      await scenario.verify()
    }
    await scenario.verifyFinal()
    expect(fleet.crashes).toEqual([])
  },
  TEST_TIMEOUT_MS,
)
