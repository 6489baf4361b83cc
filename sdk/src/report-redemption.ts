import type { RewardRedemptionCompleted } from './generated/events.ts'
import { bodyOf, errorOf, type Fetch } from './send-request.ts'

/** A redemption that your own system has completed. */
export interface CompletedRedemption {
  /** Your own id of the redemption, unique in the project. */
  readonly source_id: string
  readonly completed_at?: Date
  /** The distributions of this campaign receive the event too. */
  readonly campaign_id?: string
  readonly data: Omit<RewardRedemptionCompleted['data'], 'publication'>
}

export interface ReportedRedemption {
  readonly eventId: string
  /** True if this redemption was reported before. There is only one event. */
  readonly duplicate: boolean
}

/**
 * Reports a redemption to Jeton, which stores its event and delivers it. `api` comes from `createFetch`, with the scope
 * `redemptions`. The report is repeated once with a new token if the token has just expired: a second one has no effect.
 */
export async function reportRedemption(
  api: Fetch,
  redemption: CompletedRedemption,
): Promise<ReportedRedemption> {
  const send = () =>
    api('/v1/redemptions/rewards', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(redemption),
    })
  let response = await send()
  if (response.status === 401) {
    await response.body?.cancel()
    response = await send()
  }
  const body = await bodyOf(response)
  if (!response.ok || body === undefined) throw errorOf(response, body)
  const { event_id: eventId, duplicate } = body as { event_id: string; duplicate: boolean }
  return { eventId, duplicate }
}
