import { connectSql, type Sql } from '../../server/test/sql.ts'
import { checkActive, introspectRequests } from '../ask.ts'
import { fillKnownTokens } from '../fill-jeton.ts'
import { SUBJECTS, withSubject } from '../launch.ts'
import { sendAll } from '../load/connection.ts'
import { postmasterOf } from '../postmaster.ts'
import type { JetonClient } from '../prepare-jeton.ts'
import { prepareShop, type Shop } from '../prepare-loyalty.ts'
import { treeUse } from '../process-tree.ts'
import type { Subject } from '../run-subject.ts'
import { shownCount } from '../shown.ts'
import type { Store } from '../stores.ts'
import { type Bench, introspectTraffic, issueTraffic, type Traffic, write } from './load-subject.ts'
import { redeemRequests } from './redemptions.ts'
import { CONNECTIONS } from './throughput.ts'

/** What one answer asks of PostgreSQL: what its machine must be sized to. */
export interface StoreCostRow {
  readonly load: string
  readonly perSecond: number
  /** Each of them for one answer. */
  readonly transactions: number
  readonly walBytes: number
  readonly cpuMicros: number
  /** Of Jeton, when the load was over. */
  readonly connections: number
}

/** PostgreSQL publishes what its processes counted once a second. */
const COUNTED_WITHIN_MS = 1_500

interface Counters {
  readonly transactions: number
  readonly walBytes: number
  readonly cpuMicros: number
  readonly connections: number
}

async function read(sql: Sql, postmaster: number): Promise<Counters> {
  await new Promise((resolve) => setTimeout(resolve, COUNTED_WITHIN_MS))
  const [row] = await sql<{ transactions: number; wal: number; connections: number }>`
    select (select (xact_commit + xact_rollback)::float8 from pg_stat_database where datname = current_database()) as transactions,
      (pg_current_wal_lsn() - '0/0')::float8 as wal,
      (select count(*)::int from pg_stat_activity where application_name = 'jeton' and datname = current_database()) as connections`
  const { transactions, wal: walBytes, connections } = row!
  return { transactions, walBytes, connections, cpuMicros: treeUse(postmaster).cpuMicros }
}

/** What the load meets, made before the start. */
interface Made {
  readonly subject: Subject
  readonly shop: Shop
  /** Tokens of the first clients, in turn, that the process has never seen. */
  readonly unseen: readonly string[]
}

interface Load {
  readonly name: string
  /** Sends what is measured, after what warms it up. */
  prepare(made: Made): Promise<() => Promise<{ answers: number; seconds: number }>>
}

const UNSEEN_CLIENTS = 20
const UNSEEN_EACH = 250

/** Requests in turn for as long as a measurement takes. */
function lasting(
  bench: Bench,
  name: string,
  { connections, traffic }: { connections: number; traffic: (made: Made) => Promise<Pick<Traffic, 'file'>> },
): Load {
  return {
    name,
    async prepare(made) {
      const { file } = await traffic(made)
      const run = (seconds: number) =>
        bench.generator.run({ url: made.subject.url, requestsFile: file, connections, seconds })
      await run(bench.warmUpSeconds)
      return async () => {
        const result = await run(bench.seconds)
        if (result.refused > 0) throw new Error(`${name}: ${result.refused} requests were refused`)
        return result
      }
    },
  }
}

/** Every request once. */
const asksOnce: Load = {
  name: 'introspect, tokens never seen',
  async prepare({ subject, unseen }) {
    const requests = introspectRequests(subject, unseen, UNSEEN_EACH)
    return async () => {
      const began = performance.now()
      await sendAll(subject.url, requests, checkActive)
      return { answers: requests.length, seconds: (performance.now() - began) / 1000 }
    }
  },
}

const loadsOf = (bench: Bench): Load[] => [
  lasting(bench, 'issue, one at a time', {
    connections: 1,
    // Few enough that every key is known after the warm-up: the first use of a key costs one read more.
    traffic: ({ subject }) =>
      issueTraffic(bench, { ...subject, credentials: subject.credentials.slice(0, UNSEEN_CLIENTS) }),
  }),
  lasting(bench, 'issue, 128 at once', {
    connections: CONNECTIONS,
    traffic: ({ subject }) => issueTraffic(bench, subject),
  }),
  asksOnce,
  lasting(bench, 'introspect, tokens in memory', {
    connections: CONNECTIONS,
    traffic: ({ subject }) => introspectTraffic(bench, subject),
  }),
  lasting(bench, 'redeem, 16 at once', {
    connections: 16,
    traffic: async ({ subject, shop }) => ({ file: write(bench, redeemRequests(subject, shop)) }),
  }),
]

/** One process of Jeton, and what PostgreSQL does for it. */
export async function measureStoreCost(bench: Bench): Promise<StoreCostRow[]> {
  let made: Omit<Made, 'subject'> & { databaseUrl: string }
  const fill = async (store: Store, clients: readonly JetonClient[]) => {
    const unseen = await fillKnownTokens(store, clients.slice(0, UNSEEN_CLIENTS), UNSEEN_EACH)
    const shop = await prepareShop(store, clients[0]!.projectId)
    made = { unseen, shop, databaseUrl: store.databaseUrl! }
  }
  return withSubject(bench.stores, 'jeton-postgres', { clients: bench.clients, fill }, async (subject) => {
    const sql = connectSql(made.databaseUrl, { name: 'bench' })
    try {
      const rows: StoreCostRow[] = [await idle(bench, sql)]
      for (const load of loadsOf(bench)) rows.push(await costOf(bench, sql, { load, ...made, subject }))
      return rows
    } finally {
      await sql.end()
    }
  })
}

/** What a process asks for that is not asked for anything: per second. */
async function idle(bench: Bench, sql: Sql): Promise<StoreCostRow> {
  const postmaster = await postmasterOf(sql)
  const [before, began] = [await read(sql, postmaster), performance.now()]
  await new Promise((resolve) => setTimeout(resolve, bench.seconds * 1000))
  const after = await read(sql, postmaster)
  const seconds = (performance.now() - began) / 1000
  return rowOf('nothing, for each second', { before, after, answers: seconds, perSecond: 0 })
}

async function costOf(
  bench: Bench,
  sql: Sql,
  { load, ...made }: Made & { load: Load },
): Promise<StoreCostRow> {
  const run = await load.prepare(made)
  const postmaster = await postmasterOf(sql)
  const before = await read(sql, postmaster)
  const { answers, seconds } = await run()
  const after = await read(sql, postmaster)
  const row = rowOf(load.name, { before, after, answers, perSecond: answers / seconds })
  bench.say(`${SUBJECTS['jeton-postgres'].label}: ${load.name}: ${shownCount(row.perSecond)}/s`)
  return row
}

const rowOf = (
  load: string,
  measured: { before: Counters; after: Counters; answers: number; perSecond: number },
): StoreCostRow => {
  const { before, after, answers, perSecond } = measured
  const each = (pick: 'transactions' | 'walBytes' | 'cpuMicros') => (after[pick] - before[pick]) / answers
  return {
    load,
    perSecond,
    transactions: each('transactions'),
    walBytes: each('walBytes'),
    cpuMicros: each('cpuMicros'),
    connections: after.connections,
  }
}
