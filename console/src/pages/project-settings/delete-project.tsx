import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type SyntheticEvent, useState } from 'react'
import { api, read, type Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { ErrorState } from '../../components/notices.tsx'
import { plural } from '../../components/number-text.ts'

type Project = Schemas['Project']

const NONE = { limit: 1 } as const

/** Lists everything that stops working. Counts that are still being read are left out. */
function Consequences({ project: { id, active_tokens } }: { project: Project }) {
  const path = { project_id: id }
  const keys = useApi('/projects/{project_id}/api-keys', { path, query: NONE }).data?.total
  const webhooks = useApi('/projects/{project_id}/webhooks', { path, query: NONE }).data?.total
  const distributions = useApi('/projects/{project_id}/distributions', { path, query: NONE }).data?.total
  return (
    <ul className="consequences">
      {keys !== undefined && (
        <li>
          {plural(keys, 'API key')} and {plural(active_tokens, 'active token')} stop working at once.
        </li>
      )}
      {webhooks !== undefined && distributions !== undefined && (
        <li>
          {plural(webhooks, 'webhook')} and {plural(distributions, 'distribution')} get nothing more, also no
          retries.
        </li>
      )}
      <li>Customers, cards, points, events and deliveries of the project are removed.</li>
      <li>The audit log stays. There is no undo: only a backup brings the project back.</li>
    </ul>
  )
}

export const DeleteProject = ({ project }: { project: Project }) => (
  <Card title="Delete">
    <div className="row apart">
      <p className="dim">Everything of this project stops working and is removed.</p>
      <Dialog
        title={`Delete ${project.name}?`}
        trigger={<Button look="danger">Delete this project</Button>}
        isWide
      >
        {(close) => <DeleteForm project={project} onCancel={close} />}
      </Dialog>
    </div>
  </Card>
)

function DeleteForm({ project, onCancel }: { project: Project; onCancel: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const end = useMutation({
    networkMode: 'always',
    mutationFn: (name: string) =>
      read(
        api.DELETE('/projects/{project_id}', {
          params: { path: { project_id: project.id } },
          body: { name },
        }),
      ),
    async onSuccess() {
      // The start page opens the first project of the list, which must not be this one.
      await client.refetchQueries({ queryKey: ['/projects'] })
      await navigate({ to: '/' })
    },
  })

  function submit(event: SyntheticEvent) {
    event.preventDefault()
    if (typed === project.name) end.mutate(typed)
  }

  return (
    <form onSubmit={submit} className="stack">
      <Consequences project={project} />
      <TextField
        label={`Type the name of the project: ${project.name}`}
        value={typed}
        onChange={setTyped}
        autoComplete="off"
        autoFocus
      />
      {end.error && <ErrorState error={end.error} />}
      <div className="dialog-actions">
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" look="danger" isDisabled={typed !== project.name} isPending={end.isPending}>
          Delete the project
        </Button>
      </div>
    </form>
  )
}
