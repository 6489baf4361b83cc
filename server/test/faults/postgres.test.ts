import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { type Database, openDatabase } from '../../src/platform/database/index.ts'
import { type PostgresPair, startPostgresPair } from '../postgres-pair.ts'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { startReceiver } from '../receiver.ts'
import { Drama } from './drama.ts'
import { Fleet } from './fleet.ts'
import { LONG, rounds, TEST_TIMEOUT_MS } from './form.ts'

const PROCESSES = 2

describe('PostgreSQL', () => {
  const cleanUps: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  async function open(url: string): Promise<Database> {
    const db = await openDatabase({ clock: systemClock }, { url, pool: 3, folder: '' })
    cleanUps.push(() => db.close().catch(() => undefined))
    return db
  }

  async function serve(url: string): Promise<Fleet> {
    const fleet = await Fleet.start({ JETON_DATABASE_URL: url }, PROCESSES)
    cleanUps.push(() => fleet.end())
    return fleet
  }

  async function begin(fault: string, fleet: Fleet, url: string): Promise<Drama> {
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    const { urls, crashes } = fleet
    const db = await open(url)
    const drama = await Drama.begin({ fault, engine: 'PostgreSQL', urls, crashes, db, receiver })
    cleanUps.push(() => drama.end())
    return drama
  }

  test(
    'that is stopped, killed or restarted under load comes back with everything that was acknowledged',
    async () => {
      const server = await startPostgres()
      cleanUps.push(() => server.remove())
      const fleet = await serve(server.url())
      const away = async (end: (server: PostgresServer) => Promise<void>, ms: number) => {
        await end(server)
        await wait(ms)
        await server.start()
      }
      const faults = {
        'PostgreSQL stopped': (ms: number) => away((it) => it.stop(), ms),
        'PostgreSQL killed': (ms: number) => away((it) => it.kill(), ms),
        'PostgreSQL restarted': () => server.restart(),
      }
      const dramas: Drama[] = []
      for (const [fault, strike] of Object.entries(faults)) {
        const drama = await begin(fault, fleet, server.url())
        dramas.push(drama)
        for (const _ of rounds(1)) {
          drama.startLoad()
          await drama.acknowledge(drama.random.between(50, 200))
          await drama.strike(() => strike(drama.random.between(0, 2_000)))
          await drama.acknowledge(30)
          await drama.reckon()
        }
      }
      for (const drama of dramas) await drama.conclude()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS * 3,
  )

  test(
    'that fails over to its synchronous standby under load loses nothing that was acknowledged',
    async () => {
      const pair: PostgresPair = await startPostgresPair()
      cleanUps.push(() => pair.remove())
      const fleet = await serve(pair.url())
      const drama = await begin('failover to the standby', fleet, pair.url())
      for (const round of rounds(2)) {
        drama.startLoad()
        await drama.acknowledge(drama.random.between(50, 300))
        await drama.strike(() => pair.failOver())
        await drama.acknowledge(30)
        await drama.reckon()
        if (LONG || round === 0) await pair.heal()
      }
      await drama.conclude()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )

  test(
    'that loses its standby acknowledges nothing that would be lost with it, and goes on at its return',
    async () => {
      const pair = await startPostgresPair()
      cleanUps.push(() => pair.remove())
      const fleet = await serve(pair.url())
      const drama = await begin('standby away', fleet, pair.url())
      for (const _ of rounds(1)) {
        drama.startLoad()
        await drama.acknowledge(50)
        await pair.standby().stop()
        // Whoever waits for the standby is told that nobody knows; nothing is acknowledged until it is back. What was
        // committed before may still be on its way to who asked.
        await drama.fallSilent()
        const before = drama.load.ledger.acknowledged()
        await wait(8_000)
        expect(drama.load.ledger.acknowledged()).toEqual(before)
        await drama.strike(() => pair.standby().start())
        await drama.acknowledge(30)
        await drama.reckon()
      }
      // And if the primary dies after all, the standby knows everything.
      drama.startLoad()
      await drama.acknowledge(30)
      await drama.strike(() => pair.failOver())
      await drama.reckon()
      await drama.conclude()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )
})
