import { Type } from 'typebox'
import { NullableText, nullable } from '../../platform/http/index.ts'
import { Delivery } from '../deliveries/index.ts'

export const Transaction = Type.Object({
  id: Type.String(),
  object: Type.Literal('transaction'),
  card: Type.String({ description: 'Code of the loyalty card.' }),
  campaign_id: Type.String(),
  type: Type.String({ description: '`POINTS_ADDITION`, `POINTS_REMOVAL` or `POINTS_REDEMPTION`.' }),
  points: Type.Integer({ description: 'Change of the balance; negative where points were taken.' }),
  balance: Type.Integer({ description: 'Balance of the card after it.' }),
  source_id: NullableText,
  reason: NullableText,
  redemption_id: nullable<string>('string', { description: 'Id of the redemption that took the points.' }),
  reward_id: NullableText,
  reward_name: nullable<string>('string', { description: 'Name of the reward at that time.' }),
  request_id: NullableText,
  created_at: Type.String(),
})

export const RedemptionRecord = Type.Object({
  id: Type.String(),
  object: Type.Literal('redemption'),
  card: Type.String({ description: 'Code of the loyalty card.' }),
  campaign_id: Type.String(),
  reward_id: Type.String(),
  reward_name: nullable<string>('string', { description: 'Present name; null if the reward was deleted.' }),
  points: Type.Integer({ description: 'Points that were taken.' }),
  issued_voucher_id: nullable<string>('string', { description: 'Id of the voucher that the reward issued.' }),
  event_id: Type.String(),
  event_state: Type.String({
    enum: ['waiting', 'relayed', 'removed'],
    description:
      '`waiting`: its deliveries are still to be made. `relayed`: they are listed here. `removed`: older than the retention period.',
  }),
  deliveries: Type.Array(Delivery, { description: 'One for each destination that the event goes to.' }),
  created_at: Type.String(),
})
