import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { TestClock } from '../../../test/test-clock.ts'
import { type Database, StoreNotWritable } from '../../platform/database/index.ts'
import { Heartbeat } from './heartbeat.ts'
import type { ProcessIdentity } from './process.ts'

const identity: ProcessIdentity = { id: 'prc_1', host: 'here', pid: 1, version: '1.0.0', role: 'http' }

/** The database, whose first transactions fail. */
function failing(db: Database, errors: Error[]): Database {
  const transaction: Database['transaction'] = (...given) => {
    const error = errors.shift()
    return error ? Promise.reject(error) : db.transaction(...given)
  }
  return { ...db, transaction }
}

eachEngine((engine) => {
  const announce = async (errors: Error[]) => {
    const db = await engine.open()
    const clock = new TestClock()
    const heartbeat = new Heartbeat({ db: failing(db, errors), clock, identity })
    const done = heartbeat.announce().then(
      () => 'announced',
      (error: Error) => error.message,
    )
    for (let i = 0; i < 10; i++) await clock.advance(200)
    const result = await done
    const rows = await db.read<{ processes: { id: string } }>().selectFrom('processes').select('id').execute()
    await heartbeat.leave()
    return [result, rows.map(({ id }) => id)]
  }
  const failures = (count: number) => Array.from({ length: count }, () => new Error('connection lost'))

  test('a failed first heartbeat is repeated, so that a process that answers is listed', async () => {
    expect(await announce(failures(4))).toEqual(['announced', ['prc_1']])
  })

  test('a process that cannot be listed does not start, unless the store accepts no writes', async () => {
    expect(await announce(failures(5))).toEqual(['connection lost', []])
    expect(await announce([new StoreNotWritable('read-only', 'the store is read-only')])).toEqual([
      'announced',
      [],
    ])
  })
})
