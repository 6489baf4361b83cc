import { type KeyboardEvent, type ReactNode, useId, useState } from 'react'

interface TabsProps {
  readonly label: string
  readonly tabs: readonly { readonly id: string; readonly title: string; readonly content: ReactNode }[]
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }

/** Alternatives of one thing, such as snippets for several tools. Not for pages: these have URLs. */
export function Tabs({ label, tabs }: TabsProps) {
  const prefix = useId()
  const [chosen, setChosen] = useState(tabs[0]?.id)
  const at = Math.max(
    0,
    tabs.findIndex(({ id }) => id === chosen),
  )
  const shown = tabs[at]

  function onKeyDown(event: KeyboardEvent) {
    const step = STEPS[event.key]
    const next = step && tabs[(at + step + tabs.length) % tabs.length]
    if (!next) return
    event.preventDefault()
    setChosen(next.id)
    document.getElementById(`${prefix}-${next.id}`)?.focus()
  }

  return (
    <div className="tabs">
      <div role="tablist" aria-label={label} className="tab-list" onKeyDown={onKeyDown}>
        {tabs.map(({ id, title }) => (
          <button
            key={id}
            id={`${prefix}-${id}`}
            type="button"
            role="tab"
            aria-selected={id === shown?.id}
            aria-controls={`${prefix}-panel`}
            tabIndex={id === shown?.id ? 0 : -1}
            onClick={() => setChosen(id)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${prefix}-panel`} aria-labelledby={`${prefix}-${shown?.id}`}>
        {shown?.content}
      </div>
    </div>
  )
}
