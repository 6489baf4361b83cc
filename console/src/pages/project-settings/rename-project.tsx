import './project-settings.css'
import { type SyntheticEvent, useState } from 'react'
import { ApiProblem, api, read, type Schemas } from '../../api/client.ts'
import { useChange } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { TextField } from '../../components/fields.tsx'

export function RenameProject({ project: { id, name: current } }: { project: Schemas['Project'] }) {
  const [name, setName] = useState(current)
  const rename = useChange((given: string) =>
    read(
      api.PATCH('/projects/{project_id}', { params: { path: { project_id: id } }, body: { name: given } }),
    ),
  )

  function submit(event: SyntheticEvent) {
    event.preventDefault()
    rename.mutate(name.trim())
  }

  const problem = rename.error instanceof ApiProblem ? rename.error.message : rename.error?.message
  return (
    <Card title="Rename">
      <form onSubmit={submit} className="rename-project">
        <TextField
          label="Name"
          value={name}
          onChange={setName}
          error={problem}
          hint="Keys, tokens and webhooks work on. Commands that use the name must use the new one."
          isRequired
        />
        <Button type="submit" isPending={rename.isPending} isDisabled={['', current].includes(name.trim())}>
          Rename
        </Button>
      </form>
    </Card>
  )
}
