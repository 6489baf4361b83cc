import { Plus } from 'lucide-react'
import { type SyntheticEvent, useState } from 'react'
import { ApiProblem, api, read, type Schemas } from '../../api/client.ts'
import { useChange } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { ErrorState } from '../../components/notices.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { AddressEditor, entriesOf } from './address-editor.tsx'
import { KeySnippets } from './key-snippets.tsx'
import { PermissionPicker } from './permission-picker.tsx'

type NewKey = Schemas['ApiKeyWithSecret']

/** Name, permissions, addresses; then the secret, once. */
export function CreateKey() {
  const [isOpen, setOpen] = useState(false)
  const [created, setCreated] = useState<NewKey | null>(null)
  return (
    <>
      <Dialog
        title="New API key"
        isOpen={isOpen}
        onOpenChange={setOpen}
        isWide
        trigger={
          <Button look="primary">
            <Plus size={14} aria-hidden /> New key
          </Button>
        }
      >
        {(close) => (
          <KeyForm
            onCancel={close}
            onCreated={(key) => {
              close()
              setCreated(key)
            }}
          />
        )}
      </Dialog>
      <SecretOnce
        title={`API key "${created?.name}"`}
        secrets={
          created && [
            ['X-App-Id', created.app_id],
            ['X-App-Token', created.app_token],
          ]
        }
        onClose={() => setCreated(null)}
      >
        {created && <KeySnippets apiKey={created} appToken={created.app_token} />}
      </SecretOnce>
    </>
  )
}

function KeyForm({ onCancel, onCreated }: { onCancel: () => void; onCreated: (key: NewKey) => void }) {
  const project_id = useProjectId()
  const [name, setName] = useState('')
  const [permissions, setPermissions] = useState<string[]>([])
  const [addresses, setAddresses] = useState('')
  const [isMissing, setMissing] = useState(false)
  const create = useChange((body: { name: string; permissions: string[]; ip_whitelist: string[] }) =>
    read(
      api.POST('/projects/{project_id}/api-keys', { params: { path: { project_id } }, body: body as never }),
    ),
  )

  async function submit(event: SyntheticEvent) {
    event.preventDefault()
    setMissing(permissions.length === 0)
    if (permissions.length === 0) return
    const body = { name: name.trim(), permissions, ip_whitelist: entriesOf(addresses) }
    const key = await create.mutateAsync(body).catch(() => undefined)
    if (!key) return
    // The answer holds the secret, so the mutation must not keep it.
    create.reset()
    onCreated(key)
  }

  const nameError =
    create.error instanceof ApiProblem && create.error.message.startsWith('name')
      ? create.error.message
      : undefined
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        error={nameError}
        isRequired
        autoFocus
        hint="The program that uses it, for example checkout."
      />
      <div className="stack tight">
        <h3>Permissions</h3>
        <PermissionPicker chosen={permissions} onChange={setPermissions} />
        {isMissing && permissions.length === 0 && (
          <p className="tone-bad" role="alert">
            Choose at least one permission.
          </p>
        )}
      </div>
      <AddressEditor text={addresses} onChange={setAddresses} />
      {create.error && !nameError && <ErrorState error={create.error} />}
      <div className="dialog-actions">
        <Button onPress={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" isPending={create.isPending}>
          Create key
        </Button>
      </div>
    </form>
  )
}
