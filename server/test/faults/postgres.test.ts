import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { type Database, openDatabase } from '../../src/platform/database/index.ts'
import { type PostgresPair, startPostgresPair } from '../postgres-pair.ts'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { startReceiver } from '../receiver.ts'
import { FaultScenario } from './fault-scenario.ts'
import { Fleet } from './fleet.ts'
import { LONG, rounds, TEST_TIMEOUT_MS } from './run-settings.ts'

const PROCESSES = 2

describe('an outage', () => {
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

  async function startScenario(fault: string, fleet: Fleet, url: string): Promise<FaultScenario> {
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    const { urls, crashes } = fleet
    const db = await open(url)
    const scenario = await FaultScenario.start({ fault, engine: 'PostgreSQL', urls, crashes, db, receiver })
    cleanUps.push(() => scenario.end())
    return scenario
  }

  test(
    'PostgreSQL that is stopped, killed or restarted under load has every acknowledged write afterwards',
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
      const scenarios: FaultScenario[] = []
      for (const [fault, inject] of Object.entries(faults)) {
        const scenario = await startScenario(fault, fleet, server.url())
        scenarios.push(scenario)
        for (const _ of rounds(1)) {
          scenario.startLoad()
          await scenario.waitForWrites(scenario.random.between(50, 200))
          await scenario.inject(() => inject(scenario.random.between(0, 2_000)))
          await scenario.waitForWrites(30)
          await scenario.verify()
        }
      }
      for (const scenario of scenarios) await scenario.verifyFinal()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS * 3,
  )

  test(
    'a failover to the synchronous standby under load loses no acknowledged write',
    async () => {
      const pair: PostgresPair = await startPostgresPair()
      cleanUps.push(() => pair.remove())
      const fleet = await serve(pair.url())
      const scenario = await startScenario('failover to the standby', fleet, pair.url())
      for (const round of rounds(2)) {
        scenario.startLoad()
        await scenario.waitForWrites(scenario.random.between(50, 300))
        await scenario.inject(() => pair.failOver())
        await scenario.waitForWrites(30)
        await scenario.verify()
        if (LONG || round === 0) await pair.heal()
      }
      await scenario.verifyFinal()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )

  test(
    'PostgreSQL without its synchronous standby acknowledges no write, and continues when the standby returns',
    async () => {
      const pair = await startPostgresPair()
      cleanUps.push(() => pair.remove())
      const fleet = await serve(pair.url())
      const scenario = await startScenario('standby down', fleet, pair.url())
      for (const _ of rounds(1)) {
        scenario.startLoad()
        await scenario.waitForWrites(50)
        await pair.standby().stop()
        // Requests that wait for the standby fail with an unknown outcome. Responses to earlier commits may still arrive.
        await scenario.waitForSilence()
        const before = scenario.load.ledger.acknowledged()
        await wait(8_000)
        expect(scenario.load.ledger.acknowledged()).toEqual(before)
        await scenario.inject(() => pair.standby().start())
        await scenario.waitForWrites(30)
        await scenario.verify()
      }
      // The standby has every acknowledged write if the primary dies afterwards.
      scenario.startLoad()
      await scenario.waitForWrites(30)
      await scenario.inject(() => pair.failOver())
      await scenario.verify()
      await scenario.verifyFinal()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )
})
