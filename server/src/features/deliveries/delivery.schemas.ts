import { Type } from 'typebox'
import { NullableInteger, NullableText } from '../../platform/http/index.ts'
import { DELIVERY_STATUSES } from './delivery-status.ts'

const headFields = {
  id: Type.String({ description: 'The same on every attempt: receivers get it as `webhook-id`.' }),
  object: Type.Literal('delivery'),
  event_id: Type.String(),
  destination_id: Type.String({ description: 'The webhook or distribution that it goes to.' }),
  status: Type.String({
    enum: [...DELIVERY_STATUSES],
    description:
      '`held` while its destination is disabled, `cancelled` once that is deleted; `exhausted` after the last attempt has failed.',
  }),
  attempts_made: Type.Integer(),
  next_attempt_at: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'When it is tried next; null unless it is pending.',
  }),
  created_at: Type.String(),
}

export const Delivery = Type.Object(headFields)

export const WholeDelivery = Type.Object({
  ...headFields,
  payload: Type.Unsafe<unknown>({ description: 'What is sent. The bytes are this as compact JSON.' }),
  attempts: Type.Array(
    Type.Object({
      at: Type.String(),
      duration_ms: Type.Integer(),
      status: NullableInteger,
      response_body: NullableText,
      error: NullableText,
    }),
    { description: 'Every attempt, oldest first: the answer, or in words why there was none.' },
  ),
})

const reopened = Type.Integer({ description: 'How many are due now.' })
const held = Type.Integer({
  description: 'Of these, how many wait until their destination is enabled.',
})

export const Replay = Type.Object({
  object: Type.Literal('replay'),
  event_id: Type.String(),
  reopened,
  held,
  unchanged: Type.Integer({ description: 'How many were due or being sent already, and stay as they are.' }),
})

export const Recovery = Type.Object({
  object: Type.Literal('recovery'),
  since: Type.String(),
  destination: NullableText,
  dry_run: Type.Boolean(),
  reopened: Type.Integer({ description: 'How many are due now; with `dry_run`, how many would be.' }),
  held,
})
