import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { type Database, openDatabase } from '../../src/platform/database/index.ts'
import { makeHome } from '../binary.ts'
import { startReceiver } from '../receiver.ts'
import { startService } from '../service.ts'
import { FaultScenario } from './fault-scenario.ts'
import { Fleet, SENDING } from './fleet.ts'
import { rounds, TEST_TIMEOUT_MS } from './run-settings.ts'

/** The largest value that SQLite accepts, which is as good as no limit. */
const NO_LIMIT = 1_073_741_823
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0
const MB = 1024 * 1024

describe('a full disk', () => {
  const cleanUps: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  function folder(): string {
    const home = makeHome()
    cleanUps.push(home.remove)
    return home.folder
  }

  async function startScenario(
    fault: string,
    urls: () => readonly string[],
    dataFolder: string,
  ): Promise<FaultScenario> {
    const db = await openDatabase({ clock: systemClock }, { url: undefined, pool: 1, folder: dataFolder })
    cleanUps.push(() => db.close())
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    const scenario = await FaultScenario.start({ fault, engine: 'SQLite', urls, db, receiver })
    cleanUps.push(() => scenario.end())
    return scenario
  }

  /** Number of 503 responses so far. */
  const refusals = (scenario: FaultScenario) => scenario.load.ledger.statuses[503] ?? 0

  async function untilRefused(scenario: FaultScenario, more: number): Promise<void> {
    const wanted = refusals(scenario) + more
    for (const end = Date.now() + 60_000; refusals(scenario) < wanted; await wait(10))
      if (Date.now() > end) throw new Error('the disk did not fill up')
  }

  /** Sets the limit on the connection that writes, since it applies to one connection. */
  const limitPages = (db: Database, pages: number) =>
    db.transaction((tx) => sql.raw(`pragma max_page_count = ${pages}`).execute(tx.write<never>() as never))

  test(
    'SQLite whose file cannot grow (max_page_count) refuses writes with 503, continues to read, and recovers with more space',
    async () => {
      const data = folder()
      const service = await startService({ JETON_DATA_DIR: data, ...SENDING }, { clock: systemClock })
      cleanUps.push(() => service.stop())
      const scenario = await startScenario('disk full (max_page_count)', () => [service.url], data)
      const { db } = service.service
      for (const _ of rounds(2)) {
        scenario.startLoad()
        await scenario.waitForWrites(60)
        await scenario.inject(async () => {
          // SQLite raises a limit below the current size to that size, so that no free page is left.
          await limitPages(db, 1)
          await untilRefused(scenario, 30)
          const token = scenario.load.ledger.tokens.at(-1)!.token
          expect((await scenario.load.introspect(token)).status).toBe(200)
          await limitPages(db, NO_LIMIT)
        })
        await scenario.waitForWrites(30)
        await scenario.verify()
      }
      await scenario.verifyFinal()
    },
    TEST_TIMEOUT_MS,
  )

  test.skipIf(!hasPrlimit)(
    'SQLite whose files cannot grow (ulimit -f) loses no acknowledged write, and recovers with more space',
    async () => {
      const data = folder()
      const fleet = await Fleet.start({ JETON_DATA_DIR: data }, 1)
      cleanUps.push(() => fleet.end())
      const scenario = await startScenario('disk full (ulimit -f)', fleet.urls, data)
      for (const _ of rounds(2)) {
        scenario.startLoad()
        await scenario.waitForWrites(60)
        await scenario.inject(async () => {
          fleet.limitFiles(0, scenario.random.between(0, statSync(join(data, 'jeton.db-wal')).size))
          await untilRefused(scenario, 30)
          fleet.limitFiles(0, 'unlimited')
        })
        await scenario.waitForWrites(30)
        await scenario.verify()
      }
      await scenario.verifyFinal()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )

  test.skipIf(!hasPrlimit)(
    'SQLite whose log cannot grow, while its file can, restarts the log and recovers by itself',
    async () => {
      const data = folder()
      const fleet = await Fleet.start({ JETON_DATA_DIR: data }, 1)
      cleanUps.push(() => fleet.end())
      const scenario = await startScenario('log cannot grow (ulimit -f)', fleet.urls, data)
      // One round in both forms: with more data, the pages in the log would no longer fit into the file.
      fleet.limitFiles(0, 3 * MB)
      scenario.startLoad()
      await scenario.inject(() => untilRefused(scenario, 1))
      // Enough writes to need space: the log is used again from its start.
      await scenario.waitForWrites(200)
      await scenario.verify()
      await scenario.verifyFinal()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )
})
