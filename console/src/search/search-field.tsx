import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import type { Hit } from './recogniser.ts'
import { SearchResults } from './search-results.tsx'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** One field that takes anything. `/` or Ctrl-K opens it. */
export function SearchField({ projectId }: { projectId: string | undefined }) {
  const [isOpen, setOpen] = useState(false)
  const navigate = useNavigate()
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      const isShortcut = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k'
      if (!isShortcut && (event.key !== '/' || isTyping(event.target))) return
      event.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', open)
    return () => removeEventListener('keydown', open)
  }, [])

  function go({ link }: Hit) {
    setOpen(false)
    void navigate(link as never)
  }

  return (
    <>
      <div className="search-button">
        <Button onPress={() => setOpen(true)}>
          <Search size={14} aria-hidden />
          <span className="visually-hidden">Search</span>
          <span className="ellipsis">Paste an id, a token, a card, a name, an email, an address</span>
          <kbd aria-hidden>/</kbd>
        </Button>
      </div>
      <Dialog title="Search" isOpen={isOpen} onOpenChange={setOpen} isWide>
        {() => <SearchResults projectId={projectId} onChoose={go} />}
      </Dialog>
    </>
  )
}
