import type { Reader } from '../../platform/database/index.ts'
import { isoTime } from '../../platform/http/index.ts'
import { deliveriesByEvent } from '../deliveries/index.ts'
import { findShownEvents } from '../events/index.ts'
import type { RedemptionRow } from '../redemptions/index.ts'
import { findReward } from '../rewards/index.ts'

/** Redemptions with the state of their events and deliveries: they show whether the receivers got the event. */
export async function redemptionRecords(
  reader: Reader,
  rows: readonly RedemptionRow[],
  codes: ReadonlyMap<string, string>,
) {
  const projectId = rows[0]?.project_id ?? ''
  const eventIds = rows.map(({ event_id }) => event_id)
  const [events, deliveries, names] = await Promise.all([
    findShownEvents(reader, projectId, eventIds),
    deliveriesByEvent(reader, projectId, eventIds),
    rewardNames(reader, projectId, rows),
  ])
  return rows.map((row) => {
    const event = events.get(row.event_id)
    return {
      id: row.id,
      object: 'redemption' as const,
      card: codes.get(row.voucher_id)!,
      campaign_id: row.campaign_id,
      reward_id: row.reward_id,
      reward_name: names.get(row.reward_id) ?? null,
      points: row.points,
      issued_voucher_id: row.issued_voucher_id,
      event_id: row.event_id,
      event_state: !event ? 'removed' : event.waiting === null ? 'relayed' : 'waiting',
      deliveries: deliveries.get(row.event_id) ?? [],
      created_at: isoTime(row.created_at),
      position: { at: row.created_at, id: row.id },
    }
  })
}

async function rewardNames(
  reader: Reader,
  projectId: string,
  rows: readonly RedemptionRow[],
): Promise<Map<string, string>> {
  const ids = [...new Set(rows.map(({ reward_id }) => reward_id))]
  const rewards = await Promise.all(ids.map((id) => findReward(reader, projectId, id)))
  return new Map(rewards.flatMap((reward) => (reward ? [[reward.id, reward.name]] : [])))
}
