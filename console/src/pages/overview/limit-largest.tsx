import { useApi } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { LimitKey } from '../../components/limit-key.tsx'

/** Limits the key that holds most of the tokens of a project. */
export function LimitLargest({ projectId }: { projectId: string }) {
  const usage = useApi('/projects/{project_id}/token-usage', { path: { project_id: projectId } })
  const [largest] = usage.data?.keys.toSorted((a, b) => b.active_tokens - a.active_tokens) ?? []
  if (!largest) return null
  const name = largest.name || largest.key_id
  return (
    <LimitKey
      projectId={projectId}
      keyId={largest.key_id}
      name={name}
      current={largest.token_limit}
      trigger={<Button>Limit {name}</Button>}
    />
  )
}
