import { ID_PREFIX } from '../../contract/ids.ts'
import { isoTime } from '../../platform/http/index.ts'
import { newTimedId, type RandomBytes } from '../../platform/secrets.ts'
import type { EventHead } from '../events/index.ts'

/** The notification that a distribution sent to a customer. */
export interface PublicationRow {
  project_id: string
  id: string
  event_id: string
  distribution_id: string
  customer_id: string | null
  /** JSON, as it was sent. */
  data: string
  created_at: number
}

export interface PublicationTables {
  publications: PublicationRow
}

interface Customer {
  readonly id: string
  readonly source_id: string | null
}

interface Voucher {
  readonly id: string
  readonly code: string
}

/** Fields of an event that a publication uses. */
export interface Fields {
  readonly customer: Customer
  readonly voucher: Voucher | null
  readonly reward: { readonly voucher?: Voucher | null }
  readonly reward_redemption: { readonly source_id: string | null; readonly source_type: string | null }
}

interface Publishing {
  readonly event: EventHead
  /** `event.data`, parsed once for all distributions of the event. */
  readonly fields: Fields
  readonly distributionId: string
  readonly now: number
}

export const fieldsOf = (data: string): Fields => JSON.parse(data)

/** Creates the notification of a loyalty campaign, in Voucherify's format. */
export function makePublication(
  { random }: { random: RandomBytes },
  { event, fields, distributionId, now }: Publishing,
): PublicationRow {
  const id = newTimedId(random, ID_PREFIX.publication, now)
  const { customer, reward_redemption: redemption } = fields
  // Rewards that issue no voucher use the loyalty card.
  const voucher = fields.reward.voucher ?? fields.voucher
  const publication = {
    id,
    object: 'publication',
    created_at: isoTime(now),
    customer_id: customer.id,
    tracking_id: customer.source_id,
    metadata: {
      source_type: redemption.source_type,
      source_id: redemption.source_id,
      distribution_id: distributionId,
    },
    channel: 'API',
    source_id: null,
    result: 'SUCCESS',
    customer: { ...customer, summary: null, loyalty: null, referrals: null },
    voucher,
    vouchers_id: voucher ? [voucher.id] : [],
  }
  return {
    project_id: event.project_id,
    id,
    event_id: event.id,
    distribution_id: distributionId,
    customer_id: customer.id,
    data: JSON.stringify(publication),
    created_at: now,
  }
}
