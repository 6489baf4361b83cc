import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { useProjectId } from '../../routing/project-route.tsx'

type Key = Schemas['ApiKey']
type Scope = Schemas['ScopeDescription']

const MAX_KEYS = 100
const WILDCARDS: Readonly<Record<string, string>> = { server: 'api', client: 'client_api' }

const opens = ({ permissions }: Key, { name, side }: Scope): boolean =>
  permissions.some((held) => held === name || held === WILDCARDS[side])

function Keys({ keys, scope }: { keys: readonly Key[]; scope: Scope }) {
  const found = keys.filter((key) => opens(key, scope))
  if (found.length === 0) return <span className="dim">none</span>
  return (
    <span className="row">
      {found.map(({ id, name, project_id }) => (
        <Link
          key={id}
          to="/projects/$projectId/api-keys/$keyId"
          params={{ projectId: project_id, keyId: id }}
        >
          {name}
        </Link>
      ))}
    </span>
  )
}

const SIDES = [
  { side: 'server', title: 'Scopes below /v1' },
  { side: 'client', title: 'Scopes below /client/v1' },
] as const

/** Every scope, and the active keys whose permissions cover it. */
export function ScopesCard() {
  const project_id = useProjectId()
  const scopes = useApi('/scopes')
  const query = { limit: MAX_KEYS, state: 'active' } as const
  const keys = useApi('/projects/{project_id}/api-keys', { path: { project_id }, query })
  const columns: readonly Column<Scope>[] = [
    {
      header: 'Scope',
      cell: ({ name, path }) => (
        <code className="word" title={`Opens ${path}`}>
          {name}
        </code>
      ),
    },
    { header: 'Keys that open it', cell: (scope) => <Keys keys={keys.data?.data ?? []} scope={scope} /> },
  ]
  return (
    <>
      <div className="columns scopes">
        {SIDES.map(({ side, title }) => (
          <Card key={side} title={title} aside={side === 'server' && <ScopeList />} flush>
            <Loaded query={scopes} lines={8}>
              {({ data }) => (
                <Rows
                  label={title}
                  rows={data.filter((scope) => scope.side === side)}
                  columns={columns}
                  rowKey={({ name }) => name}
                />
              )}
            </Loaded>
          </Card>
        ))}
      </div>
      {(keys.data?.total ?? 0) > MAX_KEYS && (
        <p className="dim">Only the newest {MAX_KEYS} active keys are shown.</p>
      )}
    </>
  )
}

const ScopeList = () => <CopyButton text="jeton scope list" label="Copy as CLI" look="quiet" />
