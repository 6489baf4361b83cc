import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, read, type Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { ActiveTokens } from '../../components/active-tokens.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { LimitKey } from '../../components/limit-key.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { EmptyState } from '../../components/notices.tsx'
import { countText, plural } from '../../components/number-text.ts'
import { useMinutesAgo } from '../../components/time-range.ts'
import { durationText } from '../../components/time-text.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useRole } from '../../session/session.tsx'

type TokenUsage = Schemas['TokenUsage']
type Holder = TokenUsage['keys'][number]

const LIFETIME_MINUTES = 15
/** Below this, a key asks for about one token per call. */
const MIN_USES = 2

/** Issued tokens and calls of each key in the lifetime of a token. */
function useRecent(project_id: string) {
  const from = useMinutesAgo(LIFETIME_MINUTES)
  const query = { by: 'key', step: 'minute', from } as const
  const issued = useApi('/projects/{project_id}/usage', {
    path: { project_id },
    query: { ...query, metric: 'tokens_issued' },
  })
  const calls = useApi('/projects/{project_id}/usage', {
    path: { project_id },
    query: { ...query, metric: 'calls' },
  })
  const totalOf = (usage: Schemas['Usage'] | undefined, id: string) =>
    usage?.series.find(({ key }) => key === id)?.total ?? 0
  return (id: string) => ({ issued: totalOf(issued.data, id), calls: totalOf(calls.data, id) })
}

function Uses({ issued, calls }: { issued: number; calls: number }) {
  if (issued === 0 || calls === 0) return <span className="dim">–</span>
  const uses = calls / issued
  const shown = `${uses < 10 ? uses.toFixed(1) : countText(Math.round(uses))}×`
  return uses < MIN_USES ? (
    <span
      className="tone-warn"
      title="It asks for about one token per call. Tokens should be reused until they expire."
    >
      {shown}
    </span>
  ) : (
    shown
  )
}

function columns(
  project_id: string,
  recentOf: ReturnType<typeof useRecent>,
  canChange: boolean,
): readonly Column<Holder>[] {
  return [
    {
      header: 'Key',
      cell: ({ key_id, name }) => (
        <Link to="/projects/$projectId/api-keys/$keyId" params={{ projectId: project_id, keyId: key_id }}>
          {name || key_id}
        </Link>
      ),
    },
    {
      header: 'Active',
      align: 'end',
      cell: ({ active_tokens, token_limit }) => <ActiveTokens active={active_tokens} limit={token_limit} />,
    },
    {
      header: 'Limit',
      align: 'end',
      cell: ({ token_limit }) =>
        token_limit === null ? <span className="dim">none</span> : countText(token_limit),
    },
    { header: 'Issued, 15 min', align: 'end', cell: ({ key_id }) => countText(recentOf(key_id).issued) },
    { header: 'Uses per token', align: 'end', cell: ({ key_id }) => <Uses {...recentOf(key_id)} /> },
    {
      header: 'Next expires',
      align: 'end',
      cell: ({ next_free_in }) => `in ${durationText(next_free_in * 1000)}`,
    },
    ...(canChange
      ? [
          {
            header: 'Actions',
            align: 'end' as const,
            isAction: true,
            cell: (holder: Holder) => <Actions {...holder} />,
          },
        ]
      : []),
  ]
}

function Actions({ key_id, name, active_tokens, token_limit }: Holder) {
  const project_id = useProjectId()
  const params = { path: { project_id, key_id } }
  return (
    <span className="row end-row">
      <LimitKey
        projectId={project_id}
        keyId={key_id}
        name={name}
        current={token_limit}
        trigger={<Button look="quiet">Limit</Button>}
      />
      <ConfirmDialog
        trigger={<Button look="quiet">Revoke</Button>}
        title={`Revoke the tokens of "${name}"?`}
        consequence={
          <p>
            {plural(active_tokens, 'active token')} will stop working. Its clients can get new ones at once.
          </p>
        }
        confirmLabel="Revoke tokens"
        isDangerous
        onConfirm={() => read(api.POST('/projects/{project_id}/api-keys/{key_id}/revoke-tokens', { params }))}
      />
    </span>
  )
}

/** The keys that hold the tokens now, and whether they reuse them. */
export function TokensByKey({ usage }: { usage: UseQueryResult<TokenUsage> }) {
  const project_id = useProjectId()
  const recentOf = useRecent(project_id)
  const { can } = useRole()
  return (
    <Card title="By key" flush>
      <Loaded query={usage}>
        {({ keys }) =>
          keys.length === 0 ? (
            <EmptyState sentence="No token is active." command="jeton token issue" />
          ) : (
            <Rows
              label="Tokens by key"
              rows={keys}
              columns={columns(project_id, recentOf, can('editor'))}
              rowKey={({ key_id }) => key_id}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
