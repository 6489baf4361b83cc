import { type ReactNode, useSyncExternalStore } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

interface Receipt {
  readonly title: string
  readonly content: ReactNode
}

let receipt: Receipt | undefined
const listeners = new Set<() => void>()

/** Shows the result of a change until it is closed, even if the button that started it has disappeared by then. */
export function showReceipt(next: Receipt | undefined): void {
  receipt = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function ReceiptDialog() {
  const shown = useSyncExternalStore(subscribe, () => receipt)
  const close = () => showReceipt(undefined)
  return (
    <Dialog title={shown?.title ?? ''} isOpen={shown !== undefined} onOpenChange={close}>
      {() => (
        <>
          <div className="receipt" role="status">
            {shown?.content}
          </div>
          <div className="dialog-actions">
            <Button onPress={close} autoFocus>
              Close
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
