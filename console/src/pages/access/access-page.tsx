import './access.css'
import { useApi } from '../../api/query.ts'
import { cliText, type ShownRequest, shellWord } from '../../api/request-text.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { CheckForm } from './check-form.tsx'
import { ExplainedRefusal } from './explained-refusal.tsx'
import { ProxyConfigurations } from './proxy-configurations.tsx'
import { Refusals } from './refusals.tsx'
import { ScopesCard } from './scopes-card.tsx'

/** Explains refusals, checks calls, and shows which keys open which paths. */
export function AccessPage() {
  const projectId = useProjectId()
  const [{ request, key, path, address }] = useSearchParams()
  const check = key && path && `check ${key} GET ${shellWord(path)} --project ${projectId}`
  const cli = request
    ? `jeton explain ${shellWord(request)}`
    : check
      ? cliText(check, { from: address })
      : `jeton refusal list --project ${projectId}`
  const found = useApi(
    '/projects/{project_id}/api-keys/{key_id}',
    { path: { project_id: projectId, key_id: key ?? '' } },
    { enabled: key !== undefined },
  )
  const shown: ShownRequest = request
    ? { path: `/refusals/${encodeURIComponent(request)}` }
    : check && found.data
      ? { method: 'POST', path: '/access-checks', body: { app_id: found.data.app_id, path, address } }
      : { path: `/projects/${projectId}/refusals` }
  return (
    <>
      <PageHeader
        title="Access"
        subtitle="Whether a call is allowed, and why one was refused."
        cli={cli}
        request={shown}
      />
      {request && <ExplainedRefusal requestId={request} />}
      <CheckForm />
      <Refusals />
      <ScopesCard />
      <ProxyConfigurations />
    </>
  )
}
