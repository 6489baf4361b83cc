import { Type } from 'typebox'
import { requireProject } from '../../features/projects/index.ts'
import { type App, forOperators, IdParam, isoTimeOrNull, NullableText } from '../../platform/http/index.ts'
import { type Attention, bySeverity } from './attention.ts'
import { type AttentionDeps, listAttention, listProjectAttention } from './list-attention.ts'

const Entry = Type.Object({
  object: Type.Literal('attention'),
  kind: Type.String({ description: 'The rule, for example `destination.failing`.' }),
  severity: Type.String({ description: '`error`, `warning` or `info`.' }),
  since: Type.Unsafe<string | null>({ ...NullableText, description: 'When it began; null if unknown.' }),
  subject: Type.Object(
    {
      type: Type.String({ description: 'Type of the resource.' }),
      id: Type.String({ description: 'Id of the resource.' }),
      name: Type.String({ description: 'Name for people.' }),
      project_id: Type.Unsafe<string | null>({
        ...NullableText,
        description: 'Its project; null for the service.',
      }),
    },
    { description: 'The resource that it is about.' },
  ),
  message: Type.String({ description: 'The problem, in one sentence.' }),
  fix: Type.Object(
    {
      command: Type.String({ description: 'A command or setting that fixes it or shows its cause.' }),
      call: Type.Unsafe<string | null>({
        ...NullableText,
        description: 'The same through the API; null if no call does it.',
      }),
    },
    { description: 'What to do.' },
  ),
})

const List = Type.Object({
  object: Type.Literal('list'),
  data_ref: Type.Literal('data'),
  data: Type.Array(Entry),
  total: Type.Integer(),
})

const answer = (found: readonly Attention[]) => ({
  object: 'list' as const,
  data_ref: 'data' as const,
  data: found
    .toSorted(bySeverity)
    .map((one) => ({ ...one, object: 'attention' as const, since: isoTimeOrNull(one.since) })),
  total: found.length,
})

export function attentionRoutes(app: App, deps: AttentionDeps): void {
  const tags = ['attention']

  app.get(
    '/management/v1/attention',
    {
      config: forOperators('viewer', 'all'),
      schema: {
        tags,
        operationId: 'attention.list',
        summary: 'List problems of the whole service, most severe first',
        description:
          'Each entry names a command that fixes the problem or shows its cause. The list is empty if there is no problem.',
        response: { 200: List },
        'x-columns': ['severity', 'kind', 'message'],
      },
    },
    async () => answer(await listAttention(deps)),
  )

  app.get(
    '/management/v1/projects/:project_id/attention',
    {
      config: forOperators('viewer'),
      schema: {
        tags,
        operationId: 'attention.list-of-project',
        summary: 'List problems of a project, most severe first',
        description: 'Each entry names a command that fixes the problem or shows its cause.',
        params: Type.Object({ project_id: IdParam }),
        response: { 200: List },
        'x-columns': ['severity', 'kind', 'message'],
      },
    },
    async (request) => {
      const project = await requireProject(deps.db, request.params.project_id)
      return answer(await listProjectAttention(deps, project.id))
    },
  )
}
