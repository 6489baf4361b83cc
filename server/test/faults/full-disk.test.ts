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
import { Drama } from './drama.ts'
import { Fleet, SENDING } from './fleet.ts'
import { rounds, TEST_TIMEOUT_MS } from './form.ts'

/** SQLite's own largest number: as good as no limit. */
const NO_LIMIT = 1_073_741_823
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0
const MB = 1024 * 1024

describe('SQLite on a disk that is full', () => {
  const cleanUps: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  function folder(): string {
    const home = makeHome()
    cleanUps.push(home.remove)
    return home.folder
  }

  async function begin(fault: string, urls: () => readonly string[], dataFolder: string): Promise<Drama> {
    const db = await openDatabase({ clock: systemClock }, { url: undefined, pool: 1, folder: dataFolder })
    cleanUps.push(() => db.close())
    const receiver = await startReceiver()
    cleanUps.push(() => receiver.close())
    const drama = await Drama.begin({ fault, engine: 'SQLite', urls, db, receiver })
    cleanUps.push(() => drama.end())
    return drama
  }

  /** How often the service has said that it is not available. */
  const refusals = (drama: Drama) => drama.load.ledger.statuses[503] ?? 0

  async function untilRefused(drama: Drama, more: number): Promise<void> {
    const wanted = refusals(drama) + more
    for (const end = Date.now() + 60_000; refusals(drama) < wanted; await wait(10))
      if (Date.now() > end) throw new Error('the disk did not fill up')
  }

  /** A limit belongs to a connection; transactions run on the one that writes. */
  const limitPages = (db: Database, pages: number) =>
    db.transaction((tx) => sql.raw(`pragma max_page_count = ${pages}`).execute(tx.write<never>() as never))

  test(
    'whose file may not grow (max_page_count) refuses writes as unavailable, goes on reading, and works again once there is room',
    async () => {
      const data = folder()
      const service = await startService({ JETON_DATA_DIR: data, ...SENDING }, { clock: systemClock })
      cleanUps.push(() => service.stop())
      const drama = await begin('disk full (max_page_count)', () => [service.url], data)
      const { db } = service.service
      for (const _ of rounds(2)) {
        drama.startLoad()
        await drama.acknowledge(60)
        await drama.strike(async () => {
          // SQLite takes no limit below the present size: it stays at that, and there is no free page left.
          await limitPages(db, 1)
          await untilRefused(drama, 30)
          const token = drama.load.ledger.tokens.at(-1)!.token
          expect((await drama.load.introspect(token)).status).toBe(200)
          await limitPages(db, NO_LIMIT)
        })
        await drama.acknowledge(30)
        await drama.reckon()
      }
      await drama.conclude()
    },
    TEST_TIMEOUT_MS,
  )

  test.skipIf(!hasPrlimit)(
    'whose files may not grow (ulimit -f) loses nothing, and works again once they may',
    async () => {
      const data = folder()
      const fleet = await Fleet.start({ JETON_DATA_DIR: data }, 1)
      cleanUps.push(() => fleet.end())
      const drama = await begin('disk full (ulimit -f)', fleet.urls, data)
      for (const _ of rounds(2)) {
        drama.startLoad()
        await drama.acknowledge(60)
        await drama.strike(async () => {
          fleet.limitFiles(0, drama.random.between(0, statSync(join(data, 'jeton.db-wal')).size))
          await untilRefused(drama, 30)
          fleet.limitFiles(0, 'unlimited')
        })
        await drama.acknowledge(30)
        await drama.reckon()
      }
      await drama.conclude()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )

  test.skipIf(!hasPrlimit)(
    'with room in the file but none in the log begins the log anew, and goes on without a hand',
    async () => {
      const data = folder()
      const fleet = await Fleet.start({ JETON_DATA_DIR: data }, 1)
      cleanUps.push(() => fleet.end())
      const drama = await begin('log without room (ulimit -f)', fleet.urls, data)
      // Once, in both forms: with more data the log would hold more new pages than the file has room for, which is a disk
      // that is full and no longer a log without room.
      fleet.limitFiles(0, 3 * MB)
      drama.startLoad()
      await drama.strike(() => untilRefused(drama, 1))
      // Not only a write that needed no room: the log is used again from its beginning.
      await drama.acknowledge(200)
      await drama.reckon()
      await drama.conclude()
      expect(fleet.crashes).toEqual([])
    },
    TEST_TIMEOUT_MS,
  )
})
