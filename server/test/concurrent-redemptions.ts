import { Agent, request } from 'node:http'
import { sql } from 'kysely'
import type { Database } from '../src/platform/database/index.ts'
import type { Pair } from './service.ts'

/** Enough for races, and below the default limit of open files per process. */
const SOCKETS_PER_SERVICE = 200

export interface RedemptionResponse {
  readonly status: number
  readonly text: string
  /** Undefined if the connection was reset. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies of any shape.
  readonly body: any
}

export interface RedemptionRequest {
  readonly url: string
  readonly path: string
  readonly body: object
  readonly headers?: Record<string, string>
}

function post(
  agent: Agent,
  pair: Pair,
  { url, path, body, headers }: RedemptionRequest,
): Promise<RedemptionResponse> {
  const own = { 'x-app-id': pair.appId, 'x-app-token': pair.appToken, 'content-type': 'application/json' }
  return new Promise((resolve) => {
    const cut = () => resolve({ status: 0, text: '', body: undefined })
    const sent = request(
      `${url}/v1${path}`,
      { method: 'POST', agent, headers: { ...own, ...headers } },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk) => (text += chunk))
        answer.on('error', cut)
        answer.on('end', () =>
          answer.complete ? resolve({ status: answer.statusCode!, text, body: JSON.parse(text) }) : cut(),
        )
      },
    )
    sent.on('error', cut)
    sent.end(JSON.stringify(body))
  })
}

/** Sends many requests at once. A reset connection is a response with status 0. */
export async function postConcurrently(
  pair: Pair,
  requests: readonly RedemptionRequest[],
): Promise<RedemptionResponse[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_PER_SERVICE })
  return Promise.all(requests.map((one) => post(agent, pair, one))).finally(() => agent.destroy())
}

/** Number of responses by error key or 200: `{ 200: 100, reward_out_of_stock: 400 }`. */
export function outcomes(answers: readonly RedemptionResponse[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const name = status === 200 ? '200' : (body?.key ?? 'cut')
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

interface Totals {
  readonly redemptions: number
  readonly events: number
  readonly takenByRedemptions: number
  readonly stockLeft: number | null
  readonly redeemed: number
  /** Cards whose balance, counts or running sums do not match their entries. There must be none. */
  readonly wrongCards: readonly object[]
}

/** Sums up the tables, read from the store instead of the API. */
export async function readTotals(db: Database, rewardId: string): Promise<Totals> {
  // One statement, which sees one snapshot: PostgreSQL may still be committing a transaction of a killed process.
  const { rows } = await sql<{ stock: number | null; redeemed: number; r: number; e: number; p: number }>`
    select stock, redeemed,
      (select count(*) from redemptions where reward_id = ${rewardId}) as r,
      (select count(*) from events e join redemptions r on r.project_id = e.project_id and r.event_id = e.id
        where r.reward_id = ${rewardId}) as e,
      (select sum(-points) from point_entries where type = 'POINTS_REDEMPTION' and reward_id = ${rewardId}) as p
    from rewards where id = ${rewardId}`.execute(db.read<never>() as never)
  const { stock, redeemed, r, e, p } = rows[0]!
  return {
    redemptions: Number(r),
    events: Number(e),
    takenByRedemptions: Number(p ?? 0),
    stockLeft: stock,
    redeemed,
    wrongCards: await wrongCards(db),
  }
}

export async function wrongCards(db: Database): Promise<readonly object[]> {
  const reader = db.read<never>() as never
  const { rows } = await sql<object>`
    select v.id, v.balance, v.points, v.entries, sum(e.points) as sum_of_entries
      from vouchers v left join point_entries e on e.project_id = v.project_id and e.voucher_id = v.id
     where v.type = 'LOYALTY_CARD'
     group by v.id, v.balance, v.points, v.entries, v.redeemed_points, v.redeemed_quantity
    having v.balance <> coalesce(sum(e.points), 0)
        or v.balance < 0
        or v.points <> coalesce(sum(case when e.points > 0 then e.points end), 0)
        or v.entries <> count(e.id)
        or v.entries <> coalesce(max(e.number), 0)
        or min(e.balance) < 0
        or v.redeemed_quantity <> count(case when e.type = 'POINTS_REDEMPTION' then 1 end)
        or v.redeemed_points <> coalesce(sum(case when e.type = 'POINTS_REDEMPTION' then -e.points end), 0)`.execute(
    reader,
  )
  return rows
}
