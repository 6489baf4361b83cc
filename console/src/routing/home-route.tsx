import { createRoute, Navigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../components/button.tsx'
import { Loaded } from '../components/loaded.tsx'
import { EmptyState } from '../components/notices.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { CreateProject } from '../frame/create-project.tsx'
import { useProjects } from '../frame/project-switcher.tsx'
import { useRole } from '../session/session.tsx'
import { rootRoute } from './root-route.tsx'

/** Opens the overview of the first project. */
export const homeRoute = createRoute({ getParentRoute: () => rootRoute, path: '/', component: Home })

function Home() {
  const projects = useProjects()
  return (
    <Loaded query={projects}>
      {({ data: [first] }) =>
        first ? (
          <Navigate to="/projects/$projectId/overview" params={{ projectId: first.id }} replace />
        ) : (
          <NoProject />
        )
      }
    </Loaded>
  )
}

function NoProject() {
  const { can } = useRole()
  const [isCreating, setCreating] = useState(false)
  return (
    <>
      <PageHeader title="No project yet" />
      <EmptyState
        sentence={
          can('admin')
            ? 'A project holds API keys, tokens, customers and webhooks.'
            : 'There is no project that you may see. An admin can give you one.'
        }
        {...(can('admin') && {
          command: 'jeton project create --name <name>',
          action: (
            <Button look="primary" onPress={() => setCreating(true)}>
              New project
            </Button>
          ),
        })}
      />
      <CreateProject isOpen={isCreating} onOpenChange={setCreating} />
    </>
  )
}
