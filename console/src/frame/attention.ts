import { useApi } from '../api/query.ts'
import { useRole } from '../session/session.tsx'

const POLL_MS = 10_000

/** Problems that this operator may see: those of the whole service, or of the project. */
export function useAttention(projectId: string | undefined) {
  const { seesService } = useRole()
  const service = useApi('/attention', {}, { pollMs: POLL_MS, enabled: seesService })
  const project = useApi(
    '/projects/{project_id}/attention',
    { path: { project_id: projectId ?? '' } },
    { pollMs: POLL_MS, enabled: !seesService && projectId !== undefined },
  )
  return seesService ? service : project
}
