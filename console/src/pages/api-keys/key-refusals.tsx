import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { countText } from '../../components/number-text.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { FixLink } from '../../refusal/fix-link.tsx'
import { sentenceText } from '../../refusal/sentence-text.ts'

type ApiKey = Schemas['ApiKey']
type Refusal = Schemas['Refusal']

interface Reason {
  readonly step: string
  readonly count: number
  readonly latest: Refusal
}

const MAX_READ = 100

/** Reasons with their newest example, the most frequent first. */
function byReason(refusals: readonly Refusal[]): Reason[] {
  return [...Map.groupBy(refusals, ({ step }) => step)]
    .map(([step, of]) => ({ step, count: of.length, latest: of[0]! }))
    .sort((a, b) => b.count - a.count)
}

const columnsFor = ({ id, project_id, permissions }: ApiKey): readonly Column<Reason>[] => [
  {
    header: 'Reason',
    cell: ({ step, latest }) => sentenceText(latest.steps.find((one) => !one.passed)?.says ?? step),
  },
  { header: 'Count', align: 'end', cell: ({ count }) => countText(count) },
  {
    header: 'Latest',
    cell: ({ latest }) => (
      <Link
        to="/projects/$projectId/access"
        params={{ projectId: latest.project_id ?? '' }}
        search={{ request: latest.request_id } as never}
      >
        <RelativeTime at={latest.at} />
      </Link>
    ),
  },
  {
    header: 'Fix',
    cell: ({ step, latest: { address, required_scope, key } }) => (
      <FixLink
        failure={{
          step,
          projectId: project_id,
          keyId: id,
          address,
          requiredScope: required_scope,
          permissions,
        }}
        errorKey={key}
      />
    ),
  },
]

/** Why requests with this key were refused. Repeats are sampled, so the counts are those of the sample. */
export function KeyRefusals({ apiKey }: { apiKey: ApiKey }) {
  const { id, project_id, usage_24h } = apiKey
  const refusals = useApi('/projects/{project_id}/refusals', {
    path: { project_id },
    query: { key: id, limit: MAX_READ },
  })
  return (
    <Card title="Refused in 24 h" aside={<span className="big">{countText(usage_24h.refused)}</span>} flush>
      <Loaded query={refusals}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="dim padded">No request with this key was refused in the last 24 hours.</p>
          ) : (
            <Rows
              label="Refusals by reason"
              rows={byReason(data)}
              columns={columnsFor(apiKey)}
              rowKey={({ step }) => step}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
