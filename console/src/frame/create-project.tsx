import { useNavigate } from '@tanstack/react-router'
import { type SyntheticEvent, useState } from 'react'
import { ApiProblem, api, read } from '../api/client.ts'
import { useChange } from '../api/query.ts'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { TextField } from '../components/fields.tsx'

interface CreateProjectProps {
  readonly isOpen: boolean
  readonly onOpenChange: (isOpen: boolean) => void
}

export function CreateProject({ isOpen, onOpenChange }: CreateProjectProps) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const create = useChange((given: string) => read(api.POST('/projects', { body: { name: given } })))

  async function submit(event: SyntheticEvent) {
    event.preventDefault()
    const project = await create.mutateAsync(name.trim()).catch(() => undefined)
    if (!project) return
    onOpenChange(false)
    setName('')
    await navigate({ to: '/projects/$projectId/overview', params: { projectId: project.id } })
  }

  const error = create.error instanceof ApiProblem ? create.error.message : create.error?.message
  return (
    <Dialog title="New project" isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => (
        <form onSubmit={(event) => void submit(event)} className="stack">
          <TextField label="Name" value={name} onChange={setName} error={error} isRequired autoFocus />
          <div className="dialog-actions">
            <Button onPress={close}>Cancel</Button>
            <Button type="submit" look="primary" isPending={create.isPending}>
              Create
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
