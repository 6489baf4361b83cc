import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, inject, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { openDatabase } from '../../src/platform/database/index.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { connectSql } from '../sql.ts'
import { Drama } from './drama.ts'
import { Fleet } from './fleet.ts'
import { rounds, TEST_TIMEOUT_MS } from './form.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** Longer than the deadline of a statement: whoever waits for an answer must have given up by then. */
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
  'answers of PostgreSQL cut in the middle': async (proxy, ms) => {
    for (let i = 0; i < 10; i++) {
      proxy.cutWithin(ms % 700)
      await wait(ms / 40)
    }
    proxy.cutWithin(Number.POSITIVE_INFINITY)
  },
  'PostgreSQL slow': async (proxy, ms) => {
    proxy.weather({ kind: 'slow', ms: 60 })
    await wait(ms * 2)
    proxy.weather({ kind: 'fair' })
  },
  'PostgreSQL refuses': async (proxy, ms) => {
    proxy.weather({ kind: 'refusing' })
    proxy.cut()
    await wait(ms)
    proxy.weather({ kind: 'fair' })
  },
  'PostgreSQL silent': async (proxy, ms) => {
    proxy.weather({ kind: 'silent' })
    await wait(SILENCE_MS + ms)
    proxy.weather({ kind: 'fair' })
  },
}

test(
  'a network that cuts, slows, refuses or swallows costs answers, and nothing that was acknowledged',
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
    const dramas: Drama[] = []
    for (const [fault, strike] of Object.entries(FAULTS)) {
      const receiver = await newReceiver()
      const { urls, crashes } = fleet
      const drama = await Drama.begin({ fault, engine: 'PostgreSQL', urls, crashes, db, receiver })
      cleanUps.push(() => drama.end())
      dramas.push(drama)
      for (const _ of rounds(1)) {
        drama.startLoad()
        await drama.acknowledge(50)
        await drama.strike(() => strike(proxy, drama.random.between(500, 1_500)))
        await drama.acknowledge(30)
        await drama.reckon()
      }
    }
    for (const drama of dramas) await drama.conclude()
    expect(fleet.crashes).toEqual([])
  },
  TEST_TIMEOUT_MS * Object.keys(FAULTS).length,
)

test(
  'callers whose connections are cut in the middle of an answer ask again, and nothing happens twice',
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
    const setting = { fault: 'connections of callers cut', engine: 'PostgreSQL', urls, crashes, db }
    const drama = await Drama.begin({ ...setting, receiver: await newReceiver() })
    cleanUps.push(() => drama.end())
    for (const _ of rounds(2)) {
      drama.startLoad()
      await drama.acknowledge(30)
      await drama.strike(async () => {
        for (let i = 0; i < 20; i++) {
          proxy.cutWithin(drama.random.between(0, 900))
          if (drama.random.chance(0.2)) proxy.cut()
          await wait(drama.random.between(5, 30))
        }
      })
      await drama.reckon()
    }
    await drama.conclude()
    expect(fleet.crashes).toEqual([])
  },
  TEST_TIMEOUT_MS,
)
