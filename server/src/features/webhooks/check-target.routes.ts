import { Type } from 'typebox'
import { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  FixedWindows,
  forOperators,
  IdParam,
  isoTime,
  NullableInteger,
  nullable,
  strict,
} from '../../platform/http/index.ts'
import { TARGET_URL, type TargetCheck } from '../../platform/outbound/index.ts'
import { requireProject } from '../projects/index.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly checkTarget: (targetUrl: string, signal?: AbortSignal) => Promise<TargetCheck>
}

/** Per operator and process. More would make a port scanner of it. */
const CHECKS_PER_MINUTE = 30
const MAX_OPERATORS = 1_000

const Check = Type.Object({
  object: Type.Literal('webhook_check'),
  allowed: Type.Boolean({ description: 'Whether events may be sent there.' }),
  reason: nullable<string>('string', {
    description: 'Why it is not allowed, or why there was no connection; null if there was one.',
  }),
  addresses: Type.Array(Type.String(), {
    description: 'Addresses of the host that may be reached. Others are left out.',
  }),
  tls: Type.Unsafe<{ valid_until: string } | null>({
    ...Type.Object({ valid_until: Type.String({ description: 'When its certificate expires.' }) }),
    type: ['object', 'null'],
    description: 'Null if no certificate was seen.',
  }),
  connect_ms: Type.Unsafe<number | null>({
    ...NullableInteger,
    description: 'Milliseconds for name look-up, TCP and TLS; null without a connection.',
  }),
})

/** Checks a target before a webhook is made for it. */
export function checkTargetRoutes(app: App, { db, clock, checkTarget }: Deps): void {
  const windows = new FixedWindows(MAX_OPERATORS)

  app.post(
    '/management/v1/projects/:project_id/webhooks/check',
    {
      config: forOperators('editor'),
      schema: {
        tags: ['webhooks'],
        operationId: 'webhook.check',
        summary: 'Check whether a target URL can be reached',
        description:
          'Opens one connection, with the guard of deliveries, and closes it. No request is sent. Each operator has 30 checks per minute.',
        params: Type.Object({ project_id: IdParam }),
        body: strict(
          { target_url: Type.String({ ...TARGET_URL, description: 'URL to check.' }) },
          { examples: [{ target_url: 'https://hooks.example.com/jeton' }] },
        ),
        response: { 200: Check },
      },
    },
    async ({ params, body: { target_url }, actor, signal }) => {
      const { id: projectId } = await requireProject(db, params.project_id)
      const waitMs = windows.count(actor.id, CHECKS_PER_MINUTE, clock.monotonic())
      if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1000), projectId)
      const { tlsValidUntil, connectMs, ...found } = await checkTarget(target_url, signal)
      return {
        object: 'webhook_check' as const,
        ...found,
        addresses: [...found.addresses],
        tls: tlsValidUntil === null ? null : { valid_until: isoTime(tlsValidUntil) },
        connect_ms: connectMs,
      }
    },
  )
}

const tooMany = (seconds: number, projectId: string): Problem =>
  new Problem('too_many_requests', {
    message: `An operator may check ${CHECKS_PER_MINUTE} target URLs per minute.`,
    details: `Try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
    refusal: { step: 'too_many_requests', projectId },
  })
