import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import type { AssignmentRow } from './assignment.store.ts'

/** Public view, in responses and in events. */
export const assignmentView = (row: AssignmentRow) => ({
  id: row.id,
  reward_id: row.reward_id,
  related_object_id: row.campaign_id,
  related_object_type: 'campaign' as const,
  parameters: row.points === null ? null : { loyalty: { points: row.points } },
  created_at: isoTime(row.created_at),
  updated_at: isoTimeOrNull(row.updated_at),
  object: 'reward_assignment' as const,
})
