import type { DeliveryRow } from './delivery.ts'
import type { Claimed, ExchangeInput, ExchangeOutput, Settlement, Value, WrittenFirst } from './exchange.ts'

/**
 * What crosses to the SQLite thread and back. Rows as bare lists of values: with the names of their fields in every one
 * of them a message took twice as long to write and to read.
 */
export type ExchangeMessage = Omit<ExchangeInput, 'settlements' | 'firsts'> & {
  readonly firsts: FirstValues
  readonly settlements: SettlementValues[]
}
export type ExchangeReply = Omit<ExchangeOutput, 'deliveries'> & { readonly deliveries: ClaimedValues[] }

/** The fields of a settlement in their order, then those of its attempt. */
export type SettlementValues = Value[]

/**
 * One behind the other, for each event: what holds it (its time, project, id and claim), how many deliveries it has, and each of
 * these. With a list for every event and delivery it took more than twice as long to write and to read.
 */
export type FirstValues = readonly Value[]
export const HELD_LENGTH = 4

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
  firsts: packFirsts(input.firsts),
  settlements: input.settlements.map(packSettlement),
})

function packFirsts(firsts: readonly WrittenFirst[]): FirstValues {
  const values: Value[] = []
  for (const { created_at, project_id, event_id, claim_id, deliveries } of firsts) {
    values.push(created_at, project_id, event_id, claim_id, deliveries.length)
    for (const row of deliveries) for (const name of WRITTEN) values.push(row[name])
  }
  return values
}

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
