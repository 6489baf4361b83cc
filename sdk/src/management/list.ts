export interface Page<Item> {
  readonly data: readonly Item[]
  /** Number of all matching items. */
  readonly total: number
  /** Pass it to `page` for the next page; null on the last. */
  readonly next: string | null
}

export interface PageOptions {
  /** Items per page, at most 100. Default: 100. */
  readonly limit?: number
  readonly after?: string | null
}

/** A list. It can be iterated any number of times: `for await (const key of keys.list())`. */
export interface List<Item> extends AsyncIterable<Item> {
  page(options?: PageOptions): Promise<Page<Item>>
}

interface WirePage<Item> {
  readonly data: readonly Item[]
  readonly total: number
  readonly next_cursor?: string | null
}

/** How a list is paged: by cursor, by page number, or not at all. */
type Paging = 'cursor' | 'page' | 'none'

export const pagingOf = (query: readonly string[]): Paging =>
  query.includes('cursor') ? 'cursor' : query.includes('page') ? 'page' : 'none'

type ReadPage<Item> = (query: Record<string, string>) => Promise<WirePage<Item>>

const MAX_LIMIT = 100

export function createList<Item>(paging: Paging, read: ReadPage<Item>): List<Item> {
  async function page({ limit = MAX_LIMIT, after }: PageOptions = {}): Promise<Page<Item>> {
    const position: Record<string, string> = after ? { [paging]: after } : {}
    const query = paging === 'none' ? {} : { limit: String(limit), ...position }
    const { data, total, next_cursor } = await read(query)
    const number = Number(after ?? 1)
    const hasMore = paging === 'page' && number * limit < total
    return { data, total, next: hasMore ? String(number + 1) : (next_cursor ?? null) }
  }

  async function* pages(): AsyncGenerator<Page<Item>> {
    for (let next: string | null | undefined; next !== null; ) {
      const found: Page<Item> = await page({ ...(next && { after: next }) })
      yield found
      next = found.next
    }
  }

  /** Reads all pages first if they have numbers: the caller may change items, which would move the others between pages. */
  async function* items(): AsyncGenerator<Item> {
    const ahead: Item[] = []
    for await (const { data } of pages()) {
      if (paging === 'page') ahead.push(...data)
      else yield* data
    }
    yield* ahead
  }

  return { page, [Symbol.asyncIterator]: items }
}
