import { Type } from 'typebox'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  countField,
  metadataField,
  NullableText,
  shownAs,
  textField,
  traceparentOf,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { cardNameOf, MEMBER_PATHS, MemberParams } from '../campaigns/index.ts'
import { withIdempotencyKey } from '../idempotency/index.ts'
import type { UsageCounter } from '../usage/index.ts'
import { redeemReward } from './redeem-reward.ts'
import { redemptionView } from './redemption.ts'

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  readonly usage: UsageCounter
}

const Redemption = Type.Object({
  id: Type.String(),
  object: Type.Literal('redemption'),
  date: Type.String(),
  customer_id: Type.String(),
  tracking_id: NullableText,
  metadata: Type.Any(),
  amount: Type.Integer({ description: 'Points that were taken.' }),
  result: Type.Literal('SUCCESS'),
  order: Type.Any({ description: 'With COIN: the order and what was taken off it; else null.' }),
  customer: Type.Any(),
  related_object_type: Type.Literal('voucher'),
  related_object_id: Type.String(),
  voucher: Type.Any({ description: 'The loyalty card, with its new balance.' }),
  reward: Type.Any({ description: 'The reward, with the voucher or product that the customer got.' }),
})

const missing = { 'x-key': 'missing_reward' } as const

const fields = {
  reward: Type.Object(
    {
      id: Type.String({ minLength: 1, maxLength: 300, ...missing }),
      points: Type.Optional(
        countField({ minimum: 1, description: 'With COIN: how many points to turn into money.' }),
      ),
    },
    missing,
  ),
  order: Type.Optional(
    Type.Unsafe<{ id?: string | null; source_id?: string | null; amount?: number; metadata?: object } | null>(
      {
        type: ['object', 'null'],
        properties: {
          id: textField(200),
          source_id: textField(200),
          amount: countField({ description: 'In the smallest unit of the currency.' }),
          metadata: metadataField,
        },
      },
    ),
  ),
  metadata: metadataField,
}
const Body = Type.Object(fields, { ...missing, examples: [{ reward: { id: '$REWARD_ID' } }] })

export function redemptionRoutes(app: App, deps: Deps): void {
  for (const { path, suffix } of MEMBER_PATHS)
    app.post(
      `${path}/redemption`,
      {
        config: { access: 'scope' },
        schema: {
          tags: ['members'],
          operationId: `member.redeem${suffix}`,
          summary: 'Exchange points for a reward',
          description:
            'Points, stock, voucher, record and event: all of it or nothing. Send an `Idempotency-Key` to make a retry safe.',
          params: MemberParams,
          body: Body,
          response: { 200: shownAs(Redemption) },
        },
      },
      async (request, reply) => {
        const { projectId, apiKey, params, body, id: requestId } = request
        let isRepeated = true
        const text = await withIdempotencyKey(deps, request, async (tx) => {
          isRepeated = false
          const redeemed = await redeemReward(deps, tx, {
            name: cardNameOf(projectId, params),
            rewardId: body.reward.id,
            points: body.reward.points,
            order: body.order as never,
            metadata: body.metadata,
            requestId,
            traceparent: traceparentOf(request),
            apiKey,
          })
          return redemptionView(redeemed)
        })
        if (!isRepeated) deps.usage.redemption(projectId)
        return reply.type('application/json; charset=utf-8').send(text as never)
      },
    )
}
