import { useNavigate } from '@tanstack/react-router'
import { ChevronDown, Plus } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../api/query.ts'
import { MenuButton, type MenuItem } from '../components/menu-button.tsx'
import { useRole } from '../session/session.tsx'
import { CreateProject } from './create-project.tsx'

const MAX_PROJECTS = 100
const CREATE: MenuItem = {
  id: 'create',
  title: (
    <>
      <Plus size={14} aria-hidden /> New project
    </>
  ),
}

export const useProjects = () => useApi('/projects', { query: { limit: MAX_PROJECTS } })

export function ProjectSwitcher({ projectId }: { projectId: string | undefined }) {
  const navigate = useNavigate()
  const { can } = useRole()
  const projects = useProjects().data?.data ?? []
  const [isCreating, setCreating] = useState(false)
  const current = projects.find(({ id }) => id === projectId)
  const open = (id: string) =>
    void navigate({ to: '/projects/$projectId/overview', params: { projectId: id } })
  const items = projects.map(({ id, name }) => ({ id, title: name, isChecked: id === projectId }))
  return (
    <>
      <MenuButton
        label={`Project: ${current?.name ?? 'none'}`}
        groups={can('admin') ? [items, [CREATE]] : [items]}
        onAction={(id) => (id === CREATE.id ? setCreating(true) : open(id))}
      >
        <span className="ellipsis">{current?.name ?? 'Choose a project'}</span>
        <ChevronDown size={14} aria-hidden />
      </MenuButton>
      <CreateProject isOpen={isCreating} onOpenChange={setCreating} />
    </>
  )
}
