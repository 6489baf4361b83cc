import { beforeEach, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { genericPlans, heardStatements, isSetting } from '../../../test/heard-statements.ts'
import { redemptionData } from '../../../test/reported-redemption.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { systemClock } from '../../platform/clock.ts'
import {
  type Database,
  migrate,
  type PostgresDatabase,
  type Transaction,
} from '../../platform/database/index.ts'
import { createVault } from '../../platform/encryption.ts'
import { createEgressPolicy } from '../../platform/outbound/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { type EventTables, writeEvent } from '../events/index.ts'
import { createProjectIn } from '../projects/index.ts'
import { createDestination } from '../webhooks/create-destination.ts'
import { deleteDestination } from '../webhooks/destination-changes.ts'
import type { DestinationTables } from '../webhooks/index.ts'
import type { DeliveryTables } from './delivery.ts'
import { LEASE_MS } from './exchange.ts'
import { exchange } from './exchange-batch.ts'
import { fanOut } from './fan-out.ts'
import { DELIVERIES_AT_ONCE, type Outlet } from './fan-out-batch.ts'
import { payloadBytes } from './payload.ts'
import { takeEvents } from './take-events.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const random = randomBytes

eachEngine((engine) => {
  let db: Database
  const deps = () => ({
    ...{ db, random, vault: createVault(Buffer.alloc(32, 1), random), egressPolicy: createEgressPolicy([]) },
  })

  beforeEach(async () => {
    db = await engine.open({ clock: systemClock })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
  })

  const newProject = async (name: string): Promise<string> =>
    (await db.transaction((tx) => createProjectIn({ random }, tx, { name, actor: ACTOR }))).id
  const subscribe = async (projectId: string): Promise<string> => {
    const fields = { target_url: 'https://hooks.example/in' }
    return (await createDestination(deps(), { projectId, kind: 'webhook', fields, actor: ACTOR })).row.id
  }
  const happen = (projectId: string, times = 1, data: object = redemptionData(), entityId = 'cust_7') =>
    db.transaction(async (tx) => {
      const source = { channel: 'API', apiKey: { name: 'pos', app_id: 'a' } } as const
      const about = { projectId, kind: KIND, entityId, campaignId: null, groupId: 'v-1' } as const
      for (let i = 0; i < times; i++) await writeEvent({ random }, tx, { ...about, source, data })
    })
  const take = (claimId: string, { most = 100 } = {}) => takeEvents(db, { claimId, from: 0, most })
  const waiting = () =>
    db.read<EventTables>().selectFrom('waiting_events').selectAll().orderBy('event_id').execute()
  const events = () => db.read<EventTables>().selectFrom('events').selectAll().orderBy('id').execute()
  const deliveries = () => db.read<DeliveryTables>().selectFrom('deliveries').selectAll().execute()
  const bytesOf = (data: unknown) => payloadBytes({ head: '', tail: '}' }, data as string).toString()

  /** Something happens each time between the taking and the writing of what is not sent at once. */
  function writingAfter(happens: () => Promise<void>): Database {
    if (db.engine === 'postgres') {
      const { transaction } = db
      return { ...db, transaction: (work, options) => happens().then(() => transaction(work, options)) }
    }
    const { runProgram } = db
    return {
      ...db,
      async runProgram(module, input) {
        if (module.href.includes('/fan-out')) await happens()
        return runProgram(module, input)
      },
    }
  }

  test('what is taken is held, oldest first, whole, and nobody else gets it', async () => {
    const club = await newProject('Club')
    // Names are anybody's: what parts the values of a batch elsewhere may be in them.
    await happen(club, 3, redemptionData(), 'a\x1fb\x1d"c\\\n💶')
    const taken = await take('one', { most: 2 })
    const stored = await events()
    expect(taken.events.map(({ data, ...head }) => ({ ...head, data: bytesOf(data) }))).toEqual(
      stored.slice(0, 2),
    )
    expect((await waiting()).map(({ claim_id, free_at }) => [claim_id, free_at])).toEqual([
      ['one', taken.now + LEASE_MS],
      ['one', taken.now + LEASE_MS],
      [null, stored[2]!.created_at],
    ])
    expect((await take('other')).events.map(({ id }) => id)).toEqual([stored[2]!.id])
    expect(await take('third')).toMatchObject({ events: [], destinations: [], behind: [] })
  })

  test('many take at the same time, and each event is taken once', async () => {
    const club = await newProject('Club')
    await happen(club, 60)
    const taken = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => take(id, { most: 15 })))
    const ids = taken.flatMap(({ events }) => events.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
    // On PostgreSQL those that another is just taking are left out.
    while (ids.length < 60) {
      const { events } = await take('last')
      expect(events.length).toBeGreaterThan(0)
      ids.push(...events.map(({ id }) => id))
    }
    expect(new Set(ids).size).toBe(60)
  })

  test('with the events come the destinations of their projects that are there, and those of them that are behind', async () => {
    const [club, other, third] = [await newProject('A'), await newProject('B'), await newProject('C')]
    const [well, gone] = [await subscribe(club), await subscribe(club)]
    await deleteDestination(deps(), { projectId: club, kind: 'webhook', id: gone, actor: ACTOR })
    const late = await subscribe(other)
    await subscribe(third)
    await happen(other)
    await fanOut({ db, random, clock: systemClock })
    await happen(club)
    await happen(other)
    const taken = await take('one')
    const rows = await db.read<DestinationTables>().selectFrom('destinations').selectAll().execute()
    expect(taken.destinations).toHaveLength(2)
    for (const { destination, skips } of taken.destinations) {
      expect([well, late]).toContain(destination.id)
      const row = rows.find(({ id }) => id === destination.id)
      expect(row).toMatchObject({ ...destination, skips })
    }
    expect(taken.behind).toEqual([late])
  })

  test('what is long is not read yet, and what is longer than one batch may have waits on', async () => {
    const club = await newProject('Club')
    await happen(club, 1, { ...redemptionData(), note: 'x'.repeat(70_000) })
    expect((await take('one')).events).toMatchObject([{ data: null }])
    for (let i = 0; i < 3; i++) await subscribe(club)
    const each = Math.ceil(DELIVERIES_AT_ONCE / 3)
    await happen(club, each + 5)
    expect(await fanOut({ db, random, clock: systemClock })).toMatchObject({ events: each, left: 3 * each })
    const left = (await waiting()).filter(({ claim_id }) => claim_id === null)
    expect(left).toHaveLength(5)
    for (const { free_at, created_at } of left) expect(free_at).toBe(created_at)
  })

  /** It has room for so many, and tells what is begun. */
  function outletFor(room: number) {
    const [kept, begun] = [new Set<string>(), [] as string[]]
    const outlet: Outlet = {
      keep(sending) {
        if (kept.size >= room) return undefined
        kept.add(sending.delivery.id)
        return { sending, place: 'in flight' }
      },
      isQuick: () => false,
      letGo(some) {
        for (const { sending } of some) kept.delete(sending.delivery.id)
      },
      beginKept: (some) => begun.push(...some.map(({ sending }) => sending.delivery.id)),
    }
    return { outlet, begun, places: () => kept.size }
  }

  test('what another has taken meanwhile is neither written nor sent', async () => {
    const club = await newProject('Club')
    await subscribe(club)
    await happen(club, 4)
    // Two are sent first, two are to be written. By then the leases have ended, and another has them.
    const { outlet, begun, places } = outletFor(2)
    const steal = async () => {
      await db.transaction((tx) =>
        tx.write<EventTables>().updateTable('waiting_events').set({ claim_id: 'another' }).execute(),
      )
    }
    await fanOut({ db: writingAfter(steal), random, clock: systemClock, outlet })
    expect(await deliveries()).toEqual([])
    expect((await waiting()).map(({ claim_id }) => claim_id)).toEqual(Array(4).fill('another'))
    expect([begun, places()]).toEqual([[], 0])
  })

  test('what cannot be written waits on, nobody holds it, and nothing of it is sent', async () => {
    const club = await newProject('Club')
    await subscribe(club)
    await happen(club, 4)
    const failing = new Error('no')
    let failures = 1
    const broken = writingAfter(async () => {
      if (failures-- > 0) throw failing
    })
    const { outlet, begun, places } = outletFor(2)
    await expect(fanOut({ db: broken, random, clock: systemClock, outlet })).rejects.toBe(failing)
    expect(
      (await waiting()).map(({ claim_id, free_at, created_at }) => [claim_id, free_at - created_at]),
    ).toEqual(Array(4).fill([null, 0]))
    expect([begun, places(), await deliveries()]).toEqual([[], 0, []])
    expect(await fanOut({ db, random, clock: systemClock, outlet })).toMatchObject({
      events: 4,
      kept: 2,
      left: 2,
    })
    expect(begun).toHaveLength(2)
    expect(await waiting()).toHaveLength(2)
  })

  test('who does not hear that it has taken something does not hold it', async () => {
    const club = await newProject('Club')
    await happen(club, 2)
    const lost = new Error('no answer')
    const deaf = <T>(run: (...parameters: never[]) => Promise<T>) =>
      (async (...parameters: never[]) => {
        await run(...parameters)
        throw lost
      }) as never
    const silent: Database =
      db.engine === 'sqlite' ? { ...db, runProgram: deaf(db.runProgram) } : { ...db, runSql: deaf(db.runSql) }
    await expect(fanOut({ db: silent, random, clock: systemClock })).rejects.toBe(lost)
    expect((await waiting()).map(({ claim_id }) => claim_id)).toEqual([null, null])
  })

  test('what waits and is gone holds nobody up', async () => {
    const club = await newProject('Club')
    await happen(club, 4)
    await db.transaction((tx) => tx.write<EventTables>().deleteFrom('events').execute())
    await happen(club)
    expect((await take('one', { most: 4 })).events).toEqual([])
    expect((await take('one', { most: 4 })).events).toHaveLength(1)
  })

  test('each tells what is its own, however many there are, and whatever is long or gone among them', async () => {
    const club = await newProject('Club')
    for (let i = 0; i < 150; i++)
      await happen(
        club,
        1,
        { note: `${i} 💶`, ...(i % 7 === 0 && { long: 'x'.repeat(70_000) }) },
        `cust_${i}`,
      )
    const gone = ['cust_1', 'cust_63', 'cust_64', 'cust_149']
    const remove = (tx: Transaction) =>
      tx.write<EventTables>().deleteFrom('events').where('entity_id', 'in', gone).execute()
    await db.transaction(remove)
    const all = await events()
    const held = [all[20]!.id, all[62]!.id, all[100]!.id]
    const hold = (tx: Transaction) =>
      tx
        .write<EventTables>()
        .updateTable('waiting_events')
        .set({ claim_id: 'other', free_at: Date.now() + LEASE_MS })
        .where('event_id', 'in', held)
        .execute()
    await db.transaction(hold)
    const taken = await take('one', { most: 200 })
    const stored = all.filter(({ id }) => !held.includes(id))
    expect(taken.events.map(({ data, ...head }) => ({ ...head, data: data && bytesOf(data) }))).toEqual(
      stored.map(({ data, ...head }) => ({ ...head, data: data.length > 70_000 ? null : data })),
    )
    expect(stored).toHaveLength(143)
    for (const { event_id, claim_id } of await waiting())
      expect(claim_id).toBe(held.includes(event_id) ? 'other' : 'one')
  })

  if (engine.name === 'SQLite')
    test('no more is read at a time than the one writer can wait for', async () => {
      const club = await newProject('Club')
      await happen(club, 150, { note: 'x'.repeat(64_000) })
      const sizes: number[] = []
      for (let i = 0; i < 2; i++) sizes.push((await take(`claim ${i}`, { most: 200 })).events.length)
      expect(sizes).toEqual([96, 54])
    })

  if (engine.name === 'SQLite')
    test('of many projects with many destinations only some are read at a time: the one writer waits', async () => {
      const projects = [await newProject('A'), await newProject('B'), await newProject('C')]
      const first = await subscribe(projects[0]!)
      const some = Array.from({ length: 600 }, (_, i) => i)
      const row = await db
        .read<DestinationTables>()
        .selectFrom('destinations')
        .selectAll()
        .where('id', '=', first)
        .executeTakeFirstOrThrow()
      await db.transaction(async (tx) => {
        for (const project_id of projects)
          for (const i of some)
            await tx
              .write<DestinationTables>()
              .insertInto('destinations')
              .values({ ...row, project_id, id: `${project_id}/${i}` })
              .execute()
      })
      for (const id of projects) {
        await happen(id, 2)
        // Of one millisecond they would be taken by their projects' ids.
        await systemClock.sleep(5)
      }
      const sizes: number[] = []
      for (let i = 0; i < 3; i++) sizes.push((await take(`claim ${i}`)).destinations.length)
      expect(sizes).toEqual([601, 600, 600])
      expect((await take('last')).events).toEqual([])
    })

  // Statements that run all day keep the plan of the first morning, when all tables were empty.
  if (engine.name === 'PostgreSQL')
    test('events and destinations are looked up by their primary key, also as planned while there are none, and when there are many', async () => {
      const postgres = db as PostgresDatabase
      const { db: heard, texts } = heardStatements(postgres)
      await takeEvents(heard, { claimId: 'c', from: 0, most: 1 })
      const claim = { id: 'c', most: 1, share: 1, rooms: [], after: { project_id: '', id: '' } }
      const nothing = { firsts: [], settlements: [], givenBack: [], failing: [], recovered: [] }
      await exchange(heard, { ...nothing, now: 0, claim })
      const statements = [...texts].filter((text) => isSetting(text) || text.trim().startsWith('with'))
      const club = await newProject('Club')
      const fill = `insert into events (project_id, id, kind, version, entity_id, channel, data, occurred_at, created_at)
        select '${club}', 'e' || i, '${KIND}', 'v1', 'cust_' || i % 9, 'API', repeat('x', 999), i, i from generate_series(1, 5000) i`
      for (const change of ['', fill, 'analyze events']) {
        if (change) await postgres.runSql((connection) => connection.send(change))
        const plans = await genericPlans(postgres, statements)
        const found = plans.flatMap((step, i) =>
          / on (events|destinations)\b/.test(step) ? [[step, plans[i + 1] ?? ''] as const] : [],
        )
        // Of a project's destinations all are wanted: any index does.
        const lookups = found.filter(([, condition]) => /\bid\b/.test(condition))
        expect(lookups).toHaveLength(5)
        for (const [step, condition] of lookups) {
          expect(step).toMatch(/using (events|destinations)_pk on/)
          expect(condition).toMatch(
            /^Index Cond: \(\(project_id = .+\) AND (\(id >= (.+)\) AND \(id <= \2\)|\(id = ANY .+\))\)$/,
          )
        }
        expect(lookups.filter(([, condition]) => condition.includes('ANY'))).toHaveLength(1)
      }
    })
})
