import { useState } from 'react'
import { api, read, type Schemas } from '../../api/client.ts'
import { useChange } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/notices.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { KeySnippets } from './key-snippets.tsx'

const GRACES = [
  ['86400', '24 hours'],
  ['3600', '1 hour'],
  ['600', '10 minutes'],
  ['0', 'None: the old secret stops working now'],
] as const

/** A grace period, then the new secret, once. The page then shows whether the old one is still used. */
export function RotateKey({ apiKey }: { apiKey: Schemas['ApiKey'] }) {
  const [{ change }, setSearch] = useSearchParams()
  const [isOpen, setOpen] = useState(change === 'secret')
  const [grace, setGrace] = useState<string>(GRACES[0][0])
  const [created, setCreated] = useState<string | null>(null)
  const path = { project_id: apiKey.project_id, key_id: apiKey.id }
  const rotate = useChange((grace_seconds: number) =>
    read(
      api.POST('/projects/{project_id}/api-keys/{key_id}/regenerate', {
        params: { path },
        body: { grace_seconds },
      }),
    ),
  )

  /** A link that opened the dialog can open it again. */
  function open(isWanted: boolean) {
    setOpen(isWanted)
    if (!isWanted && change) setSearch({ change: undefined })
  }

  async function confirm() {
    const key = await rotate.mutateAsync(Number(grace)).catch(() => undefined)
    if (!key) return
    // The answer holds the secret, so the mutation must not keep it.
    rotate.reset()
    setOpen(false)
    setCreated(key.app_token)
  }

  return (
    <>
      <Dialog
        title={`Rotate the secret of "${apiKey.name}"?`}
        isOpen={isOpen}
        onOpenChange={open}
        trigger={<Button>Rotate secret</Button>}
      >
        {(close) => (
          <>
            <SelectField
              label="The old secret still works for"
              value={grace}
              onChange={setGrace}
              choices={GRACES}
            />
            <p>
              {grace === '0'
                ? 'Clients with the old secret get no new tokens from now on. '
                : 'Give every client the new secret in this time. This page shows who still uses the old one. '}
              Active tokens stay valid.
            </p>
            {apiKey.previous_secret && (
              <p className="tone-warn">The grace period of the secret before this one ends now.</p>
            )}
            {rotate.error && <ErrorState error={rotate.error} />}
            <div className="dialog-actions">
              <Button onPress={close}>Cancel</Button>
              <Button look="primary" isPending={rotate.isPending} onPress={() => void confirm()}>
                Create new secret
              </Button>
            </div>
          </>
        )}
      </Dialog>
      <SecretOnce
        title={`New secret of "${apiKey.name}"`}
        secrets={created === null ? null : [['X-App-Token', created]]}
        onClose={() => setCreated(null)}
      >
        {created !== null && <KeySnippets apiKey={apiKey} appToken={created} />}
      </SecretOnce>
    </>
  )
}
