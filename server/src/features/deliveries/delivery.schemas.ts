import { type Static, type TSchema, Type } from 'typebox'
import { NullableInteger, NullableText, nullable } from '../../platform/http/index.ts'
import { DELIVERY_STATUSES, RECOVERABLE } from './delivery-status.ts'

const orNull = <S extends TSchema>(schema: S, description: string) =>
  Type.Unsafe<Static<S> | null>({ ...schema, type: ['object', 'null'], description })

const headFields = {
  id: Type.String({ description: 'The same on every attempt. Sent to receivers as `webhook-id`.' }),
  object: Type.Literal('delivery'),
  event_id: Type.String(),
  destination_id: Type.String({ description: 'Id of the webhook or distribution.' }),
  status: Type.String({
    enum: [...DELIVERY_STATUSES],
    description:
      '`held` while the destination is disabled, `cancelled` after it was deleted, `exhausted` after the last attempt failed.',
  }),
  attempts_made: Type.Integer(),
  next_attempt_at: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Time of the next attempt; null unless pending.',
  }),
  created_at: Type.String(),
  event_kind: nullable<string>('string', { description: 'Null once the event has been removed.' }),
  destination_url: nullable<string>('string', { description: 'Current URL of the destination.' }),
  last_attempt: orNull(
    Type.Object({
      at: Type.String(),
      status: NullableInteger,
      error: nullable<string>('string', { description: 'Reason of the failure; null on success.' }),
    }),
    'Null before the first attempt.',
  ),
}

const Attempt = Type.Object({
  at: Type.String(),
  duration_ms: Type.Integer(),
  status: NullableInteger,
  response_body: NullableText,
  error: NullableText,
})

export const Delivery = Type.Object(headFields)

export const TestDelivery = Type.Object({
  ...headFields,
  attempt: orNull(Attempt, 'Null if none was made within `wait_ms`.'),
})

export const WholeDelivery = Type.Object({
  ...headFields,
  attempts: Type.Array(Attempt, {
    description: 'All attempts, oldest first, with the response or the reason why there was none.',
  }),
  payload: Type.Unsafe<unknown>({ description: 'Payload. It is sent as compact JSON.' }),
})

const reopened = Type.Integer({ description: 'Number of deliveries that are due now.' })
const held = Type.Integer({
  description: 'Number of them that wait until their destination is enabled.',
})

export const Replay = Type.Object({
  object: Type.Literal('replay'),
  event_id: Type.String(),
  reopened,
  held,
  unchanged: Type.Integer({ description: 'Number of deliveries that were already due or being sent.' }),
})

export const Recovery = Type.Object({
  object: Type.Literal('recovery'),
  since: NullableText,
  destination: NullableText,
  include: Type.Array(Type.String({ enum: [...RECOVERABLE] })),
  dry_run: Type.Boolean(),
  reopened: Type.Integer({
    description: 'Number of deliveries that are due now; with `dry_run`, that would be.',
  }),
  held,
  failing_left_out: Type.Integer({
    description:
      'How many match and still wait for their next attempt, where `include` does not name `failing`.',
  }),
  skipped: Type.Integer({
    description:
      'How many of `ids` stay as they are: unknown, delivered, due already, or of a disabled or deleted destination.',
  }),
  sample: Type.Array(Delivery, { description: 'With `dry_run`: up to 10 of the deliveries.' }),
  next_cursor: nullable<string>('string', {
    description: 'Send it as `cursor` to continue, if `limit` ended the call. Null after the last one.',
  }),
})

/** Filters by the last attempt, for the list and for recovery. */
export const failureFields = {
  http_status: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 599,
      description: 'HTTP status of the last attempt, of deliveries whose last attempt failed.',
    }),
  ),
  error: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      'x-says': 'must have 1 to 200 characters and no control characters',
      description:
        'Part of the error of the last attempt, in any case. Searches at most 7 days, by default the last 7 days.',
    }),
  ),
}
