import type { DeliveryRow } from './delivery.ts'
import type { Claimed, ExchangeInput, ExchangeOutput, Settlement, WrittenFirst } from './exchange.ts'

/**
 * What crosses to the SQLite thread and back. Rows as bare lists of values: with the names of their fields in every one
 * of them a message took twice as long to write and to read.
 */
export type ExchangeMessage = Omit<ExchangeInput, 'settlements' | 'firsts'> & {
  readonly firsts: FirstValues[]
  readonly settlements: SettlementValues[]
}
export type ExchangeReply = Omit<ExchangeOutput, 'deliveries'> & { readonly deliveries: ClaimedValues[] }

type Value = string | number | null

/** The fields of a settlement in their order, then those of its attempt. */
export type SettlementValues = Value[]

/** What holds the event: its time, project, id and claim. And each of its deliveries. */
export interface FirstValues {
  readonly held: [number, string, string, string]
  readonly deliveries: Value[][]
}

/** The columns of a delivery that comes with how it ended, but for those of its event, in the order in which they cross. */
export const WRITTEN = [
  ...(['id', 'status', 'destination_id', 'head', 'tail', 'attempts_made', 'slot'] as const),
  ...(['first_attempt_at', 'next_attempt_at', 'claim_id', 'created_at', 'first_attempt'] as const),
] as const satisfies readonly (keyof DeliveryRow)[]

/** The columns of a claim, in the order in which they cross. */
export const CLAIMED = [
  'project_id',
  'id',
  'event_id',
  'destination_id',
  'head',
  'tail',
  'attempts_made',
  'slot',
  'first_attempt_at',
] as const satisfies readonly (keyof Claimed)[]
export type ClaimedValues = Value[]

export const packInput = (input: ExchangeInput): ExchangeMessage => ({
  ...input,
  firsts: input.firsts.map(packFirst),
  settlements: input.settlements.map(packSettlement),
})

const packFirst = ({
  created_at,
  project_id,
  event_id,
  claim_id,
  deliveries,
}: WrittenFirst): FirstValues => ({
  held: [created_at, project_id, event_id, claim_id],
  deliveries: deliveries.map((row) => {
    // By `push`: what `map` makes may have holes, and is sent one index at a time.
    const values: Value[] = []
    for (const name of WRITTEN) values.push(row[name])
    return values
  }),
})

const packAttempt = (attempt: Settlement['attempt']): Value[] => [
  attempt.number,
  attempt.at,
  attempt.duration_ms,
  attempt.status,
  attempt.response_body,
  attempt.error,
]

function packSettlement(one: Settlement): SettlementValues {
  const { project_id, id, claim_id, status, slot, first_attempt_at, next_attempt_at, attempt } = one
  return [
    ...[project_id, id, claim_id, status, slot, first_attempt_at, next_attempt_at],
    ...packAttempt(attempt),
  ]
}

export const unpackOutput = (reply: ExchangeReply): ExchangeOutput => ({
  ...reply,
  deliveries: reply.deliveries.map(unpackClaimed),
})

const unpackClaimed = (values: ClaimedValues): Claimed =>
  Object.fromEntries(CLAIMED.map((name, i) => [name, values[i]])) as never
