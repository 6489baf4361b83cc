import { useState } from 'react'
import { api, read, type Schemas } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { plural } from '../../components/number-text.ts'
import { Propagation, WAIT_MS } from './propagation.tsx'

export function BlockKey({ apiKey }: { apiKey: Schemas['ApiKey'] }) {
  const [reason, setReason] = useState('')
  const { id, name, project_id, active_tokens, recent_addresses, usage_24h } = apiKey
  return (
    <ConfirmDialog
      trigger={<Button look="danger">Block</Button>}
      title={`Block "${name}"?`}
      consequence={
        <>
          <p>
            {plural(active_tokens, 'active token')} will stop working for good, and the key gets no new ones
            until it is unblocked.
          </p>
          {usage_24h.requests > 0 && (
            <p className="dim">
              In the last 24 h it made {plural(usage_24h.requests, 'request')} from{' '}
              {plural(recent_addresses.length, 'address', 'addresses')}.
            </p>
          )}
          <TextField label="Reason, for the audit log" value={reason} onChange={setReason} />
        </>
      }
      confirmLabel="Block key"
      isDangerous
      onConfirm={() =>
        read(
          api.POST('/projects/{project_id}/api-keys/{key_id}/block', {
            params: { path: { project_id, key_id: id }, query: { wait_ms: WAIT_MS } },
            body: reason.trim() === '' ? {} : { reason: reason.trim() },
          }),
        )
      }
      receipt={({ propagation }) => <Propagation done="Refused" propagation={propagation} />}
    />
  )
}
