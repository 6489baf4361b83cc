import { randomBytes } from 'node:crypto'
import { fillRecords } from '../fill-records.ts'
import { JETON_NAME, withSubject } from '../launch.ts'
import { type Asked, listsOf } from '../lists.ts'
import { Connection } from '../load/connection.ts'
import { type Headers, rawGet } from '../load/requests.ts'
import type { Records } from '../records.ts'
import type { Subject } from '../run-subject.ts'
import { shownCount, shownMs } from '../shown.ts'
import type { Engine } from '../stores.ts'
import { type Bench, median } from './load-subject.ts'

export const EVENTS = 1_000_000
export const EVENTS_QUICK = 100_000
/** The first of them is not counted: statements are prepared then, and pages come from the disk. */
const TIMES = 6

export interface ListRow {
  readonly engine: Engine
  readonly list: string
  readonly events: number
  readonly medianMs: number
  readonly slowestMs: number
}

/** Every list and filter with a million events and all that follows from them on record, asked for one at a time. */
export async function measureLists(bench: Bench, engine: Engine): Promise<ListRow[]> {
  const events = bench.quick ? EVENTS_QUICK : EVENTS
  const operator = { id: 'bench', token: randomBytes(32).toString('hex') }
  let records: Records
  const options = {
    clients: 1,
    settings: { JETON_MANAGEMENT_ID: operator.id, JETON_MANAGEMENT_TOKEN: operator.token },
    fill: async (...[store, clients]: Parameters<NonNullable<Parameters<typeof withSubject>[2]['fill']>>) => {
      records = await fillRecords(store, clients[0]!, events)
      bench.say(`lists: ${engine}: ${shownCount(events)} events on record`)
    },
  }
  return withSubject(bench.stores, JETON_NAME[engine], options, async (subject) => {
    const headers = { 'x-management-id': operator.id, 'x-management-token': operator.token }
    const rows: ListRow[] = []
    for (const asked of listsOf(records)) {
      const found = await timed(subject, asked, headers)
      rows.push({ engine, list: asked.name, events, ...found })
    }
    const slowest = rows.reduce((one, other) => (other.medianMs > one.medianMs ? other : one))
    bench.say(`lists: ${engine}: the slowest is ${slowest.list}, ${shownMs(slowest.medianMs)}`)
    return rows
  })
}

interface Times {
  readonly medianMs: number
  readonly slowestMs: number
}

async function timed({ url, credentials }: Subject, asked: Asked, operator: Headers): Promise<Times> {
  const headers = asked.as === 'operator' ? operator : credentials[0]!
  const connection = await Connection.open(url)
  async function ask(path: string): Promise<Answered> {
    const { status, body } = await connection.send(rawGet(url, { path, headers }))
    if (status !== 200) throw new Error(`${path} was refused with ${status}: ${body.slice(0, 300)}`)
    return JSON.parse(body)
  }
  try {
    const path = asked.after ? await behind(asked.path, asked.after, ask) : asked.path
    const times: number[] = []
    for (let i = 0; i < TIMES; i++) {
      const began = performance.now()
      const { length } = itemsOf(await ask(path))
      times.push(performance.now() - began)
      if (length !== asked.rows) throw new Error(`${path} showed ${length} rows, not ${asked.rows}`)
    }
    const counted = times.slice(1)
    return { medianMs: median(counted), slowestMs: Math.max(...counted) }
  } finally {
    connection.close()
  }
}

type Answered = Readonly<Record<string, unknown>> & { readonly next_cursor?: string | null }

/** Lists of the client API name their entries after what they are. */
const itemsOf = (answer: Answered): readonly unknown[] => answer[String(answer.data_ref)] as unknown[]

/** The page that follows on the newest one before a time, as if all those before it had been turned. */
async function behind(path: string, time: string, ask: (path: string) => Promise<Answered>): Promise<string> {
  const { next_cursor: cursor } = await ask(`${path}&to=${time}`)
  if (!cursor) throw new Error(`${path} has no page after ${time}`)
  return `${path}&cursor=${cursor}`
}
