import type { ReactNode } from 'react'
import { Dialog as AriaDialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components'

interface DialogProps {
  readonly title: string
  /** The button that opens it. Without one, `isOpen` decides. */
  readonly trigger?: ReactNode
  readonly isOpen?: boolean
  readonly onOpenChange?: (isOpen: boolean) => void
  /** False where closing by Escape or a click outside would lose something. */
  readonly isDismissable?: boolean
  readonly isWide?: boolean
  readonly children: (close: () => void) => ReactNode
}

export function Dialog(props: DialogProps) {
  const { title, trigger, isOpen, onOpenChange, isDismissable = true, isWide = false, children } = props
  const overlay = (
    <ModalOverlay
      className="overlay"
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
      {...(trigger ? {} : { isOpen, onOpenChange })}
    >
      <Modal className={isWide ? 'modal wide' : 'modal'}>
        <AriaDialog className="dialog">
          {({ close }) => (
            <>
              <Heading slot="title">{title}</Heading>
              {children(close)}
            </>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
  if (!trigger) return overlay
  return (
    <DialogTrigger {...(isOpen === undefined ? {} : { isOpen })} onOpenChange={onOpenChange}>
      {trigger}
      {overlay}
    </DialogTrigger>
  )
}
