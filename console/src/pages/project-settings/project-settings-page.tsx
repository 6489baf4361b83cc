import { useApi } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Card } from '../../components/card.tsx'
import { Facts } from '../../components/facts.tsx'
import { Id } from '../../components/id.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { countText } from '../../components/number-text.ts'
import { PageHeader } from '../../components/page-header.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { useRole } from '../../session/session.tsx'
import { DeleteProject } from './delete-project.tsx'
import { RenameProject } from './rename-project.tsx'

/** Facts of the project, and for admins its name and its end. */
export function ProjectSettingsPage() {
  const id = useProjectId()
  const isAdmin = useRole().can('admin')
  const project = useApi('/projects/{project_id}', { path: { project_id: id } })
  return (
    <>
      <PageHeader
        title="Settings"
        subtitle={project.data?.name}
        cli={cliText(`project show ${id}`)}
        request={{ path: `/projects/${id}` }}
      />
      <Loaded query={project}>
        {(found) => (
          <>
            <Card title="Project">
              <Facts
                facts={[
                  ['Name', found.name],
                  ['Id', <Id key="id" value={found.id} />],
                  ['Active tokens', `${countText(found.active_tokens)} of ${countText(found.token_limit)}`],
                  ['Created', <RelativeTime key="created" at={found.created_at} />],
                  ['Changed', <RelativeTime key="updated" at={found.updated_at} />],
                ]}
              />
            </Card>
            {isAdmin ? (
              <>
                <RenameProject key={found.name} project={found} />
                <DeleteProject project={found} />
              </>
            ) : (
              <p className="dim">Only admins rename and delete projects.</p>
            )}
          </>
        )}
      </Loaded>
    </>
  )
}
