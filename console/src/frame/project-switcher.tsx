import { useNavigate } from '@tanstack/react-router'
import { ChevronDown, Plus } from 'lucide-react'
import { useState } from 'react'
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components'
import { useApi } from '../api/query.ts'
import { Button } from '../components/button.tsx'
import { useRole } from '../session/session.tsx'
import { CreateProject } from './create-project.tsx'

const MAX_PROJECTS = 100

export const useProjects = () => useApi('/projects', { query: { limit: MAX_PROJECTS } })

export function ProjectSwitcher({ projectId }: { projectId: string | undefined }) {
  const navigate = useNavigate()
  const { can } = useRole()
  const projects = useProjects().data?.data ?? []
  const [isCreating, setCreating] = useState(false)
  const current = projects.find(({ id }) => id === projectId)
  const open = (id: string) =>
    void navigate({ to: '/projects/$projectId/overview', params: { projectId: id } })
  return (
    <>
      <MenuTrigger>
        <Button aria-label={`Project: ${current?.name ?? 'Choose a project'}`}>
          <span className="ellipsis">{current?.name ?? 'Choose a project'}</span>
          <ChevronDown size={14} aria-hidden />
        </Button>
        <Popover className="popover">
          <Menu
            className="menu"
            selectionMode="single"
            selectedKeys={projectId ? [projectId] : []}
            onAction={(key) => (key === 'create' ? setCreating(true) : open(String(key)))}
          >
            {projects.map(({ id, name }) => (
              <MenuItem key={id} id={id} textValue={name}>
                {name}
              </MenuItem>
            ))}
            {can('admin') && (
              <MenuItem id="create" textValue="New project">
                <Plus size={14} aria-hidden /> New project
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
      <CreateProject isOpen={isCreating} onOpenChange={setCreating} />
    </>
  )
}
