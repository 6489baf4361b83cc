import { getRouteApi } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useRole } from '../../session/session.tsx'
import { KeyActions } from './key-actions.tsx'
import { KeyFacts, PreviousSecret } from './key-facts.tsx'
import { KeyHistory } from './key-history.tsx'
import { KeyRefusals } from './key-refusals.tsx'
import { KeySettings } from './key-settings.tsx'
import { KeySnippets } from './key-snippets.tsx'
import { KeyState } from './key-state.tsx'
import { KeyTokens } from './key-tokens.tsx'
import { KeyUsage } from './key-usage.tsx'

const route = getRouteApi('/projects/$projectId/api-keys/$keyId')
const POLL_MS = 5_000

export function ApiKeyPage() {
  const { projectId, keyId } = route.useParams()
  const path = { project_id: projectId, key_id: keyId }
  const key = useApi('/projects/{project_id}/api-keys/{key_id}', { path }, { pollMs: POLL_MS })
  return (
    <Loaded query={key} lines={8}>
      {(apiKey) => <KeyPage apiKey={apiKey} />}
    </Loaded>
  )
}

function KeyPage({ apiKey }: { apiKey: Schemas['ApiKey'] }) {
  const { can } = useRole()
  const { change, add } = route.useSearch()
  const { id, name, project_id, state } = apiKey
  return (
    <>
      <PageHeader
        title={
          <span className="row">
            {name} <KeyState state={state} />
          </span>
        }
        tabTitle={name}
        cli={cliText(`key show ${id}`, { project: project_id })}
        request={{ path: `/projects/${project_id}/api-keys/${id}` }}
        actions={can('editor') && state !== 'deleted' && <KeyActions key={change} apiKey={apiKey} />}
      />
      <PreviousSecret apiKey={apiKey} />
      <div className="columns">
        <Card title="Key">
          <KeyFacts apiKey={apiKey} />
        </Card>
        <Card title="Use it">
          <KeySnippets apiKey={apiKey} />
        </Card>
        <KeyUsage apiKey={apiKey} />
        <KeyRefusals apiKey={apiKey} />
      </div>
      {can('editor') && state !== 'deleted' && (
        <KeySettings key={`${apiKey.updated_at} ${change} ${add}`} apiKey={apiKey} />
      )}
      <KeyTokens apiKey={apiKey} />
      <KeyHistory apiKey={apiKey} />
    </>
  )
}
