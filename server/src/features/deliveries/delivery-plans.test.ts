import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Explained, openExplained } from '../../../test/explained.ts'
import type { Transaction } from '../../platform/database/index.ts'
import { pageOf } from '../../platform/http/index.ts'
import { listOldEvents, listProjectsWithEventsBefore } from '../events/index.ts'
import { listPublicationRows } from '../publications/publication.store.ts'
import type { DeliveryStatus } from './delivery.ts'
import type { DeliveryHead } from './delivery-list.store.ts'
import { findContexts, listRecoverable } from './delivery-record.store.ts'
import { listDeliveries } from './list-deliveries.ts'
import {
  deleteEventsAlone,
  deleteSomeDeliveries,
  deleteSomeOfProject,
  listRemovable,
  TABLES,
} from './removal.store.ts'

let explained: Explained
let reader: Explained['reader']
let tx: Transaction
const planOf: Explained['planOf'] = (work) => explained.planOf(work)

beforeAll(async () => {
  explained = await openExplained()
  ;({ reader, tx } = explained)
  const { database } = explained
  const destination = database.prepare(
    `insert into destinations (project_id, id, kind, headers, target_url, events, active, secret, secret_last4,
      created_at, updated_at, deleted_at) values ('p', ?, 'webhook', '{}', '', '[]', ?, '', '', 1, 1, ?)`,
  )
  const delivery = database.prepare(
    `insert into deliveries (project_id, id, event_id, destination_id, status, head, tail, attempts_made, slot,
      created_at, last_status, last_error) values ('p', ?, 'e', ?, ?, '', '', ?, 0, 1, ?, ?)`,
  )
  const states: [number, number | null][] = [
    [1, null],
    [0, null],
    [1, 5],
  ]
  for (let i = 0; i < 330; i++) {
    destination.run(`d${i}`, ...states[i % 3]!)
    for (const status of ['pending', 'delivered', 'exhausted'])
      delivery.run(`${status}${i}`, `d${i}`, status, 0, null, null)
    delivery.run(`failing${i}`, `d${i}`, 'pending', 1, 503, 'answered 503')
  }
})
afterAll(() => explained.database.close())

const ofTable = (plan: readonly string[], table: RegExp) => plan.filter((step) => table.test(step))
const DELIVERIES = /^\w+ (deliveries|x)\b/
const EVENTS = /^\w+ events\b/

const CURSOR = '5.whs_1'
const PAGES = [
  {},
  { limit: 2, page: 3 },
  { cursor: CURSOR },
  { from: '2026-01-01', to: '2026-02-01', cursor: CURSOR },
]

describe('query plans of delivery lists', () => {
  test.each(PAGES)('a list of all deliveries is read by time (%j)', async (page) => {
    const plan = await planOf(() => listDeliveries(reader, { projectId: 'p' }, pageOf(page)))
    // The total is counted up to 10,000, in any index of the project.
    const [found] = ofTable(plan, DELIVERIES).filter((step) => !step.includes('COVERING'))
    expect(found).toContain('INDEX deliveries_newest (project_id=?')
    if ('cursor' in page) expect(found).toContain('(created_at,id)<(?,?)')
    for (const step of ofTable(plan, DELIVERIES)) expect(step).toContain('(project_id=?')
  })

  const statuses: DeliveryStatus[] = ['pending', 'delivered', 'held', 'exhausted', 'cancelled']
  const narrowed = [
    ...statuses.map((status) => ({ statuses: [status] })),
    { statuses: ['held', 'exhausted'] as const },
    { destination: 'd1' },
    { destination: 'd1', statuses: ['held'] as const },
  ]
  test.each(narrowed)('a list filtered by %j is read by destination', async (filter) => {
    for (const page of PAGES) {
      const plan = await planOf(() => listDeliveries(reader, { projectId: 'p', ...filter }, pageOf(page)))
      const steps = ofTable(plan, DELIVERIES)
      expect(steps.length).toBeGreaterThan(0)
      for (const step of steps)
        expect(step).toMatch(
          /INDEX (deliveries_listed \(project_id=\? AND status=\?|sqlite_autoindex_deliveries_1 \(project_id=\? AND id=\?\))/,
        )
      expect(steps.join()).toContain('AND destination_id=?')
      if ('cursor' in page) expect(steps.join()).toContain('AND (created_at,id)<(?,?)')
    }
  })

  test('the deliveries of an event are read by event', async () => {
    const plan = await planOf(() => listDeliveries(reader, { projectId: 'p', event: 'e' }, pageOf({})))
    expect(ofTable(plan, DELIVERIES)).toEqual([
      'SEARCH deliveries USING INDEX deliveries_of_event (project_id=? AND event_id=?)',
    ])
  })

  test('a list over more destinations than rows reads only the index', async () => {
    for (const page of PAGES) {
      const plan = await planOf(() =>
        listDeliveries(reader, { projectId: 'p', statuses: ['delivered'] }, pageOf(page)),
      )
      for (const step of ofTable(plan, /deliveries_listed/)) expect(step).toContain('COVERING')
    }
  })

  test.each([undefined, 'c'])(
    'a page of publications (customer %s) reads no rows of earlier pages',
    async (customer) => {
      const index = customer ? 'publications_of_customer' : 'publications_newest'
      const page = pageOf({ limit: 2, page: 3 })
      const plan = await planOf(() => listPublicationRows(reader, 'p', { page, customer }))
      expect(plan.join()).toContain(`COVERING INDEX ${index} (project_id=?`)
      const [rows, ...others] = plan.filter((step) => !step.includes('COVERING'))
      expect(rows).toContain('(project_id=? AND id=?)')
      expect(others).toEqual([])
    },
  )

  test.each([{}, { destination: 'd0' }])(
    'a list of failing deliveries, filtered by %j, reads only the index of attempted ones',
    async (filter) => {
      for (const page of PAGES) {
        const asked = { projectId: 'p', state: 'failing', ...filter } as const
        const plan = await planOf(() => listDeliveries(reader, asked, pageOf(page)))
        const steps = ofTable(plan, DELIVERIES)
        const selected = steps.filter((step) => !step.includes('sqlite_autoindex_deliveries_1'))
        expect(selected.length).toBeGreaterThan(0)
        for (const step of selected)
          expect(step).toMatch(/COVERING INDEX deliveries_failing \(project_id=\? AND status=\?/)
        expect(selected.join()).toContain('AND destination_id=?')
        if ('cursor' in page) expect(selected.join()).toContain('AND (created_at,id)<(?,?)')
      }
    },
  )

  const answer = 'deliveries_by_answer (project_id=? AND status=? AND destination_id=? AND last_status=?'
  const error = 'deliveries_by_error (project_id=? AND status=? AND destination_id=?'
  test.each([
    [{ httpStatus: 503 }, answer],
    [{ httpStatus: 503, destination: 'd1' }, answer],
    [{ httpStatus: 503, error: 'answered' }, answer],
    [{ httpStatus: 503, state: 'failing' as const }, answer],
    [{ error: 'refused' }, error],
    [{ error: 'refused', statuses: ['exhausted'] as const }, error],
    [{ error: 'refused', destination: 'd0', state: 'failing' as const }, error],
  ])('a list filtered by %j reads an index that holds failures only', async (filter, index) => {
    for (const page of PAGES) {
      const plan = await planOf(() => listDeliveries(reader, { projectId: 'p', ...filter }, pageOf(page)))
      const steps = ofTable(plan, DELIVERIES)
      // The destinations with deliveries in a state are found by one seek each; rows that are shown by their key.
      const seeks =
        /COVERING INDEX deliveries_(listed|failing|due) \(project_id=\?( AND status=\?)?( AND destination_id>\?)?\)|autoindex_deliveries_1 \(project_id=\? AND id=\?\)/
      const selected = steps.filter((step) => !seeks.test(step))
      expect(selected.length).toBeGreaterThan(0)
      for (const step of selected) expect(step).toContain(`INDEX ${index}`)
      if ('cursor' in page) expect(selected.join()).toContain('AND (created_at,id)<(?,?)')
    }
  })

  test('a search by error reads at most 20,000 failures, and says how to narrow it', async () => {
    explained.database.exec(`
      insert into destinations (project_id, id, kind, headers, target_url, events, active, secret, secret_last4,
        created_at, updated_at) values ('q', 'd', 'webhook', '{}', '', '[]', 1, '', '', 1, 1);
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
      insert into deliveries (project_id, id, event_id, destination_id, status, head, tail, attempts_made, slot,
        created_at, last_status, last_error)
      select 'q', 'w' || i, 'e', 'd', 'pending', '', '', 1, 0, i, 503, 'answered 503' from n`)
    const search = (filter: object, page: object) =>
      listDeliveries(reader, { projectId: 'q', error: 'answered', ...filter }, pageOf(page))
    await expect(search({}, {})).rejects.toThrow('20000 or more deliveries failed in this period')
    await expect(search({ destination: 'd' }, {})).rejects.toThrow('too many to search')
    expect((await search({ httpStatus: 404 }, {})).total).toBe(0)
    expect((await search({}, { from: '1970-01-01T00:00:00.002Z' })).total).toBe(10_000)
  })

  test('a list reads the event and the last attempt of each delivery by primary key', async () => {
    const rows = ['pending1', 'failing1'].map(
      (id) => ({ id, event_id: 'e', attempts_made: 1 }) as DeliveryHead,
    )
    const plan = await planOf(() => findContexts(reader, 'p', rows))
    expect(plan.map((step) => step.replace(/USING (INDEX \w+|PRIMARY KEY)/, 'BY KEY'))).toEqual([
      'SCAN 2 CONSTANT ROWS',
      'SCAN shown',
      'SEARCH events BY KEY (project_id=? AND id=?)',
      'SEARCH attempts BY KEY (project_id=? AND delivery_id=? AND number=?)',
    ])
  })

  test.each([
    ['exhausted', 'deliveries_listed'],
    ['failing', 'deliveries_failing'],
  ] as const)('recovery of %s deliveries continues where the previous page ended', async (state, index) => {
    const after = { created_at: 1, id: 'x' }
    const run = { projectId: 'p', destinationId: 'd1', state, failure: {}, after }
    const plan = await planOf(() => listRecoverable(reader, run, 500))
    expect(ofTable(plan, DELIVERIES)).toEqual([
      `SEARCH deliveries USING INDEX ${index} (project_id=? AND status=? AND destination_id=? AND (created_at,id)>(?,?))`,
    ])
    for (const step of ofTable(plan, /attempts/)) expect(step).toContain('delivery_id=? AND number=?')
  })
})

describe('query plans of retention', () => {
  const stretch = { projectId: 'p', eventIds: ['e', 'f'], before: 0 }

  test('retention reads events by time, from where the last run ended', async () => {
    const after = { created_at: 1, id: 'x' }
    const plan = await planOf(() => listOldEvents(reader, { projectId: 'p', before: 5, after }, 200))
    expect(plan).toEqual([
      'SEARCH events USING COVERING INDEX events_newest (project_id=? AND (created_at,id)>(?,?) AND created_at<?)',
      'SEARCH o USING PRIMARY KEY (created_at=? AND project_id=? AND event_id=?)',
    ])
    const projects = await planOf(() => listProjectsWithEventsBefore(reader, 5))
    expect(ofTable(projects, EVENTS)).toEqual([
      'SEARCH events USING COVERING INDEX events_newest (project_id=?)',
    ])
  })

  test.each([
    ['looked at', () => listRemovable(reader, stretch)],
    ['deleted', () => deleteSomeDeliveries(tx, stretch, 500)],
    ['deleted with their event', () => deleteEventsAlone(tx, stretch)],
  ])('deliveries are %s by their event, events by their id', async (_, work) => {
    const plan = await planOf(work)
    for (const step of ofTable(plan, DELIVERIES)) expect(step).toContain('deliveries_of_event')
    for (const step of ofTable(plan, EVENTS)) expect(step).toContain('(project_id=? AND id=?)')
    expect(ofTable(plan, DELIVERIES).length).toBeGreaterThan(0)
  })

  test.each(TABLES)('%s of a deleted project are found by project', async (table) => {
    const plan = await planOf(() => deleteSomeOfProject(tx, table, { projectId: 'none', limit: 500 }))
    for (const step of plan) expect(step).toMatch(/^SEARCH .*\(project_id=\?/)
  })
})
