import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useRole } from '../session/session.tsx'
import type { Hit } from './recogniser.ts'
import { FINDS, findAnything } from './recognisers.ts'

const TYPING_MS = 150

interface SearchResultsProps {
  readonly projectId: string | undefined
  readonly onChoose: (hit: Hit) => void
}

/** Undefined while nothing was typed or the search runs. */
function useHits(text: string, projectId: string | undefined): readonly Hit[] | undefined {
  const isAdmin = useRole().can('admin')
  const [hits, setHits] = useState<readonly Hit[]>()
  useEffect(() => {
    setHits(undefined)
    if (text === '') return
    const { signal, ...abort } = withAbort()
    const timer = setTimeout(async () => {
      const found = await findAnything(text, { projectId, isAdmin, signal })
      if (!signal.aborted) setHits(found)
    }, TYPING_MS)
    return () => {
      clearTimeout(timer)
      abort.now()
    }
  }, [text, projectId, isAdmin])
  return hits
}

function withAbort() {
  const controller = new AbortController()
  return { signal: controller.signal, now: () => controller.abort() }
}

export function SearchResults({ projectId, onChoose }: SearchResultsProps) {
  const id = useId()
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const hits = useHits(text.trim(), projectId)
  const shown = hits ?? []

  function onKeyDown(event: KeyboardEvent) {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const hit = shown[active]
    if (step !== 0 && shown.length > 0) setActive((active + step + shown.length) % shown.length)
    else if (event.key === 'Enter' && hit) onChoose(hit)
    else return
    event.preventDefault()
  }

  return (
    <div className="search stack tight">
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog exists for this field
        autoFocus
        role="combobox"
        aria-label="Anything"
        aria-expanded={shown.length > 0}
        aria-controls={id}
        aria-activedescendant={shown.length > 0 ? `${id}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={id} role="listbox" aria-label="Found">
        {shown.map((hit, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
          <div
            key={`${hit.title} ${hit.detail} ${hit.link.to}`}
            id={`${id}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === active}
            onClick={() => onChoose(hit)}
          >
            <span>{hit.title}</span>
            {hit.detail && <span className="dim small">{hit.detail}</span>}
          </div>
        ))}
      </div>
      <p className="dim small" role="status">
        {hits && shown.length === 0 ? 'Nothing was found. ' : ''}
        Finds: {FINDS.join(', ')}.
      </p>
    </div>
  )
}
