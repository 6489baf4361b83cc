import { Type } from 'typebox'
import type { Database } from '../../platform/database/index.ts'
import { type App, forOperators, isoTimeOrNull, NullableText } from '../../platform/http/index.ts'
import { countInFlight, countWaitingEvents, readBacklog } from './delivery.store.ts'

const Queue = Type.Object({
  object: Type.Literal('queue'),
  due: Type.Integer({
    description: 'Deliveries that are due and not being sent; at most 1,000 per destination are counted.',
  }),
  oldest_due_at: Type.Unsafe<string | null>({
    ...NullableText,
    description: 'Since when the oldest of them is due; null if none is.',
  }),
  in_flight: Type.Integer({ description: 'Deliveries that a worker has claimed and is sending.' }),
  waiting_events: Type.Integer({
    description: 'Events that no worker has turned into deliveries yet; at most 10,000 are counted.',
  }),
})

export function queueRoutes(app: App, { db }: { readonly db: Database }): void {
  app.get(
    '/management/v1/queue',
    {
      config: forOperators('viewer', 'all'),
      schema: {
        tags: ['service'],
        operationId: 'queue.show',
        summary: 'Read how many deliveries are due and in flight',
        response: { 200: Queue },
      },
    },
    async () => {
      const now = await db.now()
      const [backlog, inFlight, waitingEvents] = await Promise.all([
        readBacklog(db, now),
        countInFlight(db, now),
        countWaitingEvents(db),
      ])
      return {
        object: 'queue' as const,
        due: backlog.due,
        oldest_due_at: isoTimeOrNull(backlog.oldestDueAt),
        in_flight: inFlight,
        waiting_events: waitingEvents,
      }
    },
  )
}
