import { type KeyboardEvent, type ReactNode, type ToggleEvent, useId, useRef } from 'react'

export interface MenuItem {
  readonly id: string
  readonly title: ReactNode
  /** One of several choices: whether it is the present one. */
  readonly isChecked?: boolean
}

interface MenuButtonProps {
  /** Names the button for screen readers, if its content does not. */
  readonly label?: string
  readonly children: ReactNode
  /** Above the items. */
  readonly header?: ReactNode
  /** Groups of items, with a line between them. */
  readonly groups: readonly (readonly MenuItem[])[]
  readonly onAction: (id: string) => void
  readonly isDisabled?: boolean
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** Puts the menu below its button, within the window. */
function place(menu: HTMLElement, button: HTMLElement): void {
  const { left, bottom } = button.getBoundingClientRect()
  menu.style.insetBlockStart = `${bottom + 4}px`
  menu.style.insetInlineStart = `${Math.max(8, Math.min(left, innerWidth - menu.offsetWidth - 8))}px`
}

/**
 * A button that opens a menu. It uses the browser's own popover, which closes on Escape and on a click elsewhere, because a
 * menu of React Aria would add 25 KB to the page.
 */
export function MenuButton({ label, children, header, groups, onAction, isDisabled }: MenuButtonProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const items = () => [...menu.current!.querySelectorAll<HTMLElement>('[role^=menuitem]')]

  function onToggle({ newState }: ToggleEvent) {
    if (newState !== 'open') return
    place(menu.current!, button.current!)
    const checked = items().find((item) => item.ariaChecked === 'true')
    ;(checked ?? items()[0])?.focus()
  }

  function onKeyDown(event: KeyboardEvent) {
    const all = items()
    const step = STEPS[event.key]
    const at = all.indexOf(document.activeElement as HTMLElement)
    if (step) all[(at + step + all.length) % all.length]?.focus()
    else if (event.key === 'Home') all[0]?.focus()
    else if (event.key === 'End') all.at(-1)?.focus()
    else return
    event.preventDefault()
  }

  function choose(item: string) {
    menu.current!.hidePopover()
    onAction(item)
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className="button"
        aria-label={label}
        aria-haspopup="menu"
        popoverTarget={id}
        disabled={isDisabled}
      >
        {children}
      </button>
      <div ref={menu} id={id} popover="auto" className="menu" onToggle={onToggle}>
        {header && <p className="menu-header">{header}</p>}
        <div role="menu" tabIndex={-1} aria-label={label ?? 'Menu'} onKeyDown={onKeyDown}>
          {groups.map((group) => (
            <div key={group[0]?.id} role="none" className="menu-group">
              {group.map((item) => (
                <MenuChoice key={item.id} item={item} onChoose={() => choose(item.id)} />
              ))}
            </div>
          ))}
        </div>
      </div>
    </>
  )
}

const MenuChoice = ({ item: { title, isChecked }, onChoose }: { item: MenuItem; onChoose: () => void }) =>
  isChecked === undefined ? (
    <button type="button" role="menuitem" tabIndex={-1} onClick={onChoose}>
      {title}
    </button>
  ) : (
    <button type="button" role="menuitemradio" aria-checked={isChecked} tabIndex={-1} onClick={onChoose}>
      {title}
    </button>
  )
