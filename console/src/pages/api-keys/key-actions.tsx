import { api, read, type Schemas } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { plural } from '../../components/number-text.ts'
import { BlockKey } from './block-key.tsx'
import { Propagation, WAIT_MS } from './propagation.tsx'
import { RotateKey } from './rotate-key.tsx'

type ApiKey = Schemas['ApiKey']

export function KeyActions({ apiKey }: { apiKey: ApiKey }) {
  const params = { path: { project_id: apiKey.project_id, key_id: apiKey.id }, query: { wait_ms: WAIT_MS } }
  return (
    <>
      <RotateKey apiKey={apiKey} />
      <ConfirmDialog
        trigger={<Button isDisabled={apiKey.active_tokens === 0}>Revoke tokens</Button>}
        title={`Revoke the tokens of "${apiKey.name}"?`}
        consequence={
          <p>
            {plural(apiKey.active_tokens, 'active token')} will stop working. The key stays active, and its
            clients can get new tokens at once.
          </p>
        }
        confirmLabel="Revoke tokens"
        isDangerous
        onConfirm={() => read(api.POST('/projects/{project_id}/api-keys/{key_id}/revoke-tokens', { params }))}
        receipt={({ propagation }) => <Propagation done="Refused" propagation={propagation} />}
      />
      {apiKey.state === 'blocked' ? (
        <ConfirmDialog
          trigger={<Button look="primary">Unblock</Button>}
          title={`Unblock "${apiKey.name}"?`}
          consequence={<p>The key can get new tokens again. Tokens from before the block stay revoked.</p>}
          confirmLabel="Unblock"
          onConfirm={() => read(api.POST('/projects/{project_id}/api-keys/{key_id}/unblock', { params }))}
          receipt={({ propagation }) => <Propagation done="Accepted" propagation={propagation} />}
        />
      ) : (
        <BlockKey apiKey={apiKey} />
      )}
      <ConfirmDialog
        trigger={<Button look="danger">Delete</Button>}
        title={`Delete API key "${apiKey.name}"?`}
        consequence={
          <>
            <p>
              {plural(apiKey.active_tokens, 'active token')} will stop working immediately, and its clients
              get no new ones.
            </p>
            <p>This cannot be undone. To stop a key for a while, block it instead.</p>
          </>
        }
        confirmLabel="Delete key"
        isDangerous
        onConfirm={() =>
          read(api.DELETE('/projects/{project_id}/api-keys/{key_id}', { params: { path: params.path } }))
        }
      />
    </>
  )
}
