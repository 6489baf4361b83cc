import type { ApiRequest } from './call-api.ts'
import type { Session } from './session.ts'

export type Resource = Readonly<Record<string, unknown>>

export interface List {
  readonly data: readonly Resource[]
  readonly total: number
  readonly next_cursor: string | null
}

const MOST = 100

/** Every entry of a list, page after page; by cursor where the list gives one out. */
export async function wholeList(session: Session, request: ApiRequest): Promise<List> {
  const data: Resource[] = []
  let query: Record<string, string> = { ...request.query, limit: String(MOST) }
  for (let page = 1; ; page++) {
    const list = (await session.call({ ...request, query })).json as List
    data.push(...list.data)
    // With a cursor `total` may stop counting before the list ends.
    const ended = list.next_cursor === null && data.length >= list.total
    if (ended || list.data.length < MOST) return { ...list, data, next_cursor: null }
    query = { ...query, ...(list.next_cursor ? { cursor: list.next_cursor } : { page: String(page + 1) }) }
  }
}

export async function firstPage(session: Session, request: ApiRequest): Promise<List> {
  return (await session.call({ ...request, query: { ...request.query, limit: String(MOST) } })).json as List
}
