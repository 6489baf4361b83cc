import { type ReactNode, useState } from 'react'
import { useChange } from '../api/query.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { ErrorState } from './notices.tsx'
import { showReceipt } from './receipt-dialog.tsx'

interface ConfirmDialogProps<Result> {
  /** The button that opens it. */
  readonly trigger: ReactNode
  readonly title: string
  /** The consequence, before it happens: "213 active tokens stop working." */
  readonly consequence: ReactNode
  readonly confirmLabel: string
  readonly onConfirm: () => Promise<Result>
  /** The result: "Refused by 3 of 3 processes after 0.7 s." Without one, the dialog closes. */
  readonly receipt?: (result: Result) => ReactNode
  /** For what cannot be undone. */
  readonly isDangerous?: boolean
}

/** The consequence before, the receipt after. */
export function ConfirmDialog<Result>(props: ConfirmDialogProps<Result>) {
  const { trigger, title, consequence, confirmLabel, onConfirm, receipt, isDangerous = false } = props
  const [isOpen, setOpen] = useState(false)
  const change = useChange(onConfirm)
  const open = (next: boolean) => {
    setOpen(next)
    if (next) change.reset()
  }
  const confirm = async () => {
    const done = await change.mutateAsync(undefined as never).then(
      (result) => ({ result }),
      () => undefined,
    )
    if (!done) return
    setOpen(false)
    if (receipt) showReceipt({ title, content: receipt(done.result) })
  }
  return (
    <Dialog title={title} trigger={trigger} isOpen={isOpen} onOpenChange={open}>
      {(close) => (
        <>
          <div className="stack tight">{consequence}</div>
          {change.error && <ErrorState error={change.error} />}
          <div className="dialog-actions">
            <Button onPress={close}>Cancel</Button>
            <Button
              look={isDangerous ? 'danger' : 'primary'}
              isPending={change.isPending}
              onPress={() => void confirm()}
            >
              {confirmLabel}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
