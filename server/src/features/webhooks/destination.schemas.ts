import { Type } from 'typebox'
import { EVENT_KIND_NAMES, TEST_EVENT } from '../../contract/event-kinds.ts'
import { NameField, NullableText, nullable } from '../../platform/http/index.ts'
import { TARGET_URL } from '../../platform/outbound/index.ts'
import { HEADER_NAME_PATTERN } from './extra-headers.ts'

const shownFields = {
  id: Type.String(),
  target_url: Type.String(),
  events: Type.Array(Type.String()),
  active: Type.Boolean(),
  description: NullableText,
  secret_last4: Type.String(),
  previous_secret_until: Type.Unsafe<string | null>({
    ...NullableText,
    description: 'Until when the previous secret also signs; null without one.',
  }),
  disabled_reason: NullableText,
  created_at: Type.String(),
  updated_at: Type.String(),
}

/** Computed from deliveries and usage, which other features hold. */
const health = {
  health: Type.Object(
    {
      state: Type.String({
        description:
          '`healthy`, `failing` (every attempt since `failing_since` failed), `disabled`, or `idle` (nothing to send in 24 hours).',
      }),
      failing_since: Type.Unsafe<string | null>({
        ...NullableText,
        description: 'Since when every attempt has failed.',
      }),
      success_rate_24h: Type.Unsafe<number | null>({
        type: ['number', 'null'],
        description: 'Share of attempts that succeeded, 0 to 1; null without an attempt.',
      }),
      p95_ms_24h: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'From the event to its arrival, 95th percentile, in milliseconds.',
      }),
      oldest_due_at: Type.Unsafe<string | null>({
        ...NullableText,
        description: 'When the oldest waiting delivery became due.',
      }),
      pending: Type.Integer({ description: 'Deliveries that wait, counted up to 1,000.' }),
      held: Type.Integer({ description: 'Deliveries that wait for it to be enabled, up to 1,000.' }),
      exhausted: Type.Integer({ description: 'Deliveries that used up every retry, up to 1,000.' }),
      last_error: Type.Unsafe<string | null>({
        ...NullableText,
        description: 'Error of the newest delivery that failed.',
      }),
    },
    { description: 'How it is doing, over the last 24 hours.' },
  ),
}

const distributionFields = {
  name: Type.String(),
  campaign_id: Type.String(),
  event_name: NullableText,
  headers: Type.Record(Type.String(), Type.String(), { description: 'Values are masked.' }),
}

const secret = { secret: Type.String({ description: 'Key of the signatures. Shown only in this response.' }) }

const webhook = { object: Type.Literal('webhook'), ...shownFields, ...health }
const distribution = {
  object: Type.Literal('distribution'),
  ...shownFields,
  ...distributionFields,
  ...health,
}

export const Shown = { webhook: Type.Object(webhook), distribution: Type.Object(distribution) }
export const ShownWithSecret = {
  webhook: Type.Object({ ...webhook, ...secret }),
  distribution: Type.Object({ ...distribution, ...secret }),
}

const TargetUrl = Type.String({
  ...TARGET_URL,
  description:
    'URL that receives the events: https to a public address, or an address in JETON_WEBHOOK_ALLOW. The host name is not resolved when it is set.',
})

const Events = Type.Array(Type.String({ enum: [...EVENT_KIND_NAMES] }), {
  minItems: 1,
  maxItems: 50,
  description: 'Event kinds to send. Both names of a kind are accepted.',
})

const common = {
  active: Type.Optional(Type.Boolean({ description: 'Default: true. While false, deliveries are held.' })),
  description: Type.Optional(
    nullable<string>('string', {
      maxLength: 500,
      pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$',
      'x-says': 'must have at most 500 characters and no control characters',
    }),
  ),
}

const CampaignId = Type.String({
  minLength: 1,
  maxLength: 300,
  description: 'Id of a loyalty campaign of the project.',
})

const extras = {
  event_name: Type.Optional(
    nullable<string>('string', {
      minLength: 1,
      maxLength: 100,
      pattern: `^(?!${TEST_EVENT.replace('.', '\\.')}$)(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$`,
      'x-says': `must be 1 to 100 characters, not blank, without control characters and not ${TEST_EVENT}, which is reserved for tests`,
      description: 'Sent as `type` instead of the kind.',
    }),
  ),
  headers: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: 20,
      'x-says': 'must have at most 20 entries',
      description:
        'Additional headers, with lower-case names. Values are never shown again. Sending the mask keeps the stored value.',
      propertyNames: {
        pattern: HEADER_NAME_PATTERN,
        'x-says':
          'is not allowed: use lower-case letters, digits and hyphens, and no header that Jeton or HTTP sets itself',
      },
      additionalProperties: {
        type: 'string',
        maxLength: 2000,
        pattern: '^(•••|[\\u0021-\\u007e]([\\u0020-\\u007e]*[\\u0021-\\u007e])?)$',
        'x-says': 'must be 1 to 2000 printable ASCII characters without leading or trailing spaces',
      },
    }),
  ),
}

/** Fields of a request that creates a destination. */
export const Creation = {
  webhook: { target_url: TargetUrl, events: Events, ...common },
  distribution: {
    name: NameField,
    campaign_id: CampaignId,
    target_url: TargetUrl,
    events: Type.Optional(Events),
    ...common,
    ...extras,
  },
}

/** Fields of a request that updates a destination; all are optional. */
export const Replacement = {
  webhook: { target_url: Type.Optional(TargetUrl), events: Type.Optional(Events), ...common },
  distribution: {
    name: Type.Optional(NameField),
    campaign_id: Type.Optional(CampaignId),
    target_url: Type.Optional(TargetUrl),
    events: Type.Optional(Events),
    ...common,
    ...extras,
  },
}
