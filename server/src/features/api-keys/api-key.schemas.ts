import { Type } from 'typebox'
import { SCOPE_VALUES, type Scope } from '../../contract/scopes.ts'
import { RANGE_PATTERN } from '../../platform/addresses.ts'
import { IdParam, NullableInteger, NullableText, nullable, strict } from '../../platform/http/index.ts'
import { Propagation } from './propagation.ts'

export const State = Type.Unsafe<'active' | 'blocked' | 'deleted'>({
  type: 'string',
  enum: ['active', 'blocked', 'deleted'],
})

const shownFields = {
  id: Type.String(),
  object: Type.Literal('api_key'),
  project_id: Type.String(),
  name: Type.String(),
  app_id: Type.String(),
  app_token_last4: Type.String(),
  client_id: Type.String(),
  permissions: Type.Array(Type.String()),
  ip_whitelist: Type.Array(Type.String()),
  token_limit: NullableInteger,
  state: State,
  active_tokens: Type.Integer(),
  created_at: Type.String(),
  updated_at: Type.String(),
  regenerated_at: NullableText,
  last_used_at: NullableText,
  last_used_from: nullable<string>('string', { description: 'Address that it was last used from.' }),
  recent_addresses: Type.Array(Type.Object({ address: Type.String(), last_used_at: Type.String() }), {
    description: 'Addresses of recent uses, newest first, at most 16.',
  }),
  usage_24h: Type.Object(
    {
      requests: Type.Integer({
        description: 'Tokens issued, introspections, allowed calls and refused requests.',
      }),
      refused: Type.Integer({ description: 'Refused requests.' }),
    },
    { description: 'Requests with this key in the last 24 hours, in whole hours.' },
  ),
  previous_secret: Type.Unsafe<object | null>({
    type: ['object', 'null'],
    description: 'The secret before the current one, while its grace period runs; otherwise null.',
    properties: {
      valid_until: { type: 'string', description: 'End of the grace period.' },
      last_used_at: { type: ['string', 'null'], description: 'Last use since it was replaced.' },
      last_used_from: { type: ['string', 'null'], description: 'Address of that use.' },
    },
  }),
}
export const ApiKey = Type.Object(shownFields)
export const ApiKeyWithSecret = Type.Object({
  ...shownFields,
  app_token: Type.String({ description: 'Shown only in this response.' }),
})

/** The answer to a change that other processes must learn of. */
export const ChangedApiKey = Type.Object({ ...shownFields, propagation: Propagation })

export const BlockBody = Type.Optional(
  strict(
    {
      reason: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$',
          'x-says': 'must be 1 to 200 characters, not blank and without control characters',
          description: 'Why, for the audit log, which has it as `after.reason`.',
        }),
      ),
    },
    { examples: [{ reason: 'secret found in a public repository' }] },
  ),
)

export const RANGE_RULE = 'must be an address such as 10.0.0.4 or 2001:db8::1, or a range such as 10.0.0.0/8'

export const settable = {
  permissions: Type.Optional(
    Type.Array(Type.Unsafe<Scope>({ type: 'string', enum: SCOPE_VALUES }), {
      minItems: 1,
      maxItems: SCOPE_VALUES.length,
      description: 'Scopes that the key can request. Default: `api`.',
    }),
  ),
  ip_whitelist: Type.Optional(
    Type.Array(Type.String({ pattern: RANGE_PATTERN, 'x-says': RANGE_RULE }), {
      maxItems: 200,
      description: 'Allowed addresses and CIDR ranges. An empty list allows all.',
    }),
  ),
  token_limit: Type.Optional(
    nullable<number>('integer', {
      minimum: 1,
      maximum: 1000,
      description:
        'Maximum number of active tokens of this key, so that it cannot use up the limit of its project. Null means no limit.',
    }),
  ),
}

export const ProjectParams = Type.Object({ project_id: IdParam })
export const Params = Type.Object({ project_id: IdParam, key_id: IdParam })
