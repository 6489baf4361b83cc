import type { Claimed, ExchangeInput, ExchangeOutput, Settlement } from './exchange.ts'

/**
 * What crosses to the SQLite thread and back. Rows as bare lists of values: with the names of their fields in every one
 * of them a message took twice as long to write and to read.
 */
export type ExchangeMessage = Omit<ExchangeInput, 'settlements'> & {
  readonly settlements: SettlementValues[]
}
export type ExchangeReply = Omit<ExchangeOutput, 'deliveries'> & { readonly deliveries: ClaimedValues[] }

type Value = string | number | null

/** The fields of a settlement in their order, then those of its attempt. */
export type SettlementValues = Value[]

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
  settlements: input.settlements.map(packSettlement),
})

function packSettlement(one: Settlement): SettlementValues {
  const { project_id, id, claim_id, status, slot, first_attempt_at, next_attempt_at, attempt } = one
  return [
    ...[project_id, id, claim_id, status, slot, first_attempt_at, next_attempt_at],
    ...[
      attempt.number,
      attempt.at,
      attempt.duration_ms,
      attempt.status,
      attempt.response_body,
      attempt.error,
    ],
  ]
}

export const unpackOutput = (reply: ExchangeReply): ExchangeOutput => ({
  ...reply,
  deliveries: reply.deliveries.map(unpackClaimed),
})

const unpackClaimed = (values: ClaimedValues): Claimed =>
  Object.fromEntries(CLAIMED.map((name, i) => [name, values[i]])) as never
