import { type ReactNode, type SyntheticEvent, useState } from 'react'
import { api, read } from '../api/client.ts'
import { useChange } from '../api/query.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { TextField } from './fields.tsx'

interface LimitKeyProps {
  readonly projectId: string
  readonly keyId: string
  readonly name: string
  readonly current: number | null
  readonly trigger: ReactNode
}

/** Limits the tokens of one key, so that it cannot use up the limit of the project. */
export function LimitKey({ projectId, keyId, name, current, trigger }: LimitKeyProps) {
  const [isOpen, setOpen] = useState(false)
  const [limit, setLimit] = useState(current?.toString() ?? '')
  const save = useChange((token_limit: number | null) =>
    read(
      api.PATCH('/projects/{project_id}/api-keys/{key_id}', {
        params: { path: { project_id: projectId, key_id: keyId } },
        body: { token_limit },
      }),
    ),
  )

  async function submit(event: SyntheticEvent) {
    event.preventDefault()
    const saved = await save.mutateAsync(limit === '' ? null : Number(limit)).catch(() => undefined)
    if (saved) setOpen(false)
  }

  return (
    <Dialog title={`Limit the tokens of "${name}"`} isOpen={isOpen} onOpenChange={setOpen} trigger={trigger}>
      {(close) => (
        <form className="stack" onSubmit={(event) => void submit(event)}>
          <p>Active tokens stay valid. New ones are refused while the key has this many.</p>
          <TextField
            label="Active tokens, at most"
            type="number"
            value={limit}
            onChange={setLimit}
            error={save.error?.message}
            hint="Empty: no limit of its own."
            autoFocus
          />
          <div className="dialog-actions">
            <Button onPress={close}>Cancel</Button>
            <Button type="submit" look="primary" isPending={save.isPending}>
              Save limit
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
