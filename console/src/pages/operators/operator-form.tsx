import { type SyntheticEvent, useState } from 'react'
import { api, read, type Schemas } from '../../api/client.ts'
import { useChange } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { ErrorState } from '../../components/notices.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { useProjects } from '../../frame/project-switcher.tsx'
import type { Role } from '../../session/session.tsx'

type Operator = Schemas['Operator']
export type OperatorWithToken = Schemas['OperatorWithSecret']

interface Fields {
  readonly name: string
  readonly role: Role
  /** Null for all projects. */
  readonly projects: string[] | null
}

const ROLES: readonly (readonly [Role, string])[] = [
  ['viewer', 'viewer: reads'],
  ['editor', 'editor: also changes keys, tokens, webhooks and deliveries'],
  ['admin', 'admin: everything, in every project'],
]

const START: Fields = { name: '', role: 'viewer', projects: null }

interface FormProps {
  readonly start: Fields
  readonly submitLabel: string
  readonly onSubmit: (fields: Fields) => Promise<unknown>
  readonly onCancel: () => void
}

function OperatorForm({ start, submitLabel, onSubmit, onCancel }: FormProps) {
  const [fields, setFields] = useState(start)
  const change = useChange(onSubmit)
  const set = (changes: Partial<Fields>) => setFields({ ...fields, ...changes })
  const isAdmin = fields.role === 'admin'

  function submit(event: SyntheticEvent) {
    event.preventDefault()
    const { name, role, projects } = fields
    change.mutate({ name: name.trim(), role, projects: isAdmin ? null : projects })
  }

  return (
    <form onSubmit={submit} className="stack">
      <TextField label="Name" value={fields.name} onChange={(name) => set({ name })} isRequired autoFocus />
      <SelectField
        label="Role"
        value={fields.role}
        onChange={(role) => set({ role: role as Role })}
        choices={ROLES}
      />
      {!isAdmin && <ProjectChoice value={fields.projects} onChange={(projects) => set({ projects })} />}
      {change.error && <ErrorState error={change.error} />}
      <div className="dialog-actions">
        <Button onPress={onCancel}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          isPending={change.isPending}
          isDisabled={!isAdmin && fields.projects?.length === 0}
        >
          {submitLabel}
        </Button>
      </div>
    </form>
  )
}

interface ChoiceProps {
  readonly value: string[] | null
  readonly onChange: (value: string[] | null) => void
}

function ProjectChoice({ value, onChange }: ChoiceProps) {
  const projects = useProjects().data?.data ?? []
  const toggle = (id: string, isChosen: boolean) =>
    onChange(isChosen ? [...(value ?? []), id] : (value ?? []).filter((one) => one !== id))
  return (
    <>
      <SelectField
        label="Projects"
        value={value === null ? 'all' : 'some'}
        onChange={(choice) => onChange(choice === 'all' ? null : [])}
        choices={[
          ['all', 'all, also those created later'],
          ['some', 'only the chosen ones'],
        ]}
      />
      {value !== null && (
        <fieldset className="checks operator-projects">
          <legend className="visually-hidden">Chosen projects</legend>
          {projects.map(({ id, name }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={value.includes(id)}
                onChange={({ target }) => toggle(id, target.checked)}
              />
              {name}
            </label>
          ))}
        </fieldset>
      )}
    </>
  )
}

export function CreateOperator({ onToken }: { onToken: (operator: OperatorWithToken) => void }) {
  const [isOpen, setOpen] = useState(false)
  const create = async (body: Fields) => {
    const operator = await read(api.POST('/operators', { body }))
    setOpen(false)
    onToken(operator)
  }
  return (
    <Dialog
      title="New operator"
      trigger={<Button look="primary">New operator</Button>}
      isOpen={isOpen}
      onOpenChange={setOpen}
    >
      {(close) => <OperatorForm start={START} submitLabel="Create" onSubmit={create} onCancel={close} />}
    </Dialog>
  )
}

export function EditOperator({ operator }: { operator: Operator }) {
  const [isOpen, setOpen] = useState(false)
  const update = async (body: Fields) => {
    const params = { path: { operator_id: operator.id } }
    await read(api.PATCH('/operators/{operator_id}', { params, body }))
    setOpen(false)
  }
  return (
    <Dialog
      title={`Change ${operator.name}`}
      trigger={
        <Button look="quiet" aria-label={`Change ${operator.name}`}>
          Change
        </Button>
      }
      isOpen={isOpen}
      onOpenChange={setOpen}
    >
      {(close) => <OperatorForm start={operator} submitLabel="Save" onSubmit={update} onCancel={close} />}
    </Dialog>
  )
}
