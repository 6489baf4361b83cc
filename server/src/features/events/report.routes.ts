import { Type } from 'typebox'
import { TIME } from '../../contract/times.ts'
import type { Database } from '../../platform/database/index.ts'
import { type App, nullable, timeOf, traceparentOf } from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import type { UsageCounter } from '../usage/index.ts'
import { type Report, reportRedemption } from './report-redemption.ts'
import { storedData } from './reward-redemption-completed.ts'

const Body = Type.Object({
  source_id: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[^\\u0000-\\u001f\\u007f]+$',
    'x-says': 'must be 1 to 255 characters without control characters',
    description:
      'Your own id of the redemption, unique in the project. Repeated reports with this id are written once.',
  }),
  completed_at: Type.Optional(
    nullable<string>('string', {
      ...TIME,
      description: 'Time of completion. Default: now.',
    }),
  ),
  campaign_id: Type.Optional(
    nullable<string>('string', {
      minLength: 1,
      maxLength: 255,
      pattern: '^[^\\u0000-\\u001f\\u007f]+$',
      'x-says': 'must be 1 to 255 characters without control characters',
      description: 'Loyalty campaign whose distributions get the event. Default: `data.campaign.id`.',
    }),
  ),
  data: Type.Unsafe<Report['data']>({
    ...storedData,
    description: 'Event fields. All keys are required; use null if one does not apply.',
  }),
})

export function reportRoutes(
  app: App,
  deps: { db: Database; random: RandomBytes; usage: UsageCounter },
): void {
  app.post(
    '/v1/redemptions/rewards',
    {
      config: { access: 'scope' },
      schema: {
        tags: ['redemptions'],
        operationId: 'redemption.report',
        summary: 'Report a reward redemption that was completed elsewhere',
        description:
          'Writes the same event as a redemption in Jeton, exactly once per `source_id`. Repeating the report returns `duplicate: true`. Different content with the same `source_id` returns 409.',
        body: Body,
        response: { 200: Type.Object({ event_id: Type.String(), duplicate: Type.Boolean() }) },
      },
    },
    async (request) => {
      const { body, projectId, apiKey, id: requestId } = request
      const { eventId, duplicate } = await reportRedemption(deps, {
        projectId,
        sourceId: body.source_id,
        completedAt: body.completed_at ? timeOf(body.completed_at, 'completed_at') : undefined,
        campaignId: body.campaign_id ?? undefined,
        data: body.data,
        requestId,
        traceparent: traceparentOf(request),
        apiKey,
      })
      if (!duplicate) deps.usage.redemption(projectId)
      return { event_id: eventId, duplicate }
    },
  )
}
