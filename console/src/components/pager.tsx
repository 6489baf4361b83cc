import { useSearchParams } from '../routing/search-params.ts'
import { Button } from './button.tsx'
import { countText } from './number-text.ts'

/** The paging of a list: by cursor where the list grows without bound, else by page. */
export interface Pages {
  readonly total?: number
  readonly next_cursor?: string | null
}

export const PAGE_SIZE = 25

/** Moves through a list; the position is in the URL, so going back in the browser works. */
export function Pager({ pages, shown }: { pages: Pages; shown: number }) {
  const [{ page = '1', cursor }, change] = useSearchParams()
  const current = Number(page)
  const total = pages.total ?? shown
  const hasMorePages = !pages.next_cursor && !cursor && current * PAGE_SIZE < total && shown === PAGE_SIZE
  const isFirst = current === 1 && !cursor
  if (isFirst && !pages.next_cursor && !hasMorePages)
    return (
      <p className="pager dim small">
        <span>{countText(total)} in all</span>
      </p>
    )
  const next = pages.next_cursor ? { cursor: pages.next_cursor } : { page: String(current + 1) }
  return (
    <nav className="pager" aria-label="Pages">
      <span className="dim small">{countText(total)} in all</span>
      <Button isDisabled={isFirst} onPress={() => change({ page: undefined, cursor: undefined })}>
        First
      </Button>
      <Button isDisabled={!pages.next_cursor && !hasMorePages} onPress={() => change(next)}>
        Next
      </Button>
    </nav>
  )
}
