import { KeyRound } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { CodeBlock } from './code-block.tsx'
import { Dialog } from './dialog.tsx'

interface SecretOnceProps {
  readonly title: string
  /** Names and values, such as `X-App-Token`. Null closes the panel; the caller must then forget the value as well. */
  readonly secrets: readonly (readonly [name: string, value: string])[] | null
  readonly onClose: () => void
  /** Where to put it, how to use it. */
  readonly children?: ReactNode
}

/** Shows a secret once. Nothing but the button closes it, and afterwards the value is nowhere in the page. */
export const SecretOnce = ({ title, secrets, onClose, children }: SecretOnceProps) => (
  <Dialog title={title} isOpen={secrets !== null} isDismissable={false} isWide>
    {() => (
      <>
        <p className="secret-warning">
          <KeyRound size={15} aria-hidden /> Shown this once. Copy it now: it cannot be read again.
        </p>
        {(secrets ?? []).map(([name, value]) => (
          <div key={name} className="stack tight">
            <h3>{name}</h3>
            <CodeBlock text={value} label={`Copy ${name}`} />
          </div>
        ))}
        {children}
        <div className="dialog-actions">
          <Button look="primary" onPress={onClose}>
            I have copied it
          </Button>
        </div>
      </>
    )}
  </Dialog>
)
